"""What functions mean: which may be called, and what compatibility functions become.

Rules from tree to tree that make the engine's calls of Impala's and SQLite's. Uses `parse`.
"""
