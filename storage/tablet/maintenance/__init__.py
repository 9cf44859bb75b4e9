"""Flush, delta compactions, merging compaction, and collection of history.

Each is a function of a tablet that ends in one swap. Uses `history`, `files`, `rowset`
and `delta`.
"""
