"""Few rows in the order of an ORDER BY: their places, by Arrow's kernels.

The engine takes milliseconds to set up a sort, whatever the number of rows.
"""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql.planner.plan.query_plans import ScannedRows

_MOST_SORTED: Final = 8 * 1024  # more are sorted faster by the engine, on several threads

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
        order = [(name, _DIRECTIONS[key.descending]) for name, key in keys.items()]
        return pc.select_k_unstable(rows, end, order)[scanned.offset :]
    placed = [
        (name, _DIRECTIONS[key.descending], _PLACEMENTS[key.nulls_first])
        for name, key in keys.items()
    ]
    return pc.sort_indices(rows, placed)[scanned.offset : end]


def _has_nan(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())
