"""Jobs on Spark: load, export, backup, restore, changes.

Each is one function that a subcommand of the shell calls. Uses `dbapi` and `spark`.
"""
