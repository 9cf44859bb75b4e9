"""Python values of one column as an Arrow array."""

import datetime as dt
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import pyarrow as pa

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.errors import DataError

# Values of exactly these Python types mean the same to Arrow as to `to_cell`. Of others
# Arrow would cut fractions (1.5 as INT) or read numbers as dates.
_PLAIN: Mapping[Kind, frozenset[type]] = {
    Kind.BOOL: frozenset({bool, NoneType}),
    Kind.INT8: frozenset({int, NoneType}),
    Kind.INT16: frozenset({int, NoneType}),
    Kind.INT32: frozenset({int, NoneType}),
    Kind.INT64: frozenset({int, NoneType}),
    Kind.DATE: frozenset({dt.date, NoneType}),
    Kind.UNIXTIME_MICROS: frozenset({dt.datetime, NoneType}),
    Kind.FLOAT: frozenset({float, NoneType}),
    Kind.DOUBLE: frozenset({float, NoneType}),
    Kind.DECIMAL: frozenset(),
    Kind.VARCHAR: frozenset({str, NoneType}),
    Kind.STRING: frozenset({str, NoneType}),
    Kind.BINARY: frozenset({bytes, NoneType}),
}


def array_of(values: Sequence[Any], column: ColumnSchema, first: int = 0) -> pa.Array:
    """A column's values as users write them, as an array of its own Arrow type.

    `values`: Python values, one a row; `column`: that receives them; `first`: how many rows are
    before these. Raises DataError: a value does not fit; the message names column and, of several,
    the row.
    """
    if _PLAIN[column.type.kind].issuperset(map(type, values)):
        try:
            own = pa.float64() if column.type.kind is Kind.FLOAT else column.type.arrow
            return coerce(pa.array(values, own), column.type, column.name)
        except (pa.ArrowException, OverflowError, UnicodeError):
            # The slow way below finds the value at fault and says what is wrong with it.
            return _array_by_cells(values, column, first)
    return _array_by_cells(values, column, first)


def _array_by_cells(values: Sequence[Any], column: ColumnSchema, first: int) -> pa.Array:
    cells = []
    for row, value in enumerate(values, first + 1):
        try:
            cells.append(to_cell(value, column.type))
        except DataError as error:
            place = f"row {row}, " if row > 1 or len(values) > 1 else ""
            raise type(error)(
                f"{place}column '{column.name}': {error.message}",
                hint=error.hint,
                sqlstate=error.sqlstate,
            ) from error
    return cells_to_array(cells, column.type)
