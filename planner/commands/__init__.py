"""Statements that are a few words: SET, SHOW, FLUSH, PRAGMA, transactions.

Read from the token stream. Uses `ddl` and `query`.
"""
