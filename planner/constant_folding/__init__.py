"""Expressions that need no row, as values: constants of predicates, and moments of `AS OF`.

What is no literal is computed by the engine once, while the statement is planned. Uses `printing`
and `functions`.
"""
