"""Columns of which an expression asks only whether they are NULL."""

from sqlglot import exp


def is_null_tested(column: exp.Column) -> bool:
    """Whether what is around a column depends on nothing but whether it is NULL.

    So do `count(c)`, `c IS NULL` and `c IS NOT NULL`; `count(DISTINCT c)` does not.
    """
    around = column.parent
    match around:
        case exp.Count():
            return around.this is column and not around.expressions
        case exp.Is():
            return around.this is column and isinstance(around.expression, exp.Null)
    return False
