"""Spark as a query engine: the same plan, run on its executors. Uses `reading` and `arrow`."""
