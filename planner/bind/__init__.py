"""The binder: names to columns.

The bindings stand beside the tree in a bound query. Uses `constant_folding`,
`functions` and `parse`.
"""
