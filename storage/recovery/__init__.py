"""Opening: the logs, the state they fold to, a reader's view, files that nothing names.

Uses `log`, `catalog` and `tablet`.
"""
