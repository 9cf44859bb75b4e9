"""Definitions: tables, partitions, indexes, views, databases, snapshots.

Every step is tried against the catalog, so errors carry a place. Uses `ddl_grammar` and `query`.
"""
