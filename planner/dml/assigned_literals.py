"""Numbers that a query writes into DECIMAL columns, with all the digits that are written.

Followed are columns of derived tables, of WITH and of set operations to the numbers that they show.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import columns_of
from pykudu_sql.planner.bind.relations import Shown
from pykudu_sql.planner.functions.exact_literals import is_long
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.types.origins import origins, shown_by
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind

_PLACE = "pykudu_long_literal"  # in the meta of a literal and its copies: which one it is


def type_assigned_literals(
    tree: exp.Expr, columns: Sequence[ColumnSchema], context: PlanContext
) -> None:
    """Cast numbers of more digits than the engine's types have to the columns that they fill.

    The engine would take them for doubles. The tree is changed in place; it is bound for this only
    if it has such a number. `tree`: of a query whose columns fill others, in their order.
    """
    literals = [node for node in tree.find_all(exp.Literal) if is_long(node)]
    if not literals:
        return
    for place, literal in enumerate(literals):
        literal.meta[_PLACE] = place
    probe = tree.copy()
    bind(probe, context)
    scales: dict[int, int] = {}
    for shown, column in zip(_filling(probe), columns, strict=False):
        for literal in _literals(shown) if column.type.kind is Kind.DECIMAL else ():
            place = literal.meta[_PLACE]
            scales[place] = max(scales.get(place, 0), column.type.scale)
    for place, scale in scales.items():
        text = exp.Literal.string(str(literals[place].this))
        literals[place].replace(exp.cast(text, f"DECIMAL(38, {scale})"))


def _filling(tree: exp.Expr) -> Iterator[Shown]:
    """What the columns of a bound query show."""
    if isinstance(tree, exp.Values):
        rows = [
            each.expressions if isinstance(each, exp.Tuple) else [each] for each in tree.expressions
        ]
        yield from zip(*rows, strict=False)
        return
    for column in columns_of(tree):
        yield column.shown


def _literals(shown: Shown) -> Iterator[exp.Literal]:
    """The numbers too long for the engine that something shows, in whatever subquery."""
    for value in origins(shown):
        while isinstance(value, exp.Paren | exp.Alias | exp.Neg):
            value = value.this
        if isinstance(value, exp.Literal) and is_long(value):
            yield value
        elif isinstance(value, exp.Column):
            yield from _literals(shown_by(value))
        elif isinstance(value, exp.Query):
            for column in columns_of(value)[:1]:
                yield from _literals(column.shown)
