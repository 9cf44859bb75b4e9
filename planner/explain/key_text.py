"""Plans of statements about one row by its key, for EXPLAIN: a head, and a line for each fact."""

from collections.abc import Iterator, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.explain.predicate_text import parameter_text, predicate_text, value_text
from pykudu_sql.planner.operands.row_expression import (
    Arithmetic,
    Concatenation,
    FirstNotNull,
    Negation,
    ParameterCell,
    ProposedCell,
    RowComparison,
    RowExpression,
    nodes,
)
from pykudu_sql.planner.operands.template import PredicateTemplate
from pykudu_sql.planner.operands.value import Parameter, Value
from pykudu_sql.planner.plan.plan import KeyChange, KeyDelete, KeyInsert, KeyLookup, KeyUpdate
from pykudu_sql.planner.plan.write_plans import KeyConflict
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell, FixedCell
from pykudu_sql.storage.common.types.hybrid_time import last_before
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema

KeyPlan = KeyLookup | KeyUpdate | KeyDelete | KeyChange | KeyInsert


@dataclass(frozen=True, slots=True)
class KeyText:
    """The plan of such a statement. `head`: what it does; `details`: below it."""

    head: str
    details: list[str]


def key_text(plan: KeyPlan) -> KeyText:
    """What EXPLAIN shows of a plan."""
    name, details = plan.table.name, list(_details(plan))
    match plan:
        case KeyInsert():
            return KeyText(f"KEY INSERT INTO {name}", details)
        case KeyLookup():
            return KeyText(f"KEY LOOKUP {name}", details)
        case KeyUpdate():
            return KeyText(f"KEY UPDATE {name}", details)
        case KeyDelete():
            return KeyText(f"KEY DELETE FROM {name}", details)
        case KeyChange():
            verb = "KEY DELETE FROM" if plan.kind.deletes else "KEY UPDATE"
            return KeyText(f"{verb} {name}", details)


def _details(plan: KeyPlan) -> Iterator[str]:
    table = plan.table
    if isinstance(plan, KeyInsert):
        yield f"columns: {', '.join(_name(table, i) for i in plan.rows.column_ids)}"
        if plan.conflict is not None:
            yield from _conflict(table, plan.conflict)
    else:
        yield f"key: {_key(table, plan.key)}"
    if isinstance(plan, KeyLookup | KeyChange):
        yield from _condition(plan.condition, table.schema)
    if isinstance(plan, KeyUpdate | KeyChange):
        computed = plan.computed if isinstance(plan, KeyChange) else ()
        yield from _changes(table, plan.assignments, computed)
    if isinstance(plan, KeyChange | KeyInsert) and plan.returned is not None:
        yield f"returning: {', '.join(name for name, _ in plan.returned)}"
    if isinstance(plan, KeyLookup):
        if plan.bound is not None:
            yield f"as of: hybrid time {last_before(plan.bound)}"
        yield f"columns: {', '.join(name for name, _ in plan.outputs)}"


def _condition(condition: PredicateTemplate | None, schema: Schema) -> Iterator[str]:
    if condition is not None:
        yield f"condition: {predicate_text(condition, schema)}"


def _changes(
    table: TableInfo,
    assignments: Sequence[tuple[int, Value]],
    computed: Sequence[tuple[int, RowExpression]],
) -> Iterator[str]:
    changes = [f"{_name(table, i)} = {_value(table, i, value)}" for i, value in assignments]
    changes += [f"{_name(table, i)} = {_expression(table, i, each)}" for i, each in computed]
    if changes:
        yield f"set: {', '.join(changes)}"


def _conflict(table: TableInfo, conflict: KeyConflict) -> Iterator[str]:
    """What becomes of a row that has the key."""
    yield "on conflict:"
    for line in _changes(table, conflict.assignments, conflict.computed):
        yield f"  {line}"
    if conflict.comparisons:
        yield f"  condition: {' AND '.join(_comparison(table, c) for c in conflict.comparisons)}"


def _comparison(table: TableInfo, comparison: RowComparison) -> str:
    sides = (comparison.left, comparison.right)
    cells = (node for side in sides for node in nodes(side))
    column_id = next(n.column_id for n in cells if isinstance(n, ColumnCell | ProposedCell))
    left, right = (_expression(table, column_id, side) for side in sides)
    return f"{left} {comparison.op} {right}"


def _key(table: TableInfo, key: Sequence[Value]) -> str:
    return " AND ".join(
        f"{_name(table, i)} = {_value(table, i, value)}"
        for i, value in zip(table.schema.key_ids, key, strict=True)
    )


def _name(table: TableInfo, column_id: int) -> str:
    return table.schema.by_id[column_id].name


def _value(table: TableInfo, column_id: int, value: Value) -> str:
    if isinstance(value, Parameter):
        return parameter_text(value.key)
    return value_text(value, table.schema.by_id[column_id])


def _expression(table: TableInfo, column_id: int, expression: RowExpression) -> str:
    """An expression that gives a column its value, as SQL."""
    return _text(expression, table.schema, table.schema.by_id[column_id])


def _text(expression: RowExpression, schema: Schema, column: ColumnSchema) -> str:
    match expression:
        case ColumnCell(column_id):
            return schema.by_id[column_id].name
        case ProposedCell(column_id):
            return f"excluded.{schema.by_id[column_id].name}"
        case FixedCell(cell):
            return value_text(cell, column)
        case ParameterCell(parameter):
            return parameter_text(parameter.key)
        case Negation(part):
            return f"NOT {_nested(part, schema, column)}"
        case FirstNotNull(parts):
            return f"coalesce({', '.join(_text(part, schema, column) for part in parts)})"
        case Concatenation(left, right):
            op = "||"
        case Arithmetic(left, op, right):
            pass
    return f"{_nested(left, schema, column)} {op} {_nested(right, schema, column)}"


def _nested(expression: RowExpression, schema: Schema, column: ColumnSchema) -> str:
    text = _text(expression, schema, column)
    return f"({text})" if isinstance(expression, Arithmetic | Concatenation) else text
