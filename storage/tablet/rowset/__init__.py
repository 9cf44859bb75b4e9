"""MemRowSet and DiskRowSet, the tree of them, and finding rows in it.

Frozen state that is swapped whole; only memory stores grow. Uses `delta`.
"""
