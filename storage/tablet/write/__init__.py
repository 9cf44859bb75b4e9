"""Uncommitted writes of one tablet: by key, by address, and their check at commit.

Uses `files`, `rowset`, `delta` and the tablet.
"""
