"""SELECT and what is planned as one: scans and the residual query.

Binds, pushes down, rewrites and prints, in this order. Uses `pushdown`, `type_coercion` and
`bind`.
"""
