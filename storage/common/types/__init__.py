"""Types, schemas, cells, arrays and times: the values that everything else is made of.

Uses nothing of the storage but its errors.
"""
