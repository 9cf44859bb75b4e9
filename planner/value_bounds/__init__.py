"""How large the values that a call makes may become, and the guards that see to it.

Rules by function, measured in the statement's text or row by row. Uses the vocabulary alone.
"""
