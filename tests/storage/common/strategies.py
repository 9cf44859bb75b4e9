"""Hypothesis strategies: schemas, cells and batches of rows of any column types."""

import math
from collections.abc import Sequence
from functools import cache

import pyarrow as pa
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type

KEY_TYPES = (
    DataType(Kind.INT8),
    DataType(Kind.INT16),
    DataType(Kind.INT32),
    DataType(Kind.INT64),
    DataType(Kind.DATE),
    DataType(Kind.UNIXTIME_MICROS),
    decimal_type(7, 2),
    decimal_type(16, 4),
    decimal_type(38, 0),
    DataType(Kind.VARCHAR, length=9),
    DataType(Kind.STRING),
    DataType(Kind.BINARY),
)
ALL_TYPES = (*KEY_TYPES, DataType(Kind.BOOL), DataType(Kind.FLOAT), DataType(Kind.DOUBLE))

_CHARACTERS = st.sampled_from("\0\1\2ab\x7f\x80é\ud7ff\ue000\uffff\U0001f600\U0010ffff")


@cache
def cells(column_type: DataType) -> st.SearchStrategy[Cell]:
    """Cells of a type, mostly near each other and near the ends of its range."""
    if column_type.kind is Kind.BOOL:
        return st.booleans()
    if column_type.is_floating:
        near = st.sampled_from((0.0, -0.0, 1.0, 2.5, math.nan, math.inf, -math.inf))
        return near | (st.floats(width=32) if column_type.kind is Kind.FLOAT else st.floats())
    if column_type.integer_range is not None:
        low, high = column_type.integer_range
        return (
            st.integers(-3, 3)
            | st.sampled_from((low, low + 1, high - 1, high))
            | st.integers(low, high)
        )
    if column_type.is_text:
        size = column_type.length or 20
        return st.text(_CHARACTERS, max_size=min(3, size)) | st.text(_CHARACTERS, max_size=size)
    return st.binary(max_size=3) | st.binary(max_size=20)


def column_list(types: Sequence[DataType]) -> list[ColumnSchema]:
    """Columns c0, c1, ... of some types."""
    return [ColumnSchema(i, f"c{i}", kind) for i, kind in enumerate(types)]


def key_schema(types: Sequence[DataType]) -> Schema:
    """A table whose columns all belong to the key."""
    columns = column_list(types)
    return create_schema(columns, [column.name for column in columns])


def to_columns(
    types: Sequence[DataType], rows: Sequence[Sequence[Cell]], *, as_dictionary: bool = False
) -> dict[int, pa.Array]:
    """Rows of cells as columns by id; strings as dictionaries when asked."""
    columns = {}
    for index, column_type in enumerate(types):
        values = cells_to_array([row[index] for row in rows], column_type)
        if as_dictionary and column_type.is_variable:
            values = values.dictionary_encode()
        columns[index] = values
    return columns


@st.composite
def key_batches(
    draw: st.DrawFn, max_columns: int = 4
) -> tuple[list[DataType], list[tuple[Cell, ...]]]:
    """Types of a key, and rows of it."""
    types = draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=max_columns))
    rows = st.tuples(*(cells(column_type) for column_type in types))
    return types, draw(st.lists(rows, max_size=30))


@cache
def rows_of(
    types: tuple[DataType, ...], *, nullable: bool = False
) -> st.SearchStrategy[list[tuple[Cell, ...]]]:
    """Up to a dozen rows of some types."""
    row = st.tuples(*((st.none() | cells(kind)) if nullable else cells(kind) for kind in types))
    return st.lists(row, max_size=12)
