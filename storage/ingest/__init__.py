"""Rows to tablets: routing by partition, bulk rowsets, hidden counters, staged files.

Everything that enters in batches goes through here. Uses `catalog` and `tablet`.
"""
