"""Types by the names that the engine gives them: `DECIMAL(9,2)`, `VARCHAR[]`, `STRUCT(a INTEGER)`.

A name is what the engine's `typeof` says. Numbers are told apart by their digits; lists and structs
by what they are made of.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from sqlglot import exp

from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits
from pykudu_sql.storage.common.types.types import DataType, Kind

BOOLEAN, NULL, VARCHAR = "BOOLEAN", '"NULL"', "VARCHAR"
DOUBLE, FLOAT = "DOUBLE", "FLOAT"
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")
_MAX_TYPES = 256  # that are kept, since parsing one takes as long as planning a small query
_LIST, _STRUCT = "[]", "STRUCT("
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[(),]')
_FIELD = re.compile(r'\s*("(?:[^"]|"")*"|\S+) (.+)')
# Of the signed integers, the bits that are no sign; each type has the values of those before it.
INTEGER_BITS: Mapping[str, int] = {
    "TINYINT": 7,
    "SMALLINT": 15,
    "INTEGER": 31,
    "BIGINT": 63,
    "HUGEINT": 127,
}
_DIGITS: Mapping[str, int] = {
    **{"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": MAX_DIGITS + 1},
    **{"UTINYINT": 3, "USMALLINT": 5, "UINTEGER": 10, "UBIGINT": 20},
    **{"UHUGEINT": MAX_DIGITS + 1, "INT": 10, "INT128": MAX_DIGITS + 1},
}
_STORED: Mapping[Kind, str] = {
    Kind.BOOL: BOOLEAN,
    Kind.INT8: "TINYINT",
    Kind.INT16: "SMALLINT",
    Kind.INT32: "INTEGER",
    Kind.INT64: "BIGINT",
    Kind.DATE: "DATE",
    Kind.UNIXTIME_MICROS: "TIMESTAMP",
    Kind.FLOAT: FLOAT,
    Kind.DOUBLE: DOUBLE,
    Kind.VARCHAR: VARCHAR,
    Kind.STRING: VARCHAR,
    Kind.BINARY: "BLOB",
}
_CASTS: Mapping[exp.DType, str] = {
    **{exp.DType.BOOLEAN: BOOLEAN, exp.DType.DOUBLE: DOUBLE, exp.DType.FLOAT: FLOAT},
    **{exp.DType.TINYINT: "TINYINT", exp.DType.SMALLINT: "SMALLINT", exp.DType.INT: "INTEGER"},
    **{exp.DType.BIGINT: "BIGINT", exp.DType.INT128: "HUGEINT", exp.DType.DATE: "DATE"},
    **{exp.DType.TIMESTAMP: "TIMESTAMP", exp.DType.TIMESTAMPNTZ: "TIMESTAMP"},
    **{exp.DType.TEXT: VARCHAR, exp.DType.VARCHAR: VARCHAR, exp.DType.NVARCHAR: VARCHAR},
}
_KINDS = {name: kind for kind, name in _STORED.items()} | {"HUGEINT": Kind.INT64}


def stored_name(data_type: DataType) -> str:
    """The engine's name of a column's type."""
    if data_type.kind is Kind.DECIMAL:
        return f"DECIMAL({data_type.precision},{data_type.scale})"
    return _STORED[data_type.kind]


def written_name(node: exp.DataType) -> str | None:
    """The engine's name of a type that is cast to; None if its spelling does not determine it."""
    if node.this is exp.DType.DECIMAL:
        name = node.sql("duckdb").replace(", ", ",")
        return name if is_decimal(name) else None
    return _CASTS.get(node.this) if isinstance(node.this, exp.DType) else None


def column_type(name: str | None) -> DataType | None:
    """The type of a column that has the values of an engine's type; None if there is none."""
    decimal = _DECIMAL.fullmatch(name or "")
    if decimal is not None:
        precision, scale = map(int, decimal.groups())
        return DataType(Kind.DECIMAL, precision=precision, scale=scale)
    kind = _KINDS.get(name or "")
    return None if kind is None else DataType(kind)


def digits_of_type(name: str | None) -> Digits | None:
    """The digits of a type; None if it is no exact number."""
    decimal = _DECIMAL.fullmatch(name or "")
    if decimal is not None:
        precision, scale = map(int, decimal.groups())
        return Digits(precision - scale, scale)
    whole = _DIGITS.get(name or "")
    return None if whole is None else Digits(whole, 0)


def is_decimal(name: str | None) -> bool:
    """Whether a type is a DECIMAL."""
    return _DECIMAL.fullmatch(name or "") is not None


def holds_decimal(name: str | None) -> bool:
    """Whether a type is a DECIMAL, or one of lists, structs or maps of them."""
    return "DECIMAL" in (name or "")


def decimals_within(name: str | None) -> list[str]:
    """The types of the decimals in lists, structs and maps of a type; none of what is no such."""
    if digits_of_type(name) is not None:
        return []
    return [decimal.group() for decimal in _DECIMAL.finditer(name or "")]


def element_type(name: str | None) -> str | None:
    """The type of a list's elements; None of what is no list."""
    return name.removesuffix(_LIST) if name is not None and name.endswith(_LIST) else None


def field_type(name: str | None, field: str) -> str | None:
    """The type of a struct's field; None of what is no struct or has no such field."""
    if name is None or not (name.startswith(_STRUCT) and name.endswith(")")):
        return None
    fields = f"{name[len(_STRUCT) : -1]},"
    depth = begin = 0
    for token in _TOKEN.finditer(fields):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth or token.group() != ",":
            continue
        written = _FIELD.fullmatch(fields, begin, token.start())
        begin = token.end()
        if written and written[1].strip('"').replace('""', '"').lower() == field.lower():
            return written[2]
    return None


def fit_together(numbers: Iterable[Digits]) -> bool:
    """Whether one type of the engine has all the values of some."""
    together = widest(numbers)
    return together.fits_beside(together)


def widest(numbers: Iterable[Digits]) -> Digits:
    """The digits that all have together."""
    each = list(numbers)
    return Digits(max(one.whole for one in each), max(one.scale for one in each))


def united(numbers: Sequence[Digits]) -> Digits:
    """The type of one of several decimals: all digits behind the point, and as many before it."""
    together = widest(numbers)
    return Digits(min(together.whole, MAX_DIGITS - together.scale), together.scale)


def type_name(digits: Digits) -> str:
    """The engine's name of a DECIMAL."""
    return f"DECIMAL({max(1, digits.whole + digits.scale)},{digits.scale})"


def named_type(name: str) -> exp.DataType:
    """The type of a name, as it stands in a cast."""
    return _parsed_type(name).copy()


@lru_cache(maxsize=_MAX_TYPES)
def _parsed_type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect="duckdb")


def decimal_type(digits: Digits) -> exp.DataType:
    """A DECIMAL, as it stands in a cast."""
    return named_type(type_name(digits))


def cast_in_place(node: exp.Expr, target: exp.DataType) -> None:
    """Put a cast of an expression in its place."""
    cast = exp.Cast(to=target)
    node.replace(cast)
    cast.set("this", node)


def typed_null(name: str | None) -> exp.Expr:
    """NULL of a type; of none, if that is not known."""
    if name is None or name == NULL:
        return exp.Null()
    return exp.Cast(this=exp.Null(), to=named_type(name))


def common_name(names: Sequence[str | None], all_digits: Sequence[Digits | None]) -> str | None:
    """The type of what is one of several values, with all digits behind the point.

    Args:
        names: of their types; None is not known.
        all_digits: their digits, None of what is no exact number.
    """
    distinct = set(names) - {NULL}
    if len(distinct) < 2:
        return next(iter(distinct), NULL)
    digits = [each for name, each in zip(names, all_digits, strict=True) if name != NULL]
    exact = [each for each in digits if each is not None]
    if len(exact) < len(digits):
        floats = [each for each in (DOUBLE, FLOAT) if each in distinct]
        is_number = len(exact) + sum(name in floats for name in names) == len(digits)
        return floats[0] if floats and is_number else None
    if any(map(is_decimal, distinct)):
        return type_name(united(exact))
    return widest_integer([*distinct])


def widest_integer(names: Sequence[str | None]) -> str | None:
    """The type among some that has the values of all; None if one is no signed integer."""
    widths = [INTEGER_BITS.get(name or "", -1) for name in names]
    return None if min(widths) < 0 else names[widths.index(max(widths))]
