"""Jobs: load, export, changes, backup, restore.

Each is one function that a subcommand of the shell calls. It runs in this process or on Spark
(`engine_choice`). Uses `dbapi` and `spark`.
"""
