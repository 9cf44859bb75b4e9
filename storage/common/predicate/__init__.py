"""Predicates of columns: their domains, their evaluation, what statistics say of them.

Uses `keys` and `types`.
"""
