"""Positions in a statement of errors that the engine finds: of values, operations, groups, clauses.

Reads the statement and the message, and nothing that planning has learnt. Uses `parse`.
"""
