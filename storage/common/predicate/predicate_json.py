"""Predicates as plain JSON values, for scan tokens that travel between processes.

Each is a list that begins with what it is:

    ["=", column id, cell], and likewise "<", "<=", ">", ">="
    ["in", column id, [cells]]
    ["null", column id], ["not null", column id]
    ["starts with", column id, cell], ["like", column id, pattern]
    ["and", [predicates]], ["or", [predicates]]
"""

from typing import Any

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
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.types.cells import cell_from_json, cell_to_json

_IN, _NULL, _NOT_NULL, _STARTS, _LIKE = "in", "null", "not null", "starts with", "like"
_AND, _OR = "and", "or"


def predicate_to_json(predicate: Predicate) -> list[Any]:
    """A predicate as JSON values."""
    match predicate:
        case Comparison(column_id, op, value):
            return [str(op), column_id, cell_to_json(value)]
        case InList(column_id, values):
            return [_IN, column_id, [cell_to_json(value) for value in values]]
        case Among():
            raise ValueError("a runtime filter has no JSON form")
        case IsNull(column_id):
            return [_NULL, column_id]
        case IsNotNull(column_id):
            return [_NOT_NULL, column_id]
        case StartsWith(column_id, prefix):
            return [_STARTS, column_id, cell_to_json(prefix)]
        case Like(column_id, pattern):
            return [_LIKE, column_id, pattern]
        case And(parts):
            return [_AND, [predicate_to_json(part) for part in parts]]
        case Or(parts):
            return [_OR, [predicate_to_json(part) for part in parts]]


def predicate_from_json(value: Any) -> Predicate:
    """The inverse of `predicate_to_json`.

    Raises ValueError, TypeError, KeyError: it is no predicate; RecursionError: it is nested too
    deeply.
    """
    match value:
        case ["and", list(parts)]:
            return And(tuple(predicate_from_json(part) for part in parts))
        case ["or", list(parts)]:
            return Or(tuple(predicate_from_json(part) for part in parts))
        case ["in", int(column_id), list(cells)]:
            return InList(column_id, tuple(cell_from_json(cell) for cell in cells))
        case ["null", int(column_id)]:
            return IsNull(column_id)
        case ["not null", int(column_id)]:
            return IsNotNull(column_id)
        case ["starts with", int(column_id), cell]:
            prefix = cell_from_json(cell)
            if isinstance(prefix, str | bytes):
                return StartsWith(column_id, prefix)
        case ["like", int(column_id), str(pattern)]:
            return Like(column_id, pattern)
        case [str(op), int(column_id), cell]:
            return Comparison(column_id, Op(op), cell_from_json(cell))
    raise ValueError(f"{value!r:.80} is no predicate")
