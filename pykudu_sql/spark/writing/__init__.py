"""Writing by Spark: tasks stage files, the driver commits them at once.

Uses `arrow` and `reading`.
"""
