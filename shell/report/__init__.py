"""A database as one page of HTML: what `pykudu-sql inspect --html` writes.

Facts are read through the face (`facts`); the rest is pure functions of them.
"""
