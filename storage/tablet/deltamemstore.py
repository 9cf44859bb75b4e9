"""The DeltaMemStore: changes of flushed rows that are not on disk yet.

One for each rowset (Kudu's `tablet/deltamemstore.cc`; a MemRowSet keeps its own mutations in one
too). Changes arrive under the store's commit lock in the order of their hybrid times, and never
change afterwards; readers ask for what lies below their bound.

Two shapes arrive: single changes, kept as Python cells and found by ordinal at once, and batches,
kept as columns. For a scan the single changes are turned into columns, each only once.

A row changed ever so often stays cheap to look up: what its single changes come to is kept beside
their list, and batches are merged so that their number grows with the logarithm of the changes.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types import Cell, DataType
from pykudu_sql.storage.tablet.delta_store import (
    DeltaCells,
    DeltaKind,
    Deltas,
    Ordinals,
    merge_redo,
    no_deltas,
    uniform_deltas,
)

_ENTRY_BYTES = 200
# In the batches kept for look-ups, the column that says when each change came.
_ORDER = -1


@dataclass(frozen=True, slots=True)
class RowChange:
    """One change of one row.

    Attributes:
        timestamp: hybrid time.
        kind: what it did.
        cells: set, by column id.
        order: ascends with the changes of a store, also among those of one commit.
    """

    timestamp: int
    kind: DeltaKind
    cells: Mapping[int, Cell]
    order: int = field(default=0, compare=False)


class _RowHistory:
    """The single changes of one row, oldest first, and the one change that they come to."""

    __slots__ = ("changes", "outcome")

    def __init__(self, change: RowChange) -> None:
        self.changes = [change]
        self.outcome = change

    def add(self, change: RowChange) -> None:
        self.changes.append(change)
        before = self.outcome
        kind = before.kind if change.kind is DeltaKind.UPDATE else change.kind
        cells = {**before.cells, **change.cells}
        self.outcome = RowChange(change.timestamp, kind, cells, change.order)

    def below(self, bound: int) -> list[RowChange]:
        return [change for change in self.changes if change.timestamp < bound]


class DeltaMemStore:
    """Changes in memory, newest last.

    Attributes:
        id: distinguishes it in the write-ahead log from the rowset's other DeltaMemStores.
        types: the types of all columns that changes may name.
        version: grows with every change.
        max_timestamp: of the newest change, 0 when there is none.
        bytes: a rough size.
        anchor: the first log record whose effect is here, 0 for none.
    """

    def __init__(self, store_id: int, types: Mapping[int, DataType]) -> None:
        """An empty store."""
        self.id = store_id
        self.types = types
        self.version = 0
        self.min_timestamp = 0
        self.max_timestamp = 0
        self.bytes = 0
        self.anchor = 0
        self._rows: dict[int, _RowHistory] = {}
        self._batches: tuple[Deltas, ...] = ()
        self._log: list[tuple[int, RowChange]] = []
        self._columnar: Deltas = no_deltas()
        self._unmerged: list[Deltas] = []
        self._seal_lock = threading.Lock()

    def __len__(self) -> int:
        return self.version

    def add_one(
        self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell], timestamp: int
    ) -> None:
        """Add a change of one row. The caller holds the commit lock."""
        change = RowChange(timestamp, kind, cells, self.version)
        history = self._rows.get(ordinal)
        if history is None:
            self._rows[ordinal] = _RowHistory(change)
        else:
            history.add(change)
        with self._seal_lock:
            self._log.append((ordinal, change))
        self._count(1, _ENTRY_BYTES, timestamp)

    def add_batch(
        self,
        kind: DeltaKind,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: int,
    ) -> None:
        """Add one kind of change of many rows. The caller holds the commit lock.

        Args:
            kind: of all changes.
            ordinals: int64[n], in any order.
            columns: the cells set, by column id, n each.
            timestamp: hybrid time.
        """
        batch = uniform_deltas(kind, ordinals, columns, timestamp)
        with self._seal_lock:
            self._seal()
            self._unmerged.append(batch)
        self._batches = _with_batch(self._batches, _ordered(batch, self.version))
        size = sum(values.nbytes for values in columns.values())
        self._count(len(ordinals), size + 17 * len(ordinals), timestamp)

    def _count(self, changes: int, size: int, timestamp: int) -> None:
        if not self.version:
            self.min_timestamp = timestamp
        self.max_timestamp = timestamp
        self.bytes += size
        self.version += changes

    def _seal(self) -> None:
        """Turn the log of single changes into columns. The caller holds the seal lock."""
        if self._log:
            self._unmerged.append(_columns_of(self._log, self.types))
            self._log = []

    def deltas(self) -> Deltas:
        """Every change so far, in REDO order."""
        with self._seal_lock:
            self._seal()
            if self._unmerged:
                self._columnar = merge_redo([self._columnar, *self._unmerged])
                self._unmerged = []
            return self._columnar

    def changes_of(self, ordinal: int, bound: int) -> list[RowChange]:
        """Changes that come to what happened to one row below a bound, oldest first."""
        history = self._rows.get(ordinal)
        found = [c for b in self._batches for c in _changes_in(b, ordinal, self.types)]
        if not found:
            if history is None:
                return []
            if history.outcome.timestamp < bound:
                return [history.outcome]
            return history.below(bound)
        changes = [change for change in found if change.timestamp < bound]
        if history is not None:
            changes += history.below(bound)
        changes.sort(key=lambda change: (change.timestamp, change.order))
        return changes


def _ordered(batch: Deltas, order: int) -> Deltas:
    """A batch with the column that says that all of it came at `order`."""
    places = np.arange(len(batch), dtype=np.int64)
    orders = DeltaCells(places, pa.array(np.full(len(batch), order, np.int64)))
    return replace(batch, cells={**batch.cells, _ORDER: orders})


def _with_batch(batches: tuple[Deltas, ...], batch: Deltas) -> tuple[Deltas, ...]:
    """The batches with one more, merged with earlier ones that are not much larger."""
    kept = list(batches)
    while kept and len(kept[-1]) <= 2 * len(batch):
        batch = merge_redo([kept.pop(), batch])
    return (*kept, batch)


def _changes_in(batch: Deltas, ordinal: int, types: Mapping[int, DataType]) -> Iterator[RowChange]:
    """The changes of one row in a batch, oldest first."""
    first, stop = np.searchsorted(batch.ordinals, (ordinal, ordinal + 1)).tolist()
    for record in range(first, stop):
        cells: dict[int, Cell] = {}
        order = batch.cells[_ORDER].values[record].as_py()
        for column_id, column in batch.cells.items():
            if column_id == _ORDER:
                continue
            place = int(np.searchsorted(column.positions, record))
            if place < len(column.positions) and column.positions[place] == record:
                value = column.values.slice(place, 1)
                cells[column_id] = array_to_cells(value, types[column_id])[0]
        kind = DeltaKind(int(batch.kinds[record]))
        yield RowChange(int(batch.timestamps[record]), kind, cells, order)


def _columns_of(log: Sequence[tuple[int, RowChange]], types: Mapping[int, DataType]) -> Deltas:
    """Single changes as columns, sorted."""
    log = sorted(log, key=lambda entry: entry[0])  # stable: keeps the order in time
    positions: dict[int, list[int]] = {}
    cells: dict[int, list[Cell]] = {}
    for place, (_, change) in enumerate(log):
        for column_id, cell in change.cells.items():
            positions.setdefault(column_id, []).append(place)
            cells.setdefault(column_id, []).append(cell)
    return Deltas(
        np.array([ordinal for ordinal, _ in log], np.int64),
        np.array([change.timestamp for _, change in log], np.uint64),
        np.array([change.kind for _, change in log], np.uint8),
        {
            i: DeltaCells(np.array(places, np.int64), cells_to_array(cells[i], types[i]))
            for i, places in positions.items()
        },
    )
