"""Deltas: changes of rows by ordinal, held as columns.

A delta says that the row at an ordinal of one rowset was, at a hybrid time, updated in some
columns, deleted, or inserted again. Kudu keeps such changes as encoded change lists
(`tablet/deltafile.cc`); here they are columns, so that applying them is a scatter:

    record    0        1        2        3
    ordinal   4        4        7        9
    timestamp 100      130      110      120
    kind      UPDATE   UPDATE   DELETE   UPDATE
    column 2  positions [0, 1, 3]   values ['a', 'b', 'c']

REDO deltas are sorted by ordinal and ascending time and lead forward from the base image; UNDO
deltas are sorted by ordinal and descending time and lead back. Changes of one row at one time keep
the order in which they were made (reversed for UNDO), so within an ordinal the *last* visible
record always wins and the same scatter serves both directions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.arrays import plain

Ordinals = npt.NDArray[np.int64]
Timestamps = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.uint8]


class DeltaKind(IntEnum):
    """What a delta does to its row."""

    UPDATE = 0
    DELETE = 1
    REINSERT = 2


@dataclass(frozen=True, slots=True)
class DeltaCells:
    """The changed cells of one column.

    Attributes:
        positions: indices of the records that set the column, ascending, int64[m].
        values: the cells they set, m values, never dictionary-encoded.
    """

    positions: Ordinals
    values: pa.Array


@dataclass(frozen=True, slots=True)
class Deltas:
    """A sorted batch of deltas of one rowset (see the module's text).

    Attributes:
        ordinals: int64[n].
        timestamps: hybrid times, uint64[n].
        kinds: `DeltaKind`, uint8[n].
        cells: by column id.
    """

    ordinals: Ordinals
    timestamps: Timestamps
    kinds: Kinds
    cells: Mapping[int, DeltaCells]

    def __len__(self) -> int:
        return len(self.ordinals)


@dataclass(frozen=True, slots=True)
class DeltaStats:
    """What lets a scan skip a whole delta file (Kudu's `DeltaStats`).

    Attributes:
        min_timestamp, max_timestamp: of its records.
        deletes, reinserts: how many records of each kind.
        updates: cells set, by column id.
        records: all records.
    """

    min_timestamp: int
    max_timestamp: int
    deletes: int
    reinserts: int
    updates: Mapping[int, int]
    records: int

    def to_json(self) -> dict[str, Any]:
        """The statistics as plain JSON values."""
        return {
            "min": self.min_timestamp,
            "max": self.max_timestamp,
            "deletes": self.deletes,
            "reinserts": self.reinserts,
            "updates": {str(i): n for i, n in self.updates.items()},
            "records": self.records,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DeltaStats":
        """The inverse of `to_json`."""
        return cls(
            value["min"],
            value["max"],
            value["deletes"],
            value["reinserts"],
            {int(i): n for i, n in value["updates"].items()},
            value["records"],
        )


@dataclass(frozen=True, slots=True)
class ColumnPatch:
    """The one cell that wins for each changed row of a column.

    Attributes:
        ordinals: ascending and distinct, int64[m].
        values: m cells.
    """

    ordinals: Ordinals
    values: pa.Array


def no_deltas() -> Deltas:
    """An empty batch."""
    return Deltas(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.uint8), {})


def uniform_deltas(
    kind: DeltaKind, ordinals: Ordinals, columns: Mapping[int, pa.Array], timestamp: int
) -> Deltas:
    """Deltas of one kind and time that all set the same columns, sorted by ordinal.

    Args:
        kind: their kind.
        ordinals: int64[n], in any order.
        columns: new cells by column id, n each, in the order of `ordinals`.
        timestamp: hybrid time.
    """
    order = np.argsort(ordinals, kind="stable")
    everything = np.arange(len(ordinals), dtype=np.int64)
    chosen = pa.array(order)
    return Deltas(
        ordinals[order],
        np.full(len(ordinals), timestamp, np.uint64),
        np.full(len(ordinals), int(kind), np.uint8),
        {i: DeltaCells(everything, plain(values).take(chosen)) for i, values in columns.items()},
    )


def stats(deltas: Deltas) -> DeltaStats:
    """The statistics of a non-empty batch."""
    return DeltaStats(
        int(deltas.timestamps.min()),
        int(deltas.timestamps.max()),
        int(np.count_nonzero(deltas.kinds == DeltaKind.DELETE)),
        int(np.count_nonzero(deltas.kinds == DeltaKind.REINSERT)),
        {i: len(cells.positions) for i, cells in deltas.cells.items()},
        len(deltas),
    )


def merge_redo(parts: Sequence[Deltas]) -> Deltas:
    """REDO batches, given in the order of their making, as one."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return no_deltas()
    if len(parts) == 1:
        return parts[0]
    ordinals = np.concatenate([part.ordinals for part in parts])
    timestamps = np.concatenate([part.timestamps for part in parts])
    kinds = np.concatenate([part.kinds for part in parts])
    starts = np.cumsum([0] + [len(part) for part in parts])
    cells: dict[int, DeltaCells] = {}
    for column_id in {i: None for part in parts for i in part.cells}:
        having = [
            (s, p.cells[column_id])
            for s, p in zip(starts, parts, strict=False)
            if column_id in p.cells
        ]
        cells[column_id] = DeltaCells(
            np.concatenate([start + c.positions for start, c in having]),
            concat_values([c.values for _, c in having]),
        )
    order = np.lexsort((timestamps, ordinals))
    return reorder(Deltas(ordinals, timestamps, kinds, cells), order)


def reorder(deltas: Deltas, order: Ordinals) -> Deltas:
    """The records in another order: the i-th is the one that was at order[i]."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order), dtype=np.int64)
    cells: dict[int, DeltaCells] = {}
    for column_id, old in deltas.cells.items():
        moved = place[old.positions]
        inner = np.argsort(moved, kind="stable")
        cells[column_id] = DeltaCells(moved[inner], old.values.take(pa.array(inner)))
    return Deltas(deltas.ordinals[order], deltas.timestamps[order], deltas.kinds[order], cells)


def reverse_time(deltas: Deltas) -> Deltas:
    """The batch re-sorted for the other direction: REDO order to UNDO order and back."""
    backwards = np.arange(len(deltas) - 1, -1, -1, dtype=np.int64)
    order = backwards[np.argsort(deltas.ordinals[backwards], kind="stable")]
    return reorder(deltas, order)


def select(deltas: Deltas, mask: npt.NDArray[np.bool_]) -> Deltas:
    """The records where a mask is true, bool[n]."""
    if mask.all():
        return deltas
    place = np.cumsum(mask, dtype=np.int64) - 1
    cells: dict[int, DeltaCells] = {}
    for column_id, old in deltas.cells.items():
        kept = mask[old.positions]
        if kept.any():
            cells[column_id] = DeltaCells(
                place[old.positions[kept]], old.values.filter(pa.array(kept))
            )
    return Deltas(deltas.ordinals[mask], deltas.timestamps[mask], deltas.kinds[mask], cells)


def winners(deltas: Deltas, column_id: int) -> ColumnPatch | None:
    """For each row that the batch changes in a column, the cell of its last record."""
    cells = deltas.cells.get(column_id)
    if cells is None or not len(cells.positions):
        return None
    ordinals = deltas.ordinals[cells.positions]
    last = last_of_each(ordinals)
    if last.all():
        return ColumnPatch(ordinals, cells.values)
    return ColumnPatch(ordinals[last], cells.values.filter(pa.array(last)))


def liveness(deltas: Deltas) -> tuple[Ordinals, npt.NDArray[np.bool_]]:
    """Rows that the batch deletes or inserts again, ascending, and whether they end up alive."""
    decisive = deltas.kinds != DeltaKind.UPDATE
    ordinals, kinds = deltas.ordinals[decisive], deltas.kinds[decisive]
    last = last_of_each(ordinals)
    return ordinals[last], kinds[last] == DeltaKind.REINSERT


def last_of_each(ordinals: Ordinals) -> npt.NDArray[np.bool_]:
    """True at the last place of each run of equal values of a sorted array."""
    last = np.ones(len(ordinals), np.bool_)
    np.not_equal(ordinals[:-1], ordinals[1:], out=last[:-1])
    return last


def concat_values(arrays: Iterable[pa.Array]) -> pa.Array:
    """Arrays one after another, without dictionary encoding."""
    decoded = [plain(array) for array in arrays]
    return decoded[0] if len(decoded) == 1 else pa.concat_arrays(decoded)
