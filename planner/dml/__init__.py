"""INSERT, UPDATE, DELETE, MERGE, ON CONFLICT and RETURNING.

Rows straight from text where they are plain, else a query of changes. Uses `query`.
"""
