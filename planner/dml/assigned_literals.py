"""Numbers that a statement writes into DECIMAL columns, with all the digits that are written.

Followed are columns of derived tables, of WITH and of set operations, and the values of CASE and
its kind, to the numbers that they show. What is computed from a number that the engine reads as a
double would be rounded, and is refused.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import columns_of
from pykudu_sql.planner.bind.relations import Projections
from pykudu_sql.planner.functions.exact_literals import is_long
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of, walk_once
from pykudu_sql.planner.types.origins import alternatives, origins, projections_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import ValueOutOfRangeError

_PLACE = "pykudu_long_literal"  # in the meta of a literal and its copies: which one it is
_KEEPING = (
    *(exp.Paren, exp.Alias, exp.Neg, exp.Filter, exp.Window, exp.IgnoreNulls, exp.Order),
    *(exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue),
)  # whose value is one of those of what they are about
_OTHERWISE = (exp.Cast, exp.Predicate, exp.Connector)  # they say of what type it is


def type_assigned_literals(
    tree: exp.Expr, columns: Sequence[ColumnSchema | None], context: PlanContext
) -> None:
    """Cast numbers of more digits than the engine's types have to the columns that they fill.

    The engine would take them for doubles. The tree is changed in place; it is bound for this only
    if it has such a number. `tree`: of a query whose columns fill others, in their order; None is
    no column. Raises ValueOutOfRangeError: what fills a DECIMAL is computed from such a number.
    """
    literals = [node for node in nodes_of(tree, exp.Literal) if is_long(node)]
    if not literals:
        return
    for number, literal in enumerate(literals):
        literal.meta[_PLACE] = number
    probe = tree.copy()
    bind(probe, context)
    scales: dict[int, int] = {}
    for projections, column in zip(_filling(probe), columns, strict=False):
        if column is not None and column.type.kind is Kind.DECIMAL:
            for literal in _literals(projections, column, []):
                number = literal.meta[_PLACE]
                scales[number] = max(scales.get(number, 0), column.type.scale)
    for number, scale in scales.items():
        _write(literals[number], scale)


def type_assigned_constant(node: exp.Expr, column: ColumnSchema) -> None:
    """The same for an expression without columns and queries that fills a column.

    A number alone stays. Raises ValueOutOfRangeError: it is computed from such a number.
    """
    if column.type.kind is Kind.DECIMAL and node.find(exp.Query) is None:
        for literal in list(_literals((node,), column, [])):
            if literal is not node:
                _write(literal, column.type.scale)


def written_single(node: exp.Expr, column_type: DataType) -> exp.Expr:
    """An expression that fills a column; what is cast to FLOAT as a text where it is written down.

    Python has no numbers of 32 bits: as one of 64 bits 2.675 would be 2.674999952316284, and fill
    columns of texts and decimals with that, where a query writes 2.675.
    """
    cast = node.unnest()
    is_single = isinstance(cast, exp.Cast) and cast.to.this is exp.DType.FLOAT
    is_written = column_type.is_text or column_type.kind is Kind.DECIMAL
    return exp.cast(node, exp.DType.TEXT) if is_single and is_written else node


def _write(literal: exp.Literal, scale: int) -> None:
    literal.replace(exp.cast(exp.Literal.string(str(literal.this)), f"DECIMAL(38, {scale})"))


def _filling(tree: exp.Expr) -> Iterator[Projections]:
    """What the columns of a bound query show."""
    if isinstance(tree, exp.Values):
        rows = [
            each.expressions if isinstance(each, exp.Tuple) else [each] for each in tree.expressions
        ]
        yield from zip(*rows, strict=False)
        return
    for column in columns_of(tree):
        yield column.projections


def _literals(
    projections: Projections, column: ColumnSchema, visited: list[exp.Expr]
) -> Iterator[exp.Literal]:
    """The numbers too long for the engine that something shows, in whatever subquery.

    `visited`: what has been followed. Raises ValueOutOfRangeError: something computed is shown.
    """
    pending = [each for each in origins(projections) if isinstance(each, exp.Expr)]
    while pending:
        value = pending.pop()
        while isinstance(value, _KEEPING):
            value = value.this
        if any(value is each for each in visited):
            continue
        visited.append(value)
        if isinstance(value, exp.Literal):
            if is_long(value):
                yield value
        elif isinstance(value, exp.Column | exp.Query):
            pending.extend(_followed(value))
        elif one_of := alternatives(value):
            pending.extend(one_of)
        elif not isinstance(value, exp.Cast):
            _refuse_computed(value, column)


def _followed(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a column, or the first column of a query, shows."""
    columns = columns_of(node)[:1] if isinstance(node, exp.Query) else []
    for projections in [each.projections for each in columns] or [projections_of(node)]:
        yield from (each for each in origins(projections) if isinstance(each, exp.Expr))


def _refuse_computed(value: exp.Expr, column: ColumnSchema) -> None:
    """See that a value is computed from no number that the engine reads as a double."""
    for node in walk_once(value, _operands):
        if is_long(node):
            raise ValueOutOfRangeError(
                f"column '{column.name}' of type {column.type} is computed from {node.this}, "
                "which has more digits than a DECIMAL",
                hint="CAST the number, as CAST(x AS DECIMAL(38,20)), or to DOUBLE",
                span=node_span(node),
            )


def _operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """What the digits of a value come from."""
    if isinstance(node, exp.Column | exp.Query):
        yield from _followed(node)
    elif not isinstance(node, _OTHERWISE):
        yield from node.iter_expressions()
