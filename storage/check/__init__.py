"""Checking a database: every checksum and every invariant, changing nothing."""
