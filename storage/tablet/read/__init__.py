"""Rows of many rowsets in key order, all versions of rows, a tablet in words.

Uses `maintenance` for slices of keys, `rowset` and `delta`.
"""
