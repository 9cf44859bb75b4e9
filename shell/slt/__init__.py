"""sqllogictest: scripts of SQL with their expected results, run against any DB-API database.

`parser` reads a script into `records`, `runner` runs them through `database`, `states` says what
happens between two statements, `override` writes results back, `report` prints the outcome.
"""
