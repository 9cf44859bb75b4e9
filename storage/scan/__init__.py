"""Scans of a table: rowsets side by side, in key order, as tokens, or from metadata.

Uses `ingest` for the blocks of a table, and `tablet`.
"""
