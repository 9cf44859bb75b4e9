"""One tablet: MVCC, MemRowSet, DiskRowSets, deltas, flush, scan."""
