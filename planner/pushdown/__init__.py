"""Conditions, limits and keys of a query that become those of scans.

Each reads a bound query and says what a scan may leave out. Uses `bind`.
"""
