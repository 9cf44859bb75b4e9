"""Encoded keys as Kudu writes them, in batches, and hashes of them. Uses `types`."""
