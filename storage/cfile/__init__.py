"""One column on disk: encodings, compression, checksums, zone maps, indexes, block cache."""
