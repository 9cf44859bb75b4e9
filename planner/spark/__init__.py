"""The residual query in Spark's SQL, or the reason why it has none.

A handler for each kind of node that was tested on both engines. Uses `printing` and `functions`.
"""
