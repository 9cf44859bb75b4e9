"""Columns and pushed predicates of scans as SQL, for EXPLAIN."""

from collections.abc import Iterable

from pykudu_sql.planner.operands.template import (
    AllOf,
    AnyOf,
    ParameterComparison,
    ParameterInList,
    PredicateTemplate,
    SteppedComparison,
    SteppedInList,
)
from pykudu_sql.planner.operands.value import Parameter, ParameterKey
from pykudu_sql.planner.plan.query_plans import Scan
from pykudu_sql.storage.common.partition.range_bound import literal
from pykudu_sql.storage.common.predicate.column_predicate import (
    Among,
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Like,
    Op,
    Or,
    StartsWith,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.common.types.types import Cell

_MAX_VALUES = 8


def column_names(scan: Scan) -> list[str]:
    """The columns of a scan of a stored table, with what is read of them if it is no value."""
    names = [(i, scan.table.schema.by_id[i].name) for i in scan.column_ids]
    return [f"{name} IS NULL" if i in scan.validity_ids else name for i, name in names]


def matching_indexes(template: PredicateTemplate, schema: Schema) -> list[str]:
    """The skip indexes that its equalities and IN lists use, each with the column: `i (a)`."""
    match template:
        case Comparison(column_id, Op.EQ, _) | InList(column_id, _):
            column = schema.by_id[column_id]
        case ParameterComparison(column, Op.EQ, _) | ParameterInList(column, _):
            pass
        case And(parts) | AllOf(parts) | Or(parts) | AnyOf(parts):
            names = (name for part in parts for name in matching_indexes(part, schema))
            return list(dict.fromkeys(names))
        case _:
            return []
    return [f"{index} ({column.name})" for index in column.indexes]


def predicate_text(template: PredicateTemplate, schema: Schema) -> str:
    """A predicate over a table's columns, as a WHERE clause has it."""
    match template:
        case Comparison(column_id, op, value):
            column = schema.by_id[column_id]
            return f"{column.name} {op} {value_text(value, column)}"
        case InList(column_id, values):
            column = schema.by_id[column_id]
            return _in_text(column.name, [value_text(value, column) for value in values])
        case Among(column_id, members):
            return f"{schema.by_id[column_id].name} IN ({len(members)} values)"
        case IsNull(column_id):
            return f"{schema.by_id[column_id].name} IS NULL"
        case IsNotNull(column_id):
            return f"{schema.by_id[column_id].name} IS NOT NULL"
        case StartsWith(column_id, prefix):
            column = schema.by_id[column_id]
            return f"{column.name} STARTS WITH {value_text(prefix, column)}"
        case Like(column_id, pattern):
            column = schema.by_id[column_id]
            return f"{column.name} LIKE {value_text(pattern, column)}"
        case ParameterComparison(column, op, parameter):
            return f"{column.name} {op} {parameter_text(parameter.key)}"
        case ParameterInList(column, values):
            return _in_text(column.name, _listed_texts(values))
        case SteppedComparison(operand, op, parameter):
            return f"{operand.text} {op} {parameter_text(parameter.key)}"
        case SteppedInList(operand, values):
            return _in_text(operand.text, _listed_texts(values))
        case And(parts) | AllOf(parts):
            return _joined(" AND ", parts, schema) or "true"
        case Or(parts) | AnyOf(parts):
            return _joined(" OR ", parts, schema) or "false"


def value_text(cell: Cell, column: ColumnSchema) -> str:
    """A cell as a SQL literal."""
    if cell is None or isinstance(cell, bool):
        return "NULL" if cell is None else str(cell).lower()
    return repr(cell) if isinstance(cell, float) else literal(cell, column.type)


def parameter_text(key: ParameterKey) -> str:
    """A parameter as the statement wrote it, positions counted from 1."""
    return f":{key}" if isinstance(key, str) else f"?{key + 1}"


def _listed_texts(values: Iterable[object]) -> list[str]:
    return [parameter_text(v.key) if isinstance(v, Parameter) else repr(v) for v in values]


def _in_text(operand: str, values: list[str]) -> str:
    literals = values[:_MAX_VALUES]
    if len(values) > len(literals):
        literals.append(f"... {len(values) - len(literals)} more")
    return f"{operand} IN ({', '.join(literals)})"


def _joined(word: str, parts: Iterable[PredicateTemplate], schema: Schema) -> str:
    texts = []
    for part in parts:
        text = predicate_text(part, schema)
        nested = isinstance(part, And | Or | AllOf | AnyOf)
        texts.append(f"({text})" if nested else text)
    return word.join(texts)
