"""One value as text: for people, for CSV and for JSON.

Nothing is rounded and nothing is guessed from locale: integers and decimals keep every digit,
times are ISO 8601, binaries are hexadecimal.
"""

import datetime
import decimal
import json
import math
from collections.abc import Sequence

_NUMBER_TYPES = frozenset(
    {
        "TINYINT",
        "SMALLINT",
        "INT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "FLOAT",
        "REAL",
        "DOUBLE",
        "DECIMAL",
        "NUMERIC",
    }
)


def is_number_type(sql_type: str) -> bool:
    """Whether values of an SQL type, such as `DECIMAL(15,2)`, line up on the right."""
    return sql_type.partition("(")[0].strip().upper() in _NUMBER_TYPES


def to_text(value: object) -> str:
    """A value other than None as a person reads it."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case decimal.Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case dict():
            return "{" + ", ".join(f"{k}: {_nested(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_nested, value)) + "]"
        case _:
            return str(value)


def _nested(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else to_text(value)


def to_json(value: object) -> str:
    """A value as JSON (RFC 8259).

    Integers and decimals are numbers with all their digits; NaN and infinities, which JSON does
    not have, are null; times are ISO 8601 strings and binaries strings of hexadecimal digits.
    """
    match value:
        case None:
            return "null"
        case bool() | int() | str():
            return json.dumps(value, ensure_ascii=False)
        case float():
            return json.dumps(value) if math.isfinite(value) else "null"
        case decimal.Decimal():
            return format(value, "f") if value.is_finite() else "null"
        case datetime.datetime():
            return json.dumps(value.isoformat())
        case dict():
            pairs = (f"{json.dumps(str(k))}: {to_json(v)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(to_json, value)) + "]"
        case _:
            return json.dumps(to_text(value), ensure_ascii=False)


def unique_names(names: Sequence[str]) -> list[str]:
    """Column names made distinct: a repeated `id` becomes `id_1`, `id_2`, ..."""
    taken = set(names)
    seen: set[str] = set()
    unique = []
    for name in names:
        candidate, number = name, 0
        while candidate in seen or (number and candidate in taken):
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate)
        unique.append(candidate)
    return unique
