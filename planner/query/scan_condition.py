"""A scan's predicate as a condition in our SQL, for those who read the table by name.

The condition keeps every row that the predicate keeps, and perhaps more: what has no exact text is
left out. Floating-point numbers are, for a number of 32 bits does not survive its decimal digits.
"""

from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.storage.common.partition.range_bound import literal
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Like,
    Or,
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import Cell, Kind

_PATTERN_MARKS = frozenset("%_\\")
_INEXACT = frozenset({Kind.FLOAT, Kind.DOUBLE})


def scan_condition(predicate: Predicate | None, schema: Schema) -> str | None:
    """The text of a condition, None where it has none.

    `predicate`: of a scan, parameters filled in; `schema`: of its table.
    """
    match predicate:
        case And(parts):
            return _all_of([scan_condition(part, schema) for part in parts])
        case Or(parts):
            return _any_of([scan_condition(part, schema) for part in parts])
        case Comparison(column_id, op, value):
            written = _written(value, column_id, schema)
            return None if written is None else f"{_name(column_id, schema)} {op} {written}"
        case InList(column_id, values):
            texts = [_written(value, column_id, schema) for value in values]
            exact = [text for text in texts if text is not None]
            if not texts or len(exact) < len(texts):
                return None
            return f"{_name(column_id, schema)} IN ({', '.join(exact)})"
        case IsNull(column_id):
            return f"{_name(column_id, schema)} IS NULL"
        case IsNotNull(column_id):
            return f"{_name(column_id, schema)} IS NOT NULL"
        case StartsWith(column_id, str() as prefix) if not _PATTERN_MARKS.intersection(prefix):
            quoted = prefix.replace("'", "''")
            return f"{_name(column_id, schema)} LIKE '{quoted}%'"
        case Like(column_id, pattern):
            quoted = pattern.replace("'", "''")
            return f"{_name(column_id, schema)} LIKE '{quoted}'"
        case _:
            return None


def _all_of(texts: list[str | None]) -> str | None:
    exact = [f"({text})" for text in texts if text is not None]
    return " AND ".join(exact) or None


def _any_of(texts: list[str | None]) -> str | None:
    exact = [f"({text})" for text in texts if text is not None]
    return " OR ".join(exact) if exact and len(exact) == len(texts) else None


def _name(column_id: int, schema: Schema) -> str:
    return quote_name(schema.by_id[column_id].name)


def _written(cell: Cell, column_id: int, schema: Schema) -> str | None:
    """A cell as a literal that the column's type reads back to the very same; None if none does."""
    column_type = schema.by_id[column_id].type
    if cell is None or column_type.kind in _INEXACT:
        return None
    text = literal(cell, column_type)
    is_time = column_type.kind is Kind.UNIXTIME_MICROS
    return None if is_time and not text.startswith("'") else text
