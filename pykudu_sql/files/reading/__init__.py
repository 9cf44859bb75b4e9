"""Files as batches of rows with their places: CSV, JSON, Parquet, ORC and Arrow.

Uses the formats and the files that a session may read; knows nothing of how files are written.
"""
