"""Changes: rows of INSERT, UPDATE, DELETE, MERGE and appended batches into a transaction.

Uses `reading` for the queries that statements hold.
"""
