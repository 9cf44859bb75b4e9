"""Files written from batches of rows, one or a folder of them, by kernels over whole columns.

Uses the formats and Hive's paths; knows nothing of how files are read.
"""
