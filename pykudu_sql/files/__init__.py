"""Files of rows: CSV, JSON, Parquet, ORC and Arrow, read and written in this process.

Knows values and files, no statements: where a program permits files (`file_access`), how they are
read (`csv_rows`, `json_rows`, `column_rows`) and written (`row_writers`).
"""
