"""Few rows in the order of an ORDER BY: their places, by Arrow's kernels.

The engine takes milliseconds to set up a sort, whatever the number of rows.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql.planner.plan.query_plans import ScannedRows, SortKey
from pykudu_sql.storage.common.types.arrays import combine
from pykudu_sql.storage.common.types.from_buffers import integers

_MOST_SORTED: Final = 8 * 1024  # more are sorted faster by the engine, on several threads

_WORD_BITS: Final = 64
_INTEGERS: Final = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_DIRECTIONS: Final = ("ascending", "descending")
_PLACEMENTS: Final = ("at_end", "at_start")


def sorted_places(
    columns: Mapping[int, pa.Array | pa.ChunkedArray], scanned: ScannedRows
) -> pa.Array | None:
    """The places of the rows that are shown, in their order; None where the engine has to sort.

    `columns`: of all rows by id, those of the sort among them, of one length.
    """
    keys = {str(key.column_id): key for key in scanned.sort}
    rows = pa.table({name: columns[key.column_id] for name, key in keys.items()})
    if any(map(_has_nan, rows.columns)):
        return None  # Arrow puts it last in both directions, the engine before all numbers in one
    end = rows.num_rows if scanned.limit is None else scanned.offset + scanned.limit
    if rows.num_rows > _MOST_SORTED:
        if end > _MOST_SORTED or any(column.null_count for column in rows.columns):
            return None
        if not end:
            return integers(np.empty(0, np.int64))
        reached = _reaching(rows.column(0), end, descending=scanned.sort[0].descending)
        if reached is None or len(reached) > _MOST_SORTED:
            order = [(name, _DIRECTIONS[key.descending]) for name, key in keys.items()]
            return pc.select_k_unstable(rows, end, order)[scanned.offset :]
        return reached.take(_in_order(rows.take(reached), keys)[scanned.offset : end])
    return _in_order(rows, keys)[scanned.offset : end]


def _in_order(rows: pa.Table, keys: Mapping[str, SortKey]) -> pa.Array:
    """The places of all rows in the order of keys, by the names of their columns."""
    placed = [
        (name, _DIRECTIONS[key.descending], _PLACEMENTS[key.nulls_first])
        for name, key in keys.items()
    ]
    return pc.sort_indices(rows, placed)


def _reaching(column: pa.ChunkedArray, count: int, *, descending: bool) -> pa.Array | None:
    """The places of the cells that the first so many reach; None of cells that are no numbers.

    NumPy's partition takes the same time for cells in any order. Arrow's heap takes forty times as
    long for those that come in the opposite one.
    """
    kind = column.type
    is_number = pa.types.is_primitive(kind) and not pa.types.is_boolean(kind)
    if not is_number and not (pa.types.is_decimal(kind) and kind.bit_width <= _WORD_BITS):
        return None
    cells = combine(column)
    if not pa.types.is_floating(kind):
        cells = cells.view(_INTEGERS[kind.bit_width])
    numbers = cells.to_numpy()
    place = len(numbers) - count if descending else count - 1
    edge = np.partition(numbers, place)[place]
    return integers(np.flatnonzero(numbers >= edge if descending else numbers <= edge))


def _has_nan(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())
