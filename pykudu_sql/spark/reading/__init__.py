"""Reading by Spark: what to read, in which shares, and the snapshot kept for it meanwhile.

Tasks read immutable files themselves. Uses `arrow` and `sessions`.
"""
