"""The commit lock and what happens under it: commits, definitions, history and its end.

Uses `recovery` for manifest and log, `catalog` and `tablet`.
"""
