"""Words that sqlglot's tree keeps as texts, each normalized to one of a closed list, or refused.

A table for clauses, for expressions and for units of time; `normalizers` is all of them.
"""
