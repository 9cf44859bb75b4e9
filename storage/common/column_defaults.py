"""The default of a column: what an INSERT that leaves it out stores, and how SQL writes it.

A default is a constant cell, a `DefaultFunction`, or none, which stores NULL. Whoever completes
rows asks here.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.default_function import DefaultFunction
from pykudu_sql.storage.common.partition.range_bound import literal
from pykudu_sql.storage.common.types.arrays import constant_array
from pykudu_sql.storage.common.types.cells import from_cell, to_cell
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

if TYPE_CHECKING:
    from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema

_TIMESTAMP: Final = DataType(Kind.UNIXTIME_MICROS)
_UUID_BYTES: Final = 16
_UUID_PARTS: Final = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))


def default_cell(column: "ColumnSchema", time: StatementTime) -> Cell:
    """What one row gets; of a function of chance another value each time.

    `time`: of the statement.
    """
    function = column.default_function
    if function is None:
        return column.write_default
    if not function.is_of_the_moment:
        drawn = uuid4()
        return str(drawn) if function is DefaultFunction.UUID else drawn.hex
    return _moment(function, column.type, time.micros)


def default_array(column: "ColumnSchema", time: StatementTime, length: int) -> pa.Array:
    """What some rows of one statement get, of the column's type; texts may be a dictionary."""
    function = column.default_function
    if function is not None and not function.is_of_the_moment:
        return _uuids("-" if function is DefaultFunction.UUID else "", length)
    return constant_array(default_cell(column, time), column.type, length)


def with_functions(
    schema: "Schema", columns: Mapping[int, pa.Array], time: StatementTime, length: int
) -> dict[int, pa.Array]:
    """The columns of rows that are new, with those that functions fill.

    For those who show the rows or write them twice: what they do not set is drawn once. `columns`:
    that the statement sets, by id.
    """
    functions = [c for c in schema.columns if c.default_function and c.id not in columns]
    return {**columns, **{c.id: default_array(c, time, length) for c in functions}}


def default_sql(column: "ColumnSchema") -> str | None:
    """The default as SQL, which the column's type reads back; None where there is none."""
    if column.default_function is not None:
        return column.default_function.sql
    cell = column.write_default
    return None if cell is None else literal(cell, column.type)


def default_value(column: "ColumnSchema") -> Any:
    """The default for people: a Python value, the SQL of a function, or None.

    Raises ValueOutOfRangeError: a time outside the years of Python's datetime.
    """
    if column.default_function is not None:
        return column.default_function.sql
    return from_cell(column.write_default, column.type)


def _moment(function: DefaultFunction, column_type: DataType, micros: int) -> Cell:
    """A time as a cell, as the same function in an INSERT becomes one."""
    micros -= micros % function.step
    if column_type.kind is Kind.UNIXTIME_MICROS:
        return micros
    moment = from_cell(micros, _TIMESTAMP)
    return to_cell(moment.date() if function is DefaultFunction.TODAY else moment, column_type)


def _uuids(between: str, count: int) -> pa.Array:
    """Random UUIDs of version 4 as texts. `between`: what stands between their parts."""
    drawn = np.frombuffer(bytearray(os.urandom(_UUID_BYTES * count)), np.uint8)
    numbers = drawn.reshape(count, _UUID_BYTES)
    numbers[:, 6] = numbers[:, 6] & 0x0F | 0x40
    numbers[:, 8] = numbers[:, 8] & 0x3F | 0x80
    digits = np.frombuffer(numbers.tobytes().hex().encode(), np.uint8).reshape(count, 32)
    width = 32 + len(between) * (len(_UUID_PARTS) - 1)
    texts = np.full((count, width), ord(between or "-"), np.uint8)
    for place, (low, high) in enumerate(_UUID_PARTS):
        start = low + place * len(between)
        texts[:, start : start + high - low] = digits[:, low:high]
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts)]
    return pa.Array.from_buffers(pa.string(), count, buffers)
