"""Lines that show one thing: a plan, rowsets, changes of rows, where a key lies.

Pure functions. Uses `display`, `spans` and `wrapping` of `output`.
"""
