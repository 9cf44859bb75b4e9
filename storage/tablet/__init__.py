"""F3, one tablet: MVCC, MemRowSet, DiskRowSets, deltas, flush, scan."""
