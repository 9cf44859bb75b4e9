"""Arrow values of users and engines as the types of columns: the crossing of batches.

What becomes of a value is said by `types/cells`; arrays are converted at once, and alike.
"""
