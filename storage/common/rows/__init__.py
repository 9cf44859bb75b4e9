"""Operations on rows and what became of each.

Uses `types`.
"""
