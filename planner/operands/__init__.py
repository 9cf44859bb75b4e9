"""Operands: constants and parameters of a plan, and the scan predicates made of them.

A literal becomes a cell when the statement is planned, a parameter when it runs, by one rule for
both. Knows storage's types and predicates, and no parser.
"""
