"""Statements that tell about the database: SHOW, DESCRIBE, EXPLAIN, PRAGMA.

Uses `reading` for plans and scans.
"""
