"""Rows with all their versions in passing, and histories turned around.

What flushes and compactions carry over. Uses `delta`.
"""
