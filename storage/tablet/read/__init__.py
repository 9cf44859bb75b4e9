"""Rows of many rowsets in key order, and all versions of rows.

Uses `maintenance` for slices of keys, `rowset` and `delta`.
"""
