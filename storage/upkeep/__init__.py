"""Maintenance on demand, and what lies where: introspection and counters.

Uses `maintenance`, `commit` and `tablet`.
"""
