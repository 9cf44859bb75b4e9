"""The closed lists of the dialect: functions with their arities, units of time, types.

Pure tables and look-ups of them; every other room of the planner may read them, and they read
none.
"""
