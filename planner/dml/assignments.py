"""`column = value` of UPDATE, MERGE and ON CONFLICT: which columns may be set, and to what.

A constant value becomes a cell of its column at once, so that it is checked
before anything runs and reaches the engine with the column's type.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import note_receiver
from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.target import cell_literal
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, constant
from pykudu_sql.planner.constant_folding.moment import fold_current
from pykudu_sql.planner.dml.assigned_literals import type_assigned_constant, written_single
from pykudu_sql.planner.dml.default_values import (
    cell_of_default,
    default_node,
    is_default,
    is_drawn,
)
from pykudu_sql.planner.functions.functions import gathers_rows
from pykudu_sql.planner.operands.value import Parameter, Value
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.star_syntax import check_inner_star
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    DataError,
    ImmutableColumnError,
    NotNullError,
    NotSupportedError,
    ProgrammingError,
    SyntaxError,
)

_ROW, _COLUMN = "__row", "__set"  # a query of several columns that are set


@dataclass(frozen=True, slots=True)
class Assignment:
    """A column and its value; a constant one is kept beside its node."""

    column: ColumnSchema
    node: exp.Expr
    is_constant: bool
    value: Value = None

    def as_node(self) -> exp.Expr:
        """The value for a SELECT list: a constant cell typed as its column."""
        if not self.is_constant or isinstance(self.value, Parameter):
            return self.node
        return cell_literal(self.value, self.column)


def read_assignments(
    nodes: Sequence[exp.Expr],
    table: TableInfo,
    name: CorrelationName,
    kind: RowOpKind,
    context: PlanContext,
) -> list[Assignment]:
    """The assignments of a SET clause.

    Args:
        nodes: of the parser.
        name: what the statement calls it.
        kind: UPDATE, or UPDATE_IGNORE, which may name immutable columns.

    Raises UndefinedColumnError: there is no such column, or it is another table's;
    ProgrammingError: a column of the key is set, or one column twice; ImmutableColumnError: an
    immutable column is set; DataError, NotNullError: a known value does not fit; NotSupportedError:
    an item is no assignment.
    """
    assignments: list[Assignment] = []
    for node in nodes:
        for target, value in _pairs(node):
            name.check_owns(target, "SET changes")
            column = _assigned_column(target, table, kind)
            if any(column is other.column for other in assignments):
                raise ProgrammingError(
                    f"column '{column.name}' is assigned twice",
                    span=node_span(target),
                    sqlstate="42701",
                )
            assignments.append(assigned_value(column, value, context))
    return assignments


def _pairs(node: exp.Expr) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """The single assignments of an item, which may be `(a, b) = (1, 2)`."""
    if isinstance(node, exp.EQ):
        targets, value = _items(node.this), node.expression
        values = [value] if len(targets) == 1 else _columns_of(value) or _items(value)
        if len(targets) == len(values) and all(isinstance(t, exp.Column) for t in targets):
            yield from zip(targets, values, strict=True)
            return
        if len(targets) > 1 and all(isinstance(t, exp.Column) for t in targets):
            raise _uneven(len(targets), value)
    raise NotSupportedError("SET takes column = value, separated by commas", span=node_span(node))


def _uneven(columns: int, value: exp.Expr) -> SyntaxError:
    """The error of `(a, b) = ..` with another number of values."""
    span = node_span(value)
    columns_of_query = _columns_of(value)
    if isinstance(value, exp.Subquery) and not columns_of_query:
        return SyntaxError(
            f"SET assigns {columns} columns by a query that does not name its columns",
            hint="name them: SET (a, b) = (SELECT x, y FROM ..)",
            span=span,
        )
    count = noun_count(len(columns_of_query or _items(value)), "value")
    return SyntaxError(f"SET assigns {columns} columns and gives them {count}", span=span)


def _columns_of(node: exp.Expr) -> list[exp.Expr]:
    """`(SELECT x, y ...)` as a subquery for each of its columns; nothing if it is none."""
    query = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(query, exp.Select) or query.is_star:
        return []
    names = [exp.to_identifier(f"{_COLUMN}{place}") for place in range(len(query.expressions))]
    columns: list[exp.Expr] = []
    for name in names:
        whole = node.copy()
        whole.set("alias", exp.TableAlias(this=exp.to_identifier(_ROW), columns=names))
        one = exp.Select(expressions=[exp.column(name.copy())], from_=exp.From(this=whole))
        columns.append(exp.Subquery(this=one))
    return columns


def _items(node: exp.Expr) -> list[exp.Expr]:
    """What a row holds, `(a, b)` or `ROW(a, b)`; a single value otherwise."""
    if isinstance(node, exp.Paren):
        return [node.this]
    is_row = isinstance(node, exp.Anonymous) and node.name.upper() == "ROW"
    return list(node.expressions) if is_row or isinstance(node, exp.Tuple) else [node]


def _assigned_column(node: exp.Column, table: TableInfo, kind: RowOpKind) -> ColumnSchema:
    name = node.name.lower()
    column = table.schema.by_name.get(name)
    if column is None:
        names = [c.name for c in table.schema.visible_columns]
        raise undefined_column(name, names, node_span(node.this))
    if column.id in table.schema.key_ids:
        raise ProgrammingError(
            f"key column '{name}' of table '{table.name}' cannot be updated",
            hint="DELETE the row and INSERT it with the new key",
            span=node_span(node.this),
            sqlstate="42P16",
        )
    if column.immutable and not kind.ignores:
        raise ImmutableColumnError(
            f"UPDATE not allowed for immutable column '{name}' of table '{table.name}'",
            hint="UPDATE IGNORE leaves such columns alone",
            span=node_span(node.this),
        )
    return column


def assigned_value(column: ColumnSchema, node: exp.Expr, context: PlanContext) -> Assignment:
    """A column's new value.

    Raises DataError: a known value does not fit the column; NotNullError: NULL for a NOT NULL
    column; ProgrammingError: the value is an aggregate; SyntaxError: it is a `*`.
    """
    if isinstance(node, exp.Star | exp.Column) and node.is_star:
        check_inner_star(node)
    if is_default(node):
        if is_drawn(column):
            return Assignment(column, default_node(column, context), False)
        return Assignment(column, node, True, cell_of_default(column, context))
    if gathers_rows(node):
        raise ProgrammingError(
            f"column '{column.name}' cannot be set to an aggregate, which has many rows",
            hint="write it as a query: (SELECT sum(x) FROM t)",
            span=node_span(node),
            sqlstate="42803",
        )
    if node.find(exp.Column) is not None:
        return Assignment(column, node, False)
    type_assigned_constant(node, column)
    single = written_single(node.copy(), column.type)
    value = constant(fold_current(single, context), context)
    if isinstance(value, Hole):
        parameter = Parameter(value.key, column.type, column.name)
        for placeholder in nodes_of(node, exp.Placeholder):
            note_receiver(placeholder, parameter)
        return Assignment(column, node, True, parameter)
    if not isinstance(value, Constant):
        return Assignment(column, node, False)
    try:
        cell = to_cell(value.value, column.type)
    except DataError as error:
        raise type(error)(
            f"column '{column.name}': {error.message}",
            hint=error.hint,
            span=node_span(node),
            sqlstate=error.sqlstate,
        ) from error
    if cell is None and not column.nullable:
        raise NotNullError(
            f"NULL values not allowed for non-nullable column '{column.name}'",
            hint="give a value, or write DEFAULT if the column has one",
            span=node_span(node),
        )
    return Assignment(column, node, True, cell)
