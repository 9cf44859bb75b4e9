"""A bound tree as SQL for the engine, built of closed lists, and the check of what was printed.

The only way by which text reaches an engine. Uses `functions` and `parse`.
"""
