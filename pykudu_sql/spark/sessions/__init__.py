"""Spark's session: finding Java, starting one, taking the one that runs.

Uses the settings alone.
"""
