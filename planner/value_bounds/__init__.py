"""Limits of the size of values that calls make, and the guards that enforce them.

Rules by function, measured in the statement's text or row by row. Uses the vocabulary alone.
"""
