"""Columns between Arrow, Spark and the storage: types and conversions.

Pure functions of types and batches.
"""
