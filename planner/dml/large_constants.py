"""Long texts and bytes that all rows of a statement get alike, which stand beside its query.

An engine would make a copy of them for each row of a vector, whatever the rows have. So they are no
column of the query, and are put to its rows by chunks when these are written.
"""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.constant_folding.constant import Hole, constant
from pykudu_sql.planner.constant_folding.moment import fold_current
from pykudu_sql.planner.operands.value import Parameter, Value
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.common.row_allowance import LEAST_WIDE_BYTES
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError

_OF_ROWS = (exp.Column, exp.Query, exp.Star, exp.AggFunc, exp.Window)


def is_large(value: Value, column: ColumnSchema) -> bool:
    """Whether copies of what a column gets may take much: a long text, or one not known yet."""
    if not column.type.is_variable:
        return False
    is_long = isinstance(value, str | bytes) and len(value) >= LEAST_WIDE_BYTES
    return is_long or isinstance(value, Parameter)


def take_large(
    tree: exp.Expr, columns: Sequence[ColumnSchema], context: PlanContext
) -> tuple[tuple[int, Value], ...]:
    """Those of the columns that a query gives such values, with them; it gives NULL there instead.

    `tree`: a query whose columns fill others, in their order; it is changed in place. Only a SELECT
    has any. What does not fit its column stays.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return ()
    items = tree.expressions
    stars = [place for place, item in enumerate(items) if item.is_star]
    if len(stars) > 1 or len(items) - len(stars) > len(columns):
        return ()
    before = stars[0] if stars else len(items)
    behind = len(columns) - len(items)  # of a place behind the star, to that of its column
    large: list[tuple[int, Value]] = []
    for place, item in enumerate(items):
        at = place if place < before else place + behind
        if place in stars or at >= len(columns) or _is_referred_to(item, tree):
            continue
        value = _value(item.unalias(), columns[at], context)
        if is_large(value, columns[at]):
            large.append((columns[at].id, value))
            empty = exp.null()
            item.replace(exp.alias_(empty, item.args["alias"]) if item.alias else empty)
    return tuple(large)


def _is_referred_to(item: exp.Expr, tree: exp.Select) -> bool:
    """Whether something of a query may mean an item of its list by the item's name."""
    name = item.alias.lower()
    return bool(name) and any(
        not column.table and column.name.lower() == name for column in nodes_of(tree, exp.Column)
    )


def _value(node: exp.Expr, column: ColumnSchema, context: PlanContext) -> Value:
    """The cell or parameter that an expression is for all rows; None if it is none, or NULL."""
    if not column.type.is_variable or node.find(*_OF_ROWS) is not None:
        return None
    if isinstance(node, exp.Literal) and len(node.this) < LEAST_WIDE_BYTES:
        return None
    value = constant(fold_current(node.copy(), context), context)
    if isinstance(value, Hole):
        return Parameter(value.key, column.type, column.name)
    try:
        return None if value is None else to_cell(value.value, column.type)
    except DataError:
        return None
