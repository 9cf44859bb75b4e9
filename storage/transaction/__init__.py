"""A snapshot, uncommitted writes, look-ups, and savepoints. Uses `commit`, `scan` and `ingest`."""
