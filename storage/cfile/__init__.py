"""F2, one column on disk: encodings, compression, indexes, checksums."""
