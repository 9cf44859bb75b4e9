"""The recursive-descent parser of definitions and the frozen nodes that it makes.

The nodes print themselves back as SQL. Uses the token stream of `parse`.
"""
