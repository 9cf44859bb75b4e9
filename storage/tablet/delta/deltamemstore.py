"""The DeltaMemStore: changes of flushed rows that are not on disk yet.

One for each rowset (Kudu's `tablet/deltamemstore.cc`; a MemRowSet keeps its own mutations in one
too). Changes arrive under the store's commit lock in the order of their hybrid times, and never
change afterwards; readers ask for what lies below their bound.

Two shapes arrive: single changes, kept as Python cells and found by ordinal at once, and batches,
kept as columns. For a scan the single changes are turned into columns, each only once.

A row changed ever so often stays cheap to read. What its single changes come to is kept beside
their list, batches have an index (`batch_index`), and for scans of "now" there are runs from which
superseded changes are left out: they grow with the rows changed, not with the changes, and a scan
after a commit makes only the small ones anew.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

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
from pykudu_sql.storage.tablet.delta.batch_index import BatchIndex
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
from pykudu_sql.storage.tablet.delta.row_change import RowChange
from pykudu_sql.storage.tablet.delta.row_history import NewestCells, RowHistory
from pykudu_sql.storage.tablet.delta.word_codes import few_words

_ENTRY_BYTES = 200
# So many runs of one level become a run of the next.
_TIER = 16
# So many batches stay as they arrived while scans need only the newest of them.
_MOST_ADDED = 256


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
        self._indexes: tuple[BatchIndex, ...] = ()
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
        batch = _coded(uniform_deltas(kind, ordinals, columns, timestamp))
        self.column_ids.update(columns)
        with self._seal_lock:
            self._seal()
            self._add_columns(batch, timestamp)
        cells = {i: column.values for i, column in batch.cells.items()}
        self._index_of(kind, cells).add(batch.ordinals, cells, timestamp, self.version)
        self._count(kind, len(ordinals), batch_bytes(ordinals, columns), timestamp)

    def _index_of(self, kind: DeltaKind, columns: Mapping[int, pa.Array]) -> BatchIndex:
        """The index that takes a batch, a new one where there is none."""
        column_ids = columns.keys()
        for index in self._indexes:
            if index.kind is kind and index.column_ids == column_ids:
                return index
        index = BatchIndex(kind, frozenset(column_ids))
        self._indexes = (*self._indexes, index)
        return index

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
            newest = self._log[-1][1].timestamp
            self._add_columns(_columns_of(self._log, self.types), newest)
            self._log = []

    def _add_columns(self, deltas: Deltas, newest: Timestamp) -> None:
        self._everything.added.append(deltas)
        self._newest.added.append(_Batch(newest, deltas))

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
            if self._newest.merged_to >= bound:
                # Changes that the bound leaves out may have superseded some below it.
                parts = [self._everything.merged()]
        # A batch stands here before it counts as the newest.
        if parts and time < self.min_timestamp and parts[-1].timestamps.max() < bound:
            return parts
        return [within_times(part, time, bound) for part in parts]

    def outcome_of(self, ordinal: int, bound: SnapshotBound) -> RowChange | None:
        """The combined effect of one row's changes below a bound; None when there are none."""
        history, indexes = self._rows.get(ordinal), self._indexes
        if not indexes and history is not None:
            outcome = history.outcome
            if outcome.timestamp < bound:
                return outcome
        newest = NewestCells()
        if history is not None:
            history.gather(bound, newest)
        for index in indexes:
            index.gather(ordinal, bound, self.types, newest)
        return newest.outcome()


def _coded(batch: Deltas) -> Deltas:
    """A batch with codes of the texts that are few words, for scans of columns that have codes."""
    cells = {
        i: replace(each, coded_values=few_words(each.values))
        if pa.types.is_string(each.values.type)
        else each
        for i, each in batch.cells.items()
    }
    return replace(batch, cells=cells)


def batch_bytes(ordinals: Ordinals, columns: Mapping[int, pa.Array]) -> int:
    """A rough size of a batch of changes."""
    cells: int = sum(values.nbytes for values in columns.values())
    return cells + 17 * len(ordinals)


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


class _Batch(NamedTuple):
    """Changes that arrived together, and the time of the newest of them."""

    newest: Timestamp
    deltas: Deltas


class _Runs:
    """The newest changes as runs by tiers, and what arrived since they were made.

    Each tier holds fewer than `_TIER` runs, the lowest has the newest. A change is copied once a
    tier; the number of runs grows with the logarithm of the number of batches.

    Attributes:
        added: batches that arrived since the runs were made.
        merged_to: the time of the newest change in a tier.
    """

    __slots__ = ("_tiers", "added", "merged_to")

    def __init__(self) -> None:
        self.added: list[_Batch] = []
        self._tiers: list[list[DeltaRun]] = [[]]
        self.merged_to = UNCOMMITTED

    def merged(self) -> tuple[DeltaRun, ...]:
        """All of them, oldest run first."""
        if self.added:
            batches = [batch.deltas for batch in self.added]
            self.merged_to = self.added[-1].newest
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
        if time < self.merged_to or len(self.added) >= _MOST_ADDED:
            return [run.deltas for run in self.merged()]
        parts = []
        for batch in reversed(self.added):
            if batch.newest < time:
                break
            parts.append(batch.deltas)
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
