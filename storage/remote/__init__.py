"""Reading and writing by other processes: scan plans, staged commits, system tables.

Above the store; Spark's door to it.
"""
