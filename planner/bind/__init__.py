"""Names to columns: every column of a tree finds its table, every constant its value.

What is learnt stands beside the tree in a bound query. Uses `printing`, `functions` and `parse`.
"""
