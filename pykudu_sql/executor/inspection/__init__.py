"""Statements that describe the database: SHOW, DESCRIBE, EXPLAIN, PRAGMA.

Uses `reading` for plans and scans.
"""
