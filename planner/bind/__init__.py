"""The binder: names to columns, constants to values.

The bindings stand beside the tree in a bound query. Uses `printing`, `functions` and `parse`.
"""
