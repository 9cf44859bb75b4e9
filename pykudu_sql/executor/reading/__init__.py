"""Queries: their scans as relations, and the engine that answers the rest.

Rows by key take no engine. Uses the session's state.
"""
