"""One row's deltas, and the single change that is their combined effect.

The rows of a batch of deltas are sorted, so what one row's records come to is found by binary
search, column by column: however often the row changed, only the last record of each column is
looked at. Point reads are built on this; scans take whole columns (`delta_view`). The search is
Python's, which keeps the interpreter's lock; see `EncodedKeys`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import field

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import DeltaCells, Deltas, Timestamps


@dataclass(frozen=True, slots=True)
class RowChange:
    """One change of one row, or the combined effect of several.

    Attributes:
        timestamp: hybrid time, of the last where it stands for several.
        kind: what it did; of several the last that deleted the row or inserted it again.
        cells: set, by column id.
        order: ascends with the changes of a store, also among those of one commit.
    """

    timestamp: Timestamp
    kind: DeltaKind
    cells: Mapping[int, Cell]
    order: int = field(default=0, compare=False)


def records_of(deltas: Deltas, ordinal: int) -> tuple[int, int]:
    """The records of a row: the first, and one past the last."""
    ordinals = deltas.ordinals.data
    first = bisect_left(ordinals, ordinal)
    if first == len(ordinals) or ordinals[first] != ordinal:
        return first, first
    return first, bisect_right(ordinals, ordinal, first)


def earlier(timestamps: Timestamps, first: int, stop: int, bound: SnapshotBound) -> int:
    """One past the last of a row's REDO records that are below a bound."""
    return bisect_left(timestamps.data, bound, first, stop)


def later(timestamps: Timestamps, first: int, stop: int, bound: SnapshotBound) -> int:
    """One past the last of a row's UNDO records, newest first, that are not below a bound."""
    ascending = timestamps[first:stop][::-1]
    return stop - int(ascending.searchsorted(np.uint64(bound)))


def last_position(positions: npt.NDArray[np.int64], first: int, stop: int) -> int:
    """Where in a column's cells the last of the records first <= record < stop is, or -1."""
    position = bisect_left(positions.data, stop) - 1
    return position if position >= 0 and positions[position] >= first else -1


def cell_at(cells: DeltaCells, position: int, column_type: DataType) -> Cell:
    """The cell at a place."""
    return array_to_cells(cells.values.slice(position, 1), column_type)[0]


def last_decision(deltas: Deltas, first: int, stop: int) -> int:
    """The last of the records first <= record < stop that is no UPDATE, or -1."""
    kinds = deltas.kinds[first:stop]
    if int(kinds[-1]) != DeltaKind.UPDATE:
        return stop - 1
    if not int(kinds.max()):
        return -1
    return first + int(np.flatnonzero(kinds)[-1])


def outcome_of(
    deltas: Deltas,
    first: int,
    stop: int,
    column_ids: Collection[int],
    types: Mapping[int, DataType],
) -> RowChange | None:
    """The combined effect of the records first <= record < stop of a row; None without any.

    Args:
        deltas: that hold them, in REDO or UNDO order.
        first, stop: the records.
        column_ids: whose cells are wanted.
    """
    if first >= stop:
        return None
    cells: dict[int, Cell] = {}
    for column_id in column_ids:
        column = deltas.cells.get(column_id)
        if column is not None:
            position = last_position(column.positions, first, stop)
            if position >= 0:
                cells[column_id] = cell_at(column, position, types[column_id])
    decision = last_decision(deltas, first, stop)
    kind = DeltaKind.UPDATE if decision < 0 else DeltaKind(int(deltas.kinds[decision]))
    return RowChange(Timestamp(int(deltas.timestamps[stop - 1])), kind, cells)
