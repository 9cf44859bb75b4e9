"""Files of rows: CSV, JSON, Parquet, ORC and Arrow, read and written in this process.

Knows values and files, no statements: which files a program permits (`file_access`), how they are
read (`reading`) and written (`writing`).
"""
