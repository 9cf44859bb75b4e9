"""Commits, definitions and purging of history: all that runs under the commit lock.

Uses `recovery` for manifest and log, `catalog` and `tablet`.
"""
