"""Types by name, and types for Arrow's: the ways into the type table, and the names of all others.

Names are SQL's (`BIGINT`, `DECIMAL(15, 2)`) and Kudu's own (`INT64`, `UNIXTIME_MICROS`). Those that
are shown are SQL's: a list of INT is `INT[]`, whatever an engine or Arrow calls it.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import pyarrow as pa

from pykudu_sql.storage.common.types.types import SQL_NAMES, DataType, Kind, decimal_type
from pykudu_sql.storage.errors import InvalidSchemaError

_KINDS_BY_NAME: Mapping[str, Kind] = {
        "BOOL": Kind.BOOL, "BOOLEAN": Kind.BOOL, "LOGICAL": Kind.BOOL,
        "TINYINT": Kind.INT8, "INT8": Kind.INT8, "INT1": Kind.INT8,
        "SMALLINT": Kind.INT16, "INT16": Kind.INT16, "INT2": Kind.INT16, "SHORT": Kind.INT16,
        "INT": Kind.INT32, "INTEGER": Kind.INT32, "INT32": Kind.INT32, "INT4": Kind.INT32,
        "SIGNED": Kind.INT32,
        "BIGINT": Kind.INT64, "INT64": Kind.INT64, "LONG": Kind.INT64,
        "DATE": Kind.DATE,
        "TIMESTAMP": Kind.UNIXTIME_MICROS, "UNIXTIME_MICROS": Kind.UNIXTIME_MICROS,
        "DATETIME": Kind.UNIXTIME_MICROS,
        "FLOAT": Kind.FLOAT, "REAL": Kind.FLOAT, "FLOAT4": Kind.FLOAT,
        "DOUBLE": Kind.DOUBLE, "DOUBLE PRECISION": Kind.DOUBLE, "FLOAT8": Kind.DOUBLE,
        "DECIMAL": Kind.DECIMAL, "NUMERIC": Kind.DECIMAL, "DEC": Kind.DECIMAL,
        "VARCHAR": Kind.VARCHAR, "CHAR": Kind.VARCHAR, "CHARACTER": Kind.VARCHAR,
        "CHARACTER VARYING": Kind.VARCHAR, "CHAR VARYING": Kind.VARCHAR, "BPCHAR": Kind.VARCHAR,
        "NVARCHAR": Kind.VARCHAR, "NCHAR": Kind.VARCHAR,
        "STRING": Kind.STRING, "TEXT": Kind.STRING, "CLOB": Kind.STRING,
        "BINARY": Kind.BINARY, "BLOB": Kind.BINARY, "VARBINARY": Kind.BINARY, "BYTEA": Kind.BINARY,
    }  # fmt: skip

_MICROSECONDS = 6  # digits of a second
_FLOAT_BITS, _DOUBLE_BITS = 24, 53  # of the precisions that SQL gives FLOAT
# What to write for types of other databases.
_INSTEAD: Mapping[str, str] = {
    "JSON": "STRING, and json_extract() in queries",
    "JSONB": "STRING, and json_extract() in queries",
    "UUID": "STRING",
    "TIME": "STRING, or INT for seconds",
    "TIMESTAMPTZ": "TIMESTAMP, which is UTC",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP, which is UTC",
    "SERIAL": "BIGINT, or NON UNIQUE PRIMARY KEY for rows that are numbered by themselves",
    "BIGSERIAL": "BIGINT, or NON UNIQUE PRIMARY KEY for rows that are numbered by themselves",
    "HUGEINT": "DECIMAL(38,0)",
    "MONEY": "DECIMAL(p,s)",
}

# The words of an engine's types, but not of the names of fields and values in quotes within them.
_ENGINE_WORD = re.compile(
    r"""("NULL"(?! )|\b(?:INTEGER|VARCHAR|BLOB)\b)|"(?:[^"]|"")*"|'(?:[^']|'')*'"""
)
_SHOWN = {"INTEGER": "INT", "VARCHAR": "STRING", "BLOB": "BINARY", '"NULL"': "NULL"}


@lru_cache(maxsize=1024)
def shown_type(engine_type: str) -> str:
    """An engine's type, of lists and structs too, as our SQL writes it."""
    return _ENGINE_WORD.sub(lambda match: _SHOWN[match[1]] if match[1] else match[0], engine_type)


def shown_arrow_type(arrow: pa.DataType) -> str:
    """An Arrow type as our SQL writes it."""
    match arrow:
        case pa.MapType():
            return f"MAP({shown_arrow_type(arrow.key_type)}, {shown_arrow_type(arrow.item_type)})"
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType():
            return f"{shown_arrow_type(arrow.value_type)}[]"
        case pa.StructType():
            if any(field.name == f"_{index}" for index, field in enumerate(arrow)):
                return "STRUCT"  # the engine named fields that the statement does not name
            fields = (f"{field.name} {shown_arrow_type(field.type)}" for field in arrow)
            return f"STRUCT({', '.join(fields)})"
    if pa.types.is_time(arrow):
        return "TIME"
    if pa.types.is_duration(arrow) or pa.types.is_interval(arrow):
        return "INTERVAL"
    try:
        return str(type_of_arrow(arrow))
    except InvalidSchemaError:
        return str(arrow).upper()


@lru_cache(maxsize=1024)
def parse_type(text: str) -> DataType:
    """The type a SQL or Kudu type name stands for: `BIGINT`, `int64`, `DECIMAL(15, 2)`.

    Raises InvalidSchemaError: no such type, or its parameters are out of range.
    """
    match = re.fullmatch(
        r"\s*([A-Za-z][A-Za-z0-9_]*(?: +[A-Za-z0-9_]+)*)\s*"
        r"(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*",
        text,
    )
    kind = _KINDS_BY_NAME.get(match.group(1).upper()) if match else None
    if match is None or kind is None:
        instead = _INSTEAD.get(match.group(1).upper()) if match else None
        supported = f"types are {', '.join(SQL_NAMES.values())}"
        raise InvalidSchemaError(
            f"unknown type {text.strip()!r}", hint=f"use {instead}" if instead else supported
        )
    first, second = match.group(2), match.group(3)
    if kind is Kind.DECIMAL:
        return decimal_type(int(first or 9), int(second or 0))
    if kind is Kind.VARCHAR and first is None:
        return DataType(Kind.STRING)  # without a length, as DuckDB and PostgreSQL write it
    if kind is Kind.VARCHAR:
        if second is not None or not 1 <= int(first or 0) <= 65535:
            raise InvalidSchemaError(
                f"VARCHAR needs a length from 1 to 65535: {text.strip()}", hint="or use STRING"
            )
        return DataType(kind, length=int(first))
    if kind is Kind.UNIXTIME_MICROS and first is not None and second is None:
        if int(first) <= _MICROSECONDS:
            return DataType(kind)  # it holds the digits of any of these precisions
        raise InvalidSchemaError(
            f"{text.strip()} has more digits than microseconds", hint="use TIMESTAMP"
        )
    if kind is Kind.FLOAT and first is not None and second is None:
        if 1 <= int(first) <= _DOUBLE_BITS:
            return DataType(Kind.FLOAT if int(first) <= _FLOAT_BITS else Kind.DOUBLE)
        raise InvalidSchemaError(f"FLOAT has 1 to {_DOUBLE_BITS} bits: {text.strip()}")
    if first is not None and not (kind is Kind.BINARY and second is None):
        raise InvalidSchemaError(f"type {SQL_NAMES[kind]} takes no parameters: {text.strip()}")
    return DataType(kind)


def type_of_arrow(arrow: pa.DataType) -> DataType:
    """The type that holds values of an Arrow type without loss.

    Raises InvalidSchemaError: there is none.
    """
    if pa.types.is_dictionary(arrow):
        return type_of_arrow(arrow.value_type)
    if pa.types.is_decimal(arrow) and 0 <= arrow.scale <= arrow.precision <= 38:
        return decimal_type(arrow.precision, arrow.scale)
    if pa.types.is_timestamp(arrow):
        return DataType(Kind.UNIXTIME_MICROS)
    for tests, kind in _FROM_ARROW:
        if any(test(arrow) for test in tests):
            return DataType(kind)
    raise InvalidSchemaError(f"no column type holds Arrow's {arrow}")


_FROM_ARROW: tuple[tuple[tuple[Callable[[pa.DataType], bool], ...], Kind], ...] = (
    ((pa.types.is_boolean,), Kind.BOOL),
    ((pa.types.is_int8,), Kind.INT8),
    ((pa.types.is_int16, pa.types.is_uint8), Kind.INT16),
    ((pa.types.is_int32, pa.types.is_uint16), Kind.INT32),
    ((pa.types.is_int64, pa.types.is_uint32), Kind.INT64),
    ((pa.types.is_uint64,), Kind.INT64),
    ((pa.types.is_float16, pa.types.is_float32), Kind.FLOAT),
    ((pa.types.is_float64,), Kind.DOUBLE),
    ((pa.types.is_date,), Kind.DATE),
    ((pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view), Kind.STRING),
    ((pa.types.is_null,), Kind.STRING),
    ((pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view), Kind.BINARY),
    ((pa.types.is_fixed_size_binary,), Kind.BINARY),
)
