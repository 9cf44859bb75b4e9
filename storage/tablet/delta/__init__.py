"""Changes of flushed rows: in memory, in files, in order, and their combined effect.

Kudu's DeltaStore, DeltaMemStore, DeltaFile, DeltaTracker and DeltaApplier.
"""
