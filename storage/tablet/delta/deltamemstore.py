"""The DeltaMemStore: changes of flushed rows that are not on disk yet.

One for each rowset (Kudu's `tablet/deltamemstore.cc`; a MemRowSet keeps its own mutations in one
too). Changes arrive under the store's commit lock in the order of their hybrid times, and never
change afterwards; readers ask for what lies below their bound.

Two shapes arrive: single changes, kept as Python cells and found by ordinal at once, and batches,
kept as columns. For a scan the single changes are turned into columns, each only once.

A row changed ever so often stays cheap to read. What its single changes come to is kept beside
their list, batches are merged so that their number grows with the logarithm of the changes, and
for scans of "now" there are runs from which superseded changes are left out: they grow with the
rows changed, not with the changes, and a scan after a commit makes only the small ones anew.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.row_allowance import text_bytes
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.hybrid_time import (
    EVERYTHING,
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
)
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.tablet.delta.delta_collapse import collapse
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_run import DeltaRun
from pykudu_sql.storage.tablet.delta.delta_store import (
    DeltaCells,
    Deltas,
    Ordinals,
    merge_redo,
    no_deltas,
    select,
    uniform_deltas,
    within_times,
)
from pykudu_sql.storage.tablet.delta.row_change import (
    RowChange,
    cell_at,
    earlier,
    last_decision,
    last_position,
    records_of,
)
from pykudu_sql.storage.tablet.delta.row_history import NewestCells, RowHistory

_ENTRY_BYTES = 200
# So many runs of one level become a run of the next.
_TIER = 16
# So many batches stay as they arrived while scans need only the newest of them.
_MOST_ADDED = 256
# In the batches kept for look-ups, the column that says when each change came.
_ORDER = -1


class DeltaMemStore:
    """Changes in memory, newest last.

    Attributes:
        id: distinguishes it in the write-ahead log from the rowset's other DeltaMemStores.
        types: the types of all columns that changes may name.
        version: grows with every change.
        decisions: how many changes are DELETEs or REINSERTs.
        column_ids: of the columns that changes set.
        min_timestamp, max_timestamp: of the oldest and newest change, 0 when there is none.
        bytes: a rough size.
        anchor: the first log record whose effect is here, 0 for none.
    """

    def __init__(self, store_id: int, types: Mapping[int, DataType]) -> None:
        """An empty store."""
        self.id = store_id
        self.types = types
        self.version = 0
        self.decisions = 0
        self.column_ids: set[int] = set()
        self.min_timestamp = UNCOMMITTED
        self.max_timestamp = UNCOMMITTED
        self.bytes = 0
        self.anchor = 0
        self._rows: dict[int, RowHistory] = {}
        self._batches: tuple[Deltas, ...] = ()
        self._log: list[tuple[int, RowChange]] = []
        self._everything = _Columns()
        self._newest = _Runs()
        self._seal_lock = threading.Lock()

    def __len__(self) -> int:
        return self.version

    def add_one(
        self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell], timestamp: Timestamp
    ) -> None:
        """Add a change of one row. The caller holds the commit lock."""
        change = RowChange(timestamp, kind, cells, self.version)
        history = self._rows.get(ordinal)
        if history is None:
            self._rows[ordinal] = RowHistory(change)
        else:
            history.add(change)
        self.column_ids.update(cells)
        with self._seal_lock:
            self._log.append((ordinal, change))
        self._count(kind, 1, _ENTRY_BYTES + text_bytes(cells.values()), timestamp)

    def add_batch(
        self,
        kind: DeltaKind,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: Timestamp,
    ) -> None:
        """Add one kind of change of many rows. The caller holds the commit lock.

        Args:
            kind: of all changes.
            ordinals: int64[n], in any order.
            columns: the cells set, by column id, n each.
            timestamp: hybrid time.
        """
        batch = uniform_deltas(kind, ordinals, columns, timestamp)
        self.column_ids.update(columns)
        with self._seal_lock:
            self._seal()
            self._add_columns(batch)
        self._batches = _with_batch(self._batches, _ordered(batch, self.version))
        size = sum(values.nbytes for values in columns.values())
        self._count(kind, len(ordinals), size + 17 * len(ordinals), timestamp)

    def _count(self, kind: DeltaKind, changes: int, size: int, timestamp: Timestamp) -> None:
        if kind is not DeltaKind.UPDATE:
            self.decisions += changes
        if not self.version:
            self.min_timestamp = timestamp
        self.max_timestamp = timestamp
        self.bytes += size
        self.version += changes

    def _seal(self) -> None:
        """Turn the log of single changes into columns. The caller holds the seal lock."""
        if self._log:
            self._add_columns(_columns_of(self._log, self.types))
            self._log = []

    def _add_columns(self, deltas: Deltas) -> None:
        self._everything.added.append(deltas)
        self._newest.added.append(deltas)

    def deltas(self) -> Deltas:
        """Every change so far, in REDO order."""
        with self._seal_lock:
            self._seal()
            return self._everything.merged()

    def current(self) -> tuple[DeltaRun, ...]:
        """The changes so far, oldest run first, perhaps without those that later ones supersede."""
        with self._seal_lock:
            self._seal()
            return self._newest.merged()

    def visible(self, bound: SnapshotBound) -> tuple[DeltaRun, ...]:
        """The changes below a bound, oldest run first, perhaps without superseded ones."""
        if self.max_timestamp < bound:
            newest = self.current()
            # Other changes may have arrived since; then the newest alone are not enough.
            if not newest or int(newest[-1].deltas.timestamps.max()) < bound:
                return newest
        deltas = self.deltas()
        return (DeltaRun(select(deltas, deltas.timestamps < np.uint64(bound))),)

    def since(self, time: Timestamp, bound: SnapshotBound) -> Sequence[Deltas]:
        """The changes time < t < bound in the order of their making, and some at that very time."""
        if self.max_timestamp < time:
            return ()
        with self._seal_lock:
            self._seal()
            parts = self._newest.since(time)
        return [within_times(part, time, bound) for part in parts]

    def outcome_of(self, ordinal: int, bound: SnapshotBound) -> RowChange | None:
        """The combined effect of one row's changes below a bound; None when there are none."""
        history = self._rows.get(ordinal)
        batches = [(b, *records) for b in self._batches if (records := _records(b, ordinal, bound))]
        if not batches and history is not None:
            outcome = history.outcome
            if outcome.timestamp < bound:
                return outcome
        newest = NewestCells()
        if history is not None:
            history.gather(bound, newest)
        for batch, first, stop in batches:
            _gather(batch, first, stop, self.types, newest)
        return newest.outcome()


class _Columns:
    """Changes as columns: what is merged already, and what arrived since."""

    __slots__ = ("added", "deltas")

    def __init__(self) -> None:
        self.deltas = no_deltas()
        self.added: list[Deltas] = []

    def merged(self) -> Deltas:
        """All of them in REDO order."""
        if self.added:
            self.deltas = merge_redo([self.deltas, *self.added])
            self.added = []
        return self.deltas


class _Runs:
    """The newest changes as runs by tiers, and what arrived since they were made.

    Each tier holds fewer than `_TIER` runs, the lowest has the newest. A change is copied once a
    tier; the number of runs grows with the logarithm of the number of batches.
    """

    __slots__ = ("_newest", "_tiers", "added")

    def __init__(self) -> None:
        self.added: list[Deltas] = []
        self._tiers: list[list[DeltaRun]] = [[]]
        self._newest = UNCOMMITTED  # the time of the newest change in a tier

    def merged(self) -> tuple[DeltaRun, ...]:
        """All of them, oldest run first."""
        if self.added:
            batches = self.added
            self._newest = Timestamp(int(batches[-1].timestamps.max()))
            if len(batches) >= _TIER:
                batches = [collapse(merge_redo(batches), EVERYTHING)]
            self._tiers[0] += [DeltaRun(batch) for batch in batches]
            self.added = []
            self._merge_full_tiers()
        return tuple(run for tier in reversed(self._tiers) for run in tier)

    def since(self, time: Timestamp) -> Sequence[Deltas]:
        """All changes from a time on, and some earlier ones, in the order of their making.

        Of the changes at that very time those that are in a tier may be missing.
        """
        if time < self._newest or len(self.added) >= _MOST_ADDED:
            return [run.deltas for run in self.merged()]
        parts = []
        for deltas in reversed(self.added):
            if deltas.timestamps.max() < time:
                break
            parts.append(deltas)
        return parts[::-1]

    def _merge_full_tiers(self) -> None:
        for height, tier in enumerate(self._tiers):
            if len(tier) < _TIER:
                return
            if height + 1 == len(self._tiers):
                self._tiers.append([])
            merged = merge_redo([run.deltas for run in tier])
            self._tiers[height + 1].append(DeltaRun(collapse(merged, EVERYTHING)))
            self._tiers[height] = []


def _ordered(batch: Deltas, order: int) -> Deltas:
    """A batch with a column that has `order` for all of its records."""
    positions = np.arange(len(batch), dtype=np.int64)
    orders = DeltaCells(positions, pa.array(np.full(len(batch), order, np.int64)))
    return replace(batch, cells={**batch.cells, _ORDER: orders})


def _with_batch(batches: tuple[Deltas, ...], batch: Deltas) -> tuple[Deltas, ...]:
    """The batches with one more, merged with earlier ones that are not much larger."""
    earlier = list(batches)
    while earlier and len(earlier[-1]) <= 2 * len(batch):
        batch = merge_redo([earlier.pop(), batch])
    return (*earlier, batch)


def _records(batch: Deltas, ordinal: int, bound: SnapshotBound) -> tuple[int, int] | None:
    """The records of a row below a bound, None when there are none."""
    first, stop = records_of(batch, ordinal)
    if first < stop:
        stop = earlier(batch.timestamps, first, stop, bound)
    return (first, stop) if first < stop else None


def _gather(
    batch: Deltas, first: int, stop: int, types: Mapping[int, DataType], newest: NewestCells
) -> None:
    """Add the combined effect of the records first <= record < stop of one row."""
    orders = batch.cells[_ORDER].values
    for column_id, column in batch.cells.items():
        position = last_position(column.positions, first, stop)
        if column_id != _ORDER and position >= 0:
            order = orders[int(column.positions[position])].as_py()
            cell = cell_at(column, position, types[column_id])
            newest.add_cells(order, {column_id: cell})
    decision = last_decision(batch, first, stop)
    if decision >= 0:
        kind = DeltaKind(int(batch.kinds[decision]))
        newest.add_decision(orders[decision].as_py(), kind)
    newest.timestamp = max(newest.timestamp, Timestamp(int(batch.timestamps[stop - 1])))


def _columns_of(log: Sequence[tuple[int, RowChange]], types: Mapping[int, DataType]) -> Deltas:
    """Single changes as columns, sorted."""
    log = sorted(log, key=lambda entry: entry[0])  # stable: keeps the order in time
    positions: dict[int, list[int]] = {}
    cells: dict[int, list[Cell]] = {}
    for position, (_, change) in enumerate(log):
        for column_id, cell in change.cells.items():
            positions.setdefault(column_id, []).append(position)
            cells.setdefault(column_id, []).append(cell)
    return Deltas(
        np.array([ordinal for ordinal, _ in log], np.int64),
        np.array([change.timestamp for _, change in log], np.uint64),
        np.array([change.kind for _, change in log], np.uint8),
        {
            i: DeltaCells(np.array(rows, np.int64), cells_to_array(cells[i], types[i]))
            for i, rows in positions.items()
        },
    )
