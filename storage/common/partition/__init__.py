"""Hash and range partitions: to which tablet a row goes, and which a scan can leave out.

Uses `predicate`, `keys` and `types`.
"""
