"""Columns of a result as arrays of numpy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.types.from_buffers import cells_as

_HalfType = type[np.int64] | type[np.uint64]
_HIGH_HALVES: Mapping[str, _HalfType] = {"HUGEINT": np.int64, "UHUGEINT": np.uint64}


def numpy_columns(table: pa.Table, types: Sequence[str]) -> dict[str, Any]:
    """The columns of a table by their names; a name that is there already gets a number, as in
    DuckDB: `a`, `a_1`, `a_2`.

    `types`: SQL types of the columns; integers of 128 bits become DOUBLE, as there.
    """
    arrays: dict[str, Any] = {}
    for name, column, sql_type in zip(table.column_names, table.columns, types, strict=True):
        numbered = (f"{name}_{number}" for number in range(1, len(arrays) + 1))
        free = name if name not in arrays else next(n for n in numbered if n not in arrays)
        high = _HIGH_HALVES.get(sql_type)
        arrays[free] = numpy_column(column if high is None else _as_doubles(column, high))
    return arrays


def _as_doubles(column: pa.ChunkedArray, high_kind: _HalfType) -> pa.ChunkedArray:
    """Integers of 128 bits, which come as decimals, as DOUBLE.

    `high_kind`: numpy's type of the upper half, which has the sign.
    """
    chunks = []
    for chunk in column.chunks:
        halves = cells_as(chunk, np.dtype((np.uint64, 2))).reshape(-1, 2)
        low, high = halves[:, 0], halves[:, 1].view(high_kind)
        numbers = np.where(high == -1, -(~low + 1.0), low + high * 2.0**64)
        chunks.append(pa.array(numbers, mask=~chunk.is_valid().to_numpy(False)))
    return pa.chunked_array(chunks, pa.float64())


def numpy_column(column: pa.ChunkedArray) -> Any:
    """The values of a column; a masked array where some are NULL.

    Numbers, truth and times have the types of numpy that are like theirs, all else is objects.
    """
    if not column.null_count:
        return column.to_numpy()
    mask = column.is_null().to_numpy()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        column = column.fill_null(False if pa.types.is_boolean(kind) else 0)
    return np.ma.masked_array(column.to_numpy(), mask)
