"""Plans and their parts as text for people and programs: EXPLAIN, SHOW CREATE TABLE.

Pure functions of plans. Uses `plan` and `parse`.
"""
