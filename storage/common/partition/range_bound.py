"""Bounds of range partitions: checking, stepping to the next key, and writing them as SQL.

A bound is a tuple of one cell for each range column. Storage knows only inclusive lower and
exclusive upper bounds; what a statement writes otherwise (`<= 5`, `VALUE = 5`) is turned into
them by stepping to the next tuple (Kudu's `common/key_util.cc`): the last column is incremented,
carrying into the one before at its maximum; a string's next is the string and a NUL.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import MAX_CELL_BYTES, Cell, DataType, Kind
from pykudu_sql.storage.errors import InvalidSchemaError, ValueOutOfRangeError

Bound = tuple[Any, ...]
"""Cells, which order among themselves as tuples do."""


def inclusive_lower(columns: Sequence[ColumnSchema], exclusive: Bound) -> Bound:
    """The inclusive lower bound that stands for an exclusive one.

    Raises InvalidSchemaError: every column is at its maximum, so nothing lies above.
    """
    following = increment(columns, exclusive)
    if following is None:
        raise InvalidSchemaError(
            "exclusive lower bound of a range partition must not have the maximum value in all "
            f"columns: {tuple_text(columns, exclusive)}"
        )
    return following


def exclusive_upper(columns: Sequence[ColumnSchema], inclusive: Bound) -> Bound | None:
    """The exclusive upper bound that stands for an inclusive one; None when nothing lies above."""
    return increment(columns, inclusive)


def increment(columns: Sequence[ColumnSchema], cells: Bound) -> Bound | None:
    """The next tuple in key order, None after the greatest."""
    result = list(cells)
    for index in range(len(columns) - 1, -1, -1):
        cell, column_type = result[index], columns[index].type
        if isinstance(cell, str):
            result[index] = cell + "\0"
        elif isinstance(cell, bytes):
            result[index] = cell + b"\0"
        else:
            low, high = column_type.integer_range or (0, 0)
            if cell == high:
                result[index] = low
                continue
            result[index] = cell + 1
        return tuple(result)
    return None


def check_bound(columns: Sequence[ColumnSchema], bound: Bound | None) -> None:
    """Check that a bound has a fitting cell for each range column.

    Raises InvalidSchemaError: it has not.
    """
    if bound is None:
        return
    if len(bound) != len(columns):
        raise InvalidSchemaError(
            f"range partition bound has {noun_count(len(bound), 'value')} for "
            f"{noun_count(len(columns), 'column')}",
            hint=f"give one value for each of {', '.join(c.name for c in columns)}",
        )
    for column, cell in zip(columns, bound, strict=True):
        if cell is None:
            raise InvalidSchemaError(f"range partition bound of column '{column.name}' is NULL")
        limits = column.type.integer_range
        if isinstance(cell, str | bytes):
            fits = len(cell.encode() if isinstance(cell, str) else cell) <= MAX_CELL_BYTES
        else:
            fits = limits is not None and limits[0] <= cell <= limits[1]
        if not fits or column.type.is_variable != isinstance(cell, str | bytes):
            raise InvalidSchemaError(
                f"value {cell!r:.80} does not fit column '{column.name}' of type {column.type}"
            )


def range_text(columns: Sequence[ColumnSchema], lower: Bound | None, upper: Bound | None) -> str:
    """A range as a statement writes it: `10 <= VALUES < 20`, `VALUE = 5`, `UNBOUNDED`."""
    if lower is None and upper is None:
        return "UNBOUNDED"
    if lower is not None and increment(columns, lower) == upper:
        return f"VALUE = {tuple_text(columns, lower)}"
    left = right = ""
    if lower is not None:
        stepped = _before_step(lower)
        left = f"{tuple_text(columns, stepped or lower)} {'<' if stepped else '<='} "
    if upper is not None:
        stepped = _before_step(upper)
        right = f" {'<=' if stepped else '<'} {tuple_text(columns, stepped or upper)}"
    return f"{left}VALUES{right}"


def _before_step(bound: Bound) -> Bound | None:
    """The bound that `increment` made this from, where a string shows it by its NUL."""
    last = bound[-1]
    end: str | bytes = b"\0" if isinstance(last, bytes) else "\0"
    if isinstance(last, str | bytes) and last[-1:] == end:
        return (*bound[:-1], last[:-1])
    return None


def tuple_text(columns: Sequence[ColumnSchema], cells: Bound) -> str:
    """Cells as SQL literals, in parentheses when there are several."""
    texts = [literal(cell, c.type) for cell, c in zip(cells, columns, strict=True)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def literal(cell: Cell, column_type: DataType) -> str:
    """A cell as a SQL literal that the column's type reads back."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        shortest = str(np.float32(cell) if column_type.kind is Kind.FLOAT else cell)
        # Only text names infinities and NaN.
        return shortest if math.isfinite(cell) else f"'{shortest}'"
    if isinstance(cell, bytes):
        return f"X'{cell.hex().upper()}'"
    if isinstance(cell, str):
        return "'" + cell.replace("'", "''") + "'"
    if column_type.kind is Kind.DATE:
        return f"'{from_cell(cell, column_type)}'"
    if column_type.kind is Kind.UNIXTIME_MICROS:
        return _timestamp_literal(cell, column_type)
    if column_type.kind is Kind.DECIMAL:
        return f"{from_cell(cell, column_type):f}"
    return str(cell)


def _timestamp_literal(cell: Cell, column_type: DataType) -> str:
    """A time as text, or as microseconds where no calendar of Python reaches."""
    try:
        return f"'{from_cell(cell, column_type)}'"
    except ValueOutOfRangeError:
        return str(cell)
