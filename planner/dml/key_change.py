"""INSERT, UPDATE and DELETE of one row by its key, as far as they need no engine.

Where only constants and parameters are set, the store does it without reading the row; else the
row is read, and what is set, asked or shown is worked out on its cells.
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.constant_folding.constant import Constant, Hole, constant
from pykudu_sql.planner.dml.assignments import Assignment
from pykudu_sql.planner.dml.insert_tail import EXCLUDED_NAME
from pykudu_sql.planner.dml.row_expressions import (
    BoundRow,
    RowSource,
    row_comparisons,
    row_expression,
)
from pykudu_sql.planner.functions.output_names import output_name
from pykudu_sql.planner.operands.row_expression import (
    ParameterCell,
    ProposedCell,
    RowExpression,
    nodes,
)
from pykudu_sql.planner.operands.value import ParameterKey, Value
from pykudu_sql.planner.plan.change_plans import ConflictInsert, InsertReturning
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyDelete, KeyUpdate, Plan
from pykudu_sql.planner.plan.write_plans import (
    InsertQuery,
    InsertValues,
    KeyChange,
    KeyConflict,
    KeyInsert,
)
from pykudu_sql.planner.pushdown.condition import ConditionReader, conjuncts
from pykudu_sql.planner.pushdown.key_access import SingleRow, parameters_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema

Outputs = tuple[tuple[str, int], ...]


def key_update(
    row: SingleRow,
    assignments: Sequence[Assignment],
    values: Mapping[int, exp.Expr],
    bound: BoundQuery,
    context: PlanContext,
    general: Callable[[], Plan],
    returned: Outputs | None,
) -> KeyUpdate | KeyChange | None:
    """The UPDATE of a row; None where only the engine can compute what is set.

    Args:
        row: the row.
        assignments: what is set; of nothing, the statement is left to the engine.
        values: those in the query, by column id.
        bound: the statement's query, over the table alone.
        general: plans the same as a query.
        returned: what RETURNING shows; None without it.
    """
    row_of_table = BoundRow(ConditionReader(bound, context))
    computed = _computed(assignments, values, row_of_table)
    if computed is None or not assignments:
        return None
    set_to = _constants(assignments)
    table, cacheable = bound.references[0].table, not bound.volatile
    keys = _in_order(row, [value for _, value in set_to], [value for _, value in computed])
    if not computed and row.condition is None and returned is None:
        return KeyUpdate(table, row.key, set_to, general, keys, cacheable)
    if context.settings.collects_row_errors:
        return None
    return KeyChange(
        table,
        RowOpKind.UPDATE_IGNORE,
        row.key,
        general,
        set_to,
        computed,
        row.condition,
        returned,
        keys,
        cacheable,
    )


def key_delete(
    row: SingleRow,
    bound: BoundQuery,
    context: PlanContext,
    general: Callable[[], Plan],
    returned: Outputs | None,
) -> KeyDelete | KeyChange | None:
    """The DELETE of a row; see `key_update`."""
    table, cacheable, keys = bound.references[0].table, not bound.volatile, _in_order(row, (), ())
    if row.condition is None and returned is None:
        return KeyDelete(table, row.key, general, keys, cacheable)
    if context.settings.collects_row_errors:
        return None
    kind, condition = RowOpKind.DELETE_IGNORE, row.condition
    return KeyChange(table, kind, row.key, general, (), (), condition, returned, keys, cacheable)


@dataclass(frozen=True, slots=True)
class ConflictRows:
    """The row of a table and the one that an INSERT proposes, in expressions with qualified names.

    `name`: what the statement calls the table.
    """

    table: TableInfo
    name: CorrelationName
    context: PlanContext

    def cell(self, node: exp.Column) -> tuple[ColumnCell | ProposedCell, ColumnSchema] | None:
        """The cell that a name means, and its column."""
        column = self.table.schema.by_name.get(node.name.lower())
        if column is None or not node.table:
            return None
        if node.table.lower() == EXCLUDED_NAME and not node.db:
            return ProposedCell(column.id), column
        return (ColumnCell(column.id), column) if self.name.is_named_by(node) else None

    def constant(self, node: exp.Expr) -> Constant | Hole | None:
        """The constant that an expression is, None if it varies."""
        return constant(node, self.context)


def key_conflict(
    assignments: Sequence[Assignment], condition: exp.Expr | None, rows: ConflictRows
) -> KeyConflict | None:
    """What ON CONFLICT DO UPDATE does; None where only the engine can tell.

    `condition`: of its WHERE.
    """
    values = {each.column.id: each.node for each in assignments}
    computed = _computed(assignments, values, rows)
    comparisons = row_comparisons(condition, rows)
    if computed is None or comparisons is None or rows.name.alias.lower() == EXCLUDED_NAME:
        return None
    return KeyConflict(_constants(assignments), computed, comparisons)


def key_insert(
    rows: InsertValues | InsertQuery,
    conflict: KeyConflict | None,
    returned: Outputs | None,
    general: ConflictInsert | InsertReturning,
    context: PlanContext,
) -> KeyInsert | None:
    """The INSERT of one row; None where it has more rows, or numbers that only a batch shows.

    `general`: the same as a query.
    """
    schema, settings = rows.table.schema, context.settings
    is_plain = isinstance(rows, InsertValues) and rows.rows == 1 and rows.kind is RowOpKind.INSERT
    if not is_plain or not settings.key_access or settings.collects_row_errors:
        return None
    if conflict is not None and (schema.identity is not None or schema.auto_incrementing):
        return None
    assert isinstance(rows, InsertValues)
    return KeyInsert(
        rows, conflict, returned, lambda: general, general.parameters, general.cacheable
    )


def _constants(assignments: Sequence[Assignment]) -> tuple[tuple[int, Value], ...]:
    return tuple((each.column.id, each.value) for each in assignments if each.is_constant)


def _computed(
    assignments: Sequence[Assignment], values: Mapping[int, exp.Expr], source: RowSource
) -> tuple[tuple[int, RowExpression], ...] | None:
    """What is set to expressions; None where only the engine can compute one.

    `values`: by column id.
    """
    computed: list[tuple[int, RowExpression]] = []
    for assignment in assignments:
        if not assignment.is_constant:
            column = assignment.column
            expression = row_expression(values[column.id], column, source)
            if expression is None:
                return None
            computed.append((column.id, expression))
    return tuple(computed)


def returned_columns(
    items: Sequence[exp.Expr], table: TableInfo, name: CorrelationName
) -> Outputs | None:
    """What a RETURNING list of plain columns and stars shows; None of any other.

    `name`: what the statement calls the table. A name that is unknown is for the engine's plan.
    """
    outputs: list[tuple[str, int]] = []
    for item in items:
        inner = item.this if isinstance(item, exp.Alias) else item
        if isinstance(item, exp.Star) and not any(item.args.values()):
            outputs.extend((column.name, column.id) for column in table.schema.visible_columns)
            continue
        if not isinstance(inner, exp.Column) or inner.is_star or not name.is_named_by(inner):
            return None
        column = table.schema.by_name.get(inner.name.lower())
        if column is None:
            return None
        outputs.append((output_name(item), column.id))
    return tuple(outputs)


def may_name_key(where: exp.Where | None, table: TableInfo) -> bool:
    """Whether a WHERE has an equality for each key column, by what is written."""
    names = {
        side.name.lower()
        for part in conjuncts(where.this if where is not None else None)
        if isinstance(part, exp.EQ)
        for side in (part.this, part.expression)
        if isinstance(side, exp.Column)
    }
    return names.issuperset(column.name for column in table.schema.key_columns)


def _in_order(
    row: SingleRow, assigned: Sequence[Value], computed: Sequence[RowExpression]
) -> tuple[ParameterKey, ...]:
    """The parameters of a statement: positions ascending, names as they come."""
    operands = [
        node.parameter
        for each in computed
        for node in nodes(each)
        if isinstance(node, ParameterCell)
    ]
    keys = dict.fromkeys((*parameters_of((*assigned, *operands)), *row.parameters))
    positions = [key for key in keys if isinstance(key, int)]
    return (*sorted(positions), *(key for key in keys if isinstance(key, str)))
