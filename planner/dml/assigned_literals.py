"""Numbers that a query writes into DECIMAL columns, with all the digits that are written."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.functions.exact_literals import is_long
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind


def type_assigned_literals(tree: exp.Expr, columns: Sequence[ColumnSchema]) -> None:
    """Cast numbers of more digits than the engine's types have to the columns that they fill.

    The engine would take them for doubles. The tree is changed in place. `tree`: of a query whose
    columns fill others, in their order.
    """
    for row in list(_rows(tree)):
        for item, column in zip(row, columns, strict=False):
            if item.is_star or isinstance(item, exp.Columns):
                break
            value = item
            while isinstance(value, exp.Paren | exp.Alias | exp.Neg):
                value = value.this
            if column.type.kind is Kind.DECIMAL and is_long(value):
                text = exp.Literal.string(str(value.this))
                value.replace(exp.cast(text, f"DECIMAL(38, {column.type.scale})"))


def _rows(tree: exp.Expr) -> Iterator[Sequence[exp.Expr]]:
    """The values of the rows that a query lists: of each SELECT that gives it rows, or VALUES."""
    match tree:
        case exp.SetOperation() if not tree.args.get("by_name"):
            yield from _rows(tree.left)
            yield from _rows(tree.right)
        case exp.Subquery():
            yield from _rows(tree.this)
        case exp.Select():
            yield tree.expressions
        case exp.Values():
            for row in tree.expressions:
                yield row.expressions if isinstance(row, exp.Tuple) else [row]
