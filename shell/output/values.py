"""One value as text: for people, for CSV and for JSON.

Nothing is rounded and nothing is guessed from locale: integers and decimals keep every digit,
times are ISO 8601, binaries are hexadecimal.
"""

import datetime
import decimal
import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import pyarrow as pa

_DAY = 86_400_000_000
# Characters that JSON leaves as they are and that a terminal or an editor obeys or hides: controls,
# marks of direction, separators of lines. As they stand between the brackets of a pattern.
UNSAFE_CHARACTERS = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_UNSAFE = re.compile(f"[{UNSAFE_CHARACTERS}]")
_NUMBER_TYPES = frozenset({
    "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
    "UINTEGER", "UBIGINT", "FLOAT", "REAL", "DOUBLE", "DECIMAL", "NUMERIC",
})  # fmt: skip


_TEXT_TYPES = frozenset({"STRING", "TEXT", "VARCHAR", "CHAR", "BINARY", "BLOB", "JSON", "UNKNOWN"})


def is_text_type(sql_type: str) -> bool:
    """Whether values of an SQL type can be cut and still be read: texts, nested values."""
    base = sql_type.partition("(")[0].partition("<")[0].strip().upper()
    return base in _TEXT_TYPES or base in ("ARRAY", "STRUCT", "MAP") or sql_type.endswith("[]")


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
        case datetime.timedelta():
            return _interval(0, 0, value // datetime.timedelta(microseconds=1))
        case tuple() if _is_interval(value):
            return _interval(value.months, value.days, value.nanoseconds // 1000)
        case dict():
            return "{" + ", ".join(f"{k}: {_nested(v)}" for k, v in value.items()) + "}"
        case list() if _is_map(value):
            return "{" + ", ".join(f"{_nested(k)}: {_nested(v)}" for k, v in value) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_nested, value)) + "]"
        case _:
            return str(value)


def to_grouped_text(value: object) -> str:
    """A value as `to_text`, numbers with `,` between their thousands."""
    if isinstance(value, decimal.Decimal):
        return format(value, ",f")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format(value, ",")
    return to_text(value)


def _is_map(value: list[Any]) -> bool:
    """Whether a list is what a MAP is given as: pairs, which no list of SQL has in it."""
    return bool(value) and isinstance(value[0], tuple)


def _is_interval(value: tuple[Any, ...]) -> "TypeGuard[pa.MonthDayNano]":
    """Whether a tuple is what an INTERVAL with months is given as: Arrow's, which has names."""
    return hasattr(value, "nanoseconds")


def _interval(months: int, days: int, micros: int) -> str:
    """An INTERVAL as SQL reads it: `1 year 2 months -3 days 04:05:06`; each part has its sign."""
    whole_days, rest = divmod(abs(micros), _DAY)
    days += whole_days if micros >= 0 else -whole_days
    sign = -1 if months < 0 else 1
    years, months = (sign * part for part in divmod(abs(months), 12))
    parts = [
        f"{count} {unit}{'' if abs(count) == 1 else 's'}"
        for count, unit in ((years, "year"), (months, "month"), (days, "day"))
        if count
    ]
    if rest or not parts:
        time = (datetime.datetime.min + datetime.timedelta(microseconds=rest)).time()
        parts.append(("-" if micros < 0 else "") + time.isoformat())
    return " ".join(parts)


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
        case str():
            return json_string(value)
        case bool() | int():
            return json.dumps(value)
        case float():
            return json.dumps(value) if math.isfinite(value) else "null"
        case decimal.Decimal():
            return format(value, "f") if value.is_finite() else "null"
        case datetime.datetime():
            return json.dumps(value.isoformat())
        case list() if _is_map(value):
            return to_json({to_text(k): v for k, v in value})
        case tuple() if _is_interval(value):
            return json.dumps(to_text(value))
        case dict():
            pairs = (f"{json_string(str(k))}: {to_json(v)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(to_json, value)) + "]"
        case _:
            return json_string(to_text(value))


def json_string(text: str) -> str:
    """A text as a string of JSON: letters of every script as they are, what acts or hides escaped.

    Escaped are characters that JSON itself forbids, DEL and the C1 controls, marks that turn the
    direction of a text, separators of lines and the byte order mark.
    """
    return _UNSAFE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def unique_names(names: Sequence[str]) -> list[str]:
    """Column names made distinct: a repeated `id` becomes `id_1`, `id_2`, ..."""
    used_names = set(names)
    names_so_far: set[str] = set()
    unique = []
    for name in names:
        candidate, number = name, 0
        while candidate in names_so_far or (number and candidate in used_names):
            number += 1
            candidate = f"{name}_{number}"
        names_so_far.add(candidate)
        unique.append(candidate)
    return unique
