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

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.from_buffers import flags
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.widening import in_one_type
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaStats
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind

Ordinals = npt.NDArray[np.int64]
Timestamps = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.uint8]
# Rows, and the cell that each is set to, texts perhaps in a dictionary of few words.
CellsSet = tuple[Ordinals, pa.Array]


@dataclass(frozen=True, slots=True)
class DeltaCells:
    """The changed cells of one column.

    Attributes:
        positions: indices of the records that set the column, ascending, int64[m].
        values: the cells they set, m values, never dictionary-encoded.
        coded_values: the same in codes of a dictionary, where they arrived together and are few
            words; None where nobody looked.
    """

    positions: Ordinals
    values: pa.Array
    coded_values: pa.DictionaryArray | None = None


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


class CellPatch(Protocol):
    """The one cell that wins for each changed row of a column, in memory or where it is stored."""

    @property
    def ordinals(self) -> Ordinals:
        """Of the rows, ascending and distinct, int64[m]; not empty."""

    @property
    def values(self) -> pa.Array:
        """All m cells."""

    def between(self, start: int, stop: int) -> "ColumnPatch | None":
        """The part for rows start <= ordinal < stop, or None."""

    def at_ordinals(self, ordinals: Ordinals) -> "ColumnPatch | None":
        """The part for some rows, by index among them, or None.

        `ordinals`: of the rows, distinct, in any order.
        """


@dataclass(frozen=True, slots=True)
class ColumnPatch:
    """A `CellPatch` in memory.

    `ordinals`: ascending and distinct, int64[m]; `values`: m cells.
    """

    ordinals: Ordinals
    values: pa.Array

    def between(self, start: int, stop: int) -> "ColumnPatch | None":
        """See `CellPatch`."""
        ordinals = self.ordinals
        if start <= ordinals[0] and ordinals[-1] < stop:
            return self
        first, last = np.searchsorted(ordinals, (start, stop))
        if first == last:
            return None
        return ColumnPatch(ordinals[first:last], self.values.slice(first, last - first))

    def at_ordinals(self, ordinals: Ordinals) -> "ColumnPatch | None":
        """See `CellPatch`."""
        indices, places = places_of(self.ordinals, ordinals)
        if not len(indices):
            return None
        return ColumnPatch(indices, take_ordinals(self.values, places))


def places_of(changed: Ordinals, requested_ordinals: Ordinals) -> tuple[Ordinals, Ordinals]:
    """Which of the rows wanted are changed ones: their indices among them, and among the changed.

    `changed`: ascending; `requested_ordinals`: in any order.
    """
    if not len(changed):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    positions = np.searchsorted(changed, requested_ordinals)
    np.minimum(positions, len(changed) - 1, out=positions)
    indices = np.flatnonzero(changed[positions] == requested_ordinals)
    return indices, positions[indices]


def places_in_order(changed: Ordinals, requested_ordinals: Ordinals) -> tuple[Ordinals, Ordinals]:
    """As `places_of` for rows in ascending order: the fewer are searched for among the more.

    `changed`, `requested_ordinals`: ascending and distinct, the latter not empty.
    """
    first, last = np.searchsorted(changed, (requested_ordinals[0], requested_ordinals[-1] + 1))
    within_span = changed[first:last]
    if len(within_span) < len(requested_ordinals):
        indices = np.searchsorted(requested_ordinals, within_span)
        hits = np.flatnonzero(requested_ordinals[indices] == within_span)
        return indices[hits], hits + first
    indices, places = places_of(within_span, requested_ordinals)
    return indices, places + first


def no_deltas() -> Deltas:
    """An empty batch."""
    return Deltas(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.uint8), {})


def uniform_deltas(
    kind: DeltaKind, ordinals: Ordinals, columns: Mapping[int, pa.Array], timestamp: Timestamp
) -> Deltas:
    """Deltas of one kind and time that all set the same columns, sorted by ordinal.

    Args:
        kind: their kind.
        ordinals: int64[n], in any order.
        columns: new cells by column id, n each, in the order of `ordinals`.
        timestamp: hybrid time.
    """
    ordinals, cells = by_ordinal(ordinals, columns)
    everything = np.arange(len(ordinals), dtype=np.int64)
    return Deltas(
        ordinals,
        np.full(len(ordinals), timestamp, np.uint64),
        np.full(len(ordinals), int(kind), np.uint8),
        {i: DeltaCells(everything, values) for i, values in cells.items()},
    )


def by_ordinal(
    ordinals: Ordinals, columns: Mapping[int, pa.Array]
) -> tuple[Ordinals, dict[int, pa.Array]]:
    """Ordinals in ascending order, and the cells of the same rows, without dictionaries."""
    cells = {i: plain(values) for i, values in columns.items()}
    if (ordinals[1:] >= ordinals[:-1]).all():
        return ordinals, cells
    order = np.argsort(ordinals, kind="stable")
    return ordinals[order], {i: take_ordinals(values, order) for i, values in cells.items()}


def stats(deltas: Deltas) -> DeltaStats:
    """The statistics of a non-empty batch."""
    return DeltaStats(
        Timestamp(int(deltas.timestamps.min())),
        Timestamp(int(deltas.timestamps.max())),
        int(np.count_nonzero(deltas.kinds == DeltaKind.DELETE)),
        int(np.count_nonzero(deltas.kinds == DeltaKind.REINSERT)),
        {i: len(cells.positions) for i, cells in deltas.cells.items()},
        len(deltas),
    )


def merge_redo(parts: Sequence[Deltas]) -> Deltas:
    """REDO batches, given in the order of their making, as one."""
    return _merged(parts, lambda joined: joined.timestamps)


def merge_undo(parts: Sequence[Deltas]) -> Deltas:
    """UNDO batches as one; of one column, those of a later batch are the older ones.

    Batches of different columns overlap in time: a major delta compaction of one column writes the
    way back over its updates alone, and the REDO of the others, older or newer, is turned later.
    """
    return _merged(parts, lambda joined: ~joined.timestamps)


def _merged(parts: Sequence[Deltas], times: Callable[[Deltas], Timestamps]) -> Deltas:
    """Sorted batches as one, sorted by ordinal and then by ascending `times`."""
    parts = [part for part in parts if len(part)]
    joined = append_deltas(parts)
    if len(parts) <= 1:
        return joined
    ends = [(times(part).min(), times(part).max()) for part in parts]
    if all(before[1] <= after[0] for before, after in pairwise(ends)):
        # Batches that follow each other in time are runs for a stable sort, which merges them.
        return reorder(joined, np.argsort(joined.ordinals, kind="stable"))
    return reorder(joined, np.lexsort((times(joined), joined.ordinals)))


def append_deltas(parts: Sequence[Deltas]) -> Deltas:
    """The records of some batches one after another, not sorted."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return no_deltas()
    if len(parts) == 1:
        return parts[0]
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
    return Deltas(
        np.concatenate([part.ordinals for part in parts]),
        np.concatenate([part.timestamps for part in parts]),
        np.concatenate([part.kinds for part in parts]),
        cells,
    )


def between(deltas: Deltas, start: int, stop: int) -> Deltas:
    """The records of the rows start <= ordinal < stop, by ordinals counted from start."""
    first, last = np.searchsorted(deltas.ordinals, (start, stop)).tolist()
    cells: dict[int, DeltaCells] = {}
    for column_id, column in deltas.cells.items():
        low, high = np.searchsorted(column.positions, (first, last)).tolist()
        if low < high:
            cells[column_id] = DeltaCells(
                column.positions[low:high] - first, column.values.slice(low, high - low)
            )
    return Deltas(
        deltas.ordinals[first:last] - start,
        deltas.timestamps[first:last],
        deltas.kinds[first:last],
        cells,
    )


def of_rows(deltas: Deltas, rows: Ordinals) -> Deltas:
    """The records of some rows, by place among them; `rows`: ordinals, ascending and distinct."""
    places = np.searchsorted(rows, deltas.ordinals)
    mask = places < len(rows)
    mask[mask] = rows[places[mask]] == deltas.ordinals[mask]
    records = select(deltas, mask)
    return Deltas(places[mask], records.timestamps, records.kinds, records.cells)


def within(
    timestamps: Timestamps, low: SnapshotBound, high: SnapshotBound
) -> npt.NDArray[np.bool_]:
    """Which times are low <= t < high."""
    return (timestamps >= np.uint64(low)) & (timestamps < np.uint64(high))


def within_times(deltas: Deltas, low: Timestamp, high: SnapshotBound) -> Deltas:
    """The records at times low <= t < high."""
    times = deltas.timestamps
    if not len(times) or (low <= times.min() and times.max() < high):
        return deltas
    return select(deltas, within(times, SnapshotBound(low), high))


def shifted(deltas: Deltas, start: int) -> Deltas:
    """The batch with ordinals counted on from start."""
    return Deltas(deltas.ordinals + start, deltas.timestamps, deltas.kinds, deltas.cells)


def reorder(deltas: Deltas, order: Ordinals) -> Deltas:
    """The records in another order: the i-th is the one that was at order[i]."""
    everything = np.arange(len(order), dtype=np.int64)
    if np.array_equal(order, everything):
        return deltas
    new_positions = np.empty(len(order), np.int64)
    new_positions[order] = everything
    cells: dict[int, DeltaCells] = {}
    for column_id, old in deltas.cells.items():
        if len(old.positions) == len(order):  # every record sets the column
            positions, inner = everything, order
        else:
            moved = new_positions[old.positions]
            inner = np.argsort(moved, kind="stable")
            positions = moved[inner]
        cells[column_id] = DeltaCells(positions, take_ordinals(old.values, inner))
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
    new_positions = np.cumsum(mask, dtype=np.int64) - 1
    cells: dict[int, DeltaCells] = {}
    for column_id, old in deltas.cells.items():
        cell_mask = mask[old.positions]
        if cell_mask.any():
            cells[column_id] = DeltaCells(
                new_positions[old.positions[cell_mask]], old.values.filter(flags(cell_mask))
            )
    return Deltas(deltas.ordinals[mask], deltas.timestamps[mask], deltas.kinds[mask], cells)


def winners(
    deltas: Deltas, column_id: int, mask: npt.NDArray[np.bool_] | None = None
) -> ColumnPatch | None:
    """For each row that the batch changes in a column, the cell of its last record.

    Args:
        deltas: in REDO or UNDO order.
        column_id: of the column.
        mask: the records that count, bool[n]; None for all.
    """
    cells = deltas.cells.get(column_id)
    if cells is None or not len(cells.positions):
        return None
    ordinals, values = deltas.ordinals, cells.values
    if len(cells.positions) < len(deltas):
        ordinals = ordinals[cells.positions]
    if mask is not None:
        cell_mask = mask[cells.positions]
        ordinals, values = ordinals[cell_mask], values.filter(flags(cell_mask))
    if not is_distinct(ordinals):
        last = last_of_each(ordinals)
        ordinals, values = ordinals[last], values.filter(flags(last))
    return ColumnPatch(ordinals, values) if len(ordinals) else None


def cells_set_by(changes: Iterable[Deltas], column_id: int) -> list[CellsSet]:
    """What batches set in a column, one after another; a row comes as often as it is set."""
    having = [(deltas, deltas.cells[column_id]) for deltas in changes if column_id in deltas.cells]
    return [
        (
            d.ordinals if len(c.positions) == len(d.ordinals) else d.ordinals[c.positions],
            c.values if c.coded_values is None else c.coded_values,
        )
        for d, c in having
    ]


def joined(changes: Sequence[CellsSet]) -> CellsSet:
    """Changes one after another as one without dictionary, in which a row may come repeatedly."""
    values = concat_values(values for _, values in changes)
    if len(changes) == 1:
        return changes[0][0], values
    return np.concatenate([ordinals for ordinals, _ in changes]), values


def liveness(
    deltas: Deltas, mask: npt.NDArray[np.bool_] | None = None
) -> tuple[Ordinals, npt.NDArray[np.bool_]]:
    """Rows that the batch deletes or inserts again, ascending, and whether they end up alive.

    `deltas`: in REDO or UNDO order; `mask`: the records that count, bool[n]; None for all.
    """
    decisive = deltas.kinds != DeltaKind.UPDATE
    if mask is not None:
        decisive &= mask
    ordinals, kinds = deltas.ordinals[decisive], deltas.kinds[decisive]
    last = last_of_each(ordinals)
    return ordinals[last], kinds[last] == DeltaKind.REINSERT


def without_columns(deltas: Deltas, dropped: Container[int]) -> Deltas:
    """The batch without the cells of some columns, and without UPDATEs that set nothing then."""
    cells = {i: column for i, column in deltas.cells.items() if i not in dropped}
    keep = deltas.kinds != DeltaKind.UPDATE
    for column in cells.values():
        keep[column.positions] = True
    return select(replace(deltas, cells=cells), keep)


def is_distinct(ordinals: Ordinals) -> bool:
    """Whether no value of a sorted array comes twice."""
    return not (ordinals[1:] == ordinals[:-1]).any()


def last_of_each(ordinals: Ordinals) -> npt.NDArray[np.bool_]:
    """True at the last place of each run of equal values of a sorted array."""
    last = np.ones(len(ordinals), np.bool_)
    np.not_equal(ordinals[:-1], ordinals[1:], out=last[:-1])
    return last


def concat_values(arrays: Iterable[pa.Array]) -> pa.Array:
    """Arrays of a column one after another, without dictionary encoding, in their widest type."""
    decoded = [plain(array) for array in arrays]
    return decoded[0] if len(decoded) == 1 else pa.concat_arrays(in_one_type(decoded))
