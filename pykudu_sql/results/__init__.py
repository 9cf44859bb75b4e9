"""The result of a statement: its rows whole or as a stream, with the types of its columns.

Values only; the session makes them, the DB-API and the shell read them. Uses `engine` for batches.
"""
