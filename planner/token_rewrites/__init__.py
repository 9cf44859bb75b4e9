"""Rewrites of sqlglot's tokens before its parser reads them: calls, intervals, types, versions.

What Impala, Kudu and SQLite write otherwise than sqlglot reads it. Uses the vocabulary alone.
"""
