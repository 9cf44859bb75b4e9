"""Changes of flushed rows: in memory, in files, in order, and what they come to.

Kudu's DeltaStore, DeltaMemStore, DeltaFile, DeltaTracker and DeltaApplier.
"""
