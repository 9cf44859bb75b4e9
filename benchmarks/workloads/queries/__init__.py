"""Queries over many rows, on our engine, on Spark, and their planning."""
