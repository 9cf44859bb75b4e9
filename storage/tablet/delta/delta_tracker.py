"""The delta tracker: all deltas of one DiskRowSet, and their combined effect at a snapshot.

Kudu's `tablet/delta_tracker.h`. From oldest to newest a rowset has UNDO files, its base image,
REDO files, perhaps a DeltaMemStore on its way to disk, and the live DeltaMemStore. The list is an
immutable value, swapped whole by a flush.

A snapshot below the time of an UNDO needs it, one above the time of a REDO needs that; files whose
statistics say otherwise are not opened. A major delta compaction moves some columns' base images
forward past the REDO files and writes an UNDO file back; for each column by itself the order of
the parts stays that of time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import (
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
    bound_at,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.delta.delta_store import Deltas, Ordinals, select
from pykudu_sql.storage.tablet.delta.delta_view import (
    CurrentView,
    DeltaPart,
    DeltaView,
    FilePart,
    StorePart,
)
from pykudu_sql.storage.tablet.delta.deltafile import UNDO, DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.delta.row_change import RowChange


def visible_redo(deltas: Deltas, bound: SnapshotBound) -> Deltas:
    """The REDO deltas that a snapshot sees."""
    return select(deltas, deltas.timestamps < np.uint64(bound))


def visible_undo(deltas: Deltas, bound: SnapshotBound) -> Deltas:
    """The UNDO deltas that lead back to a snapshot."""
    return select(deltas, deltas.timestamps >= np.uint64(bound))


@dataclass(frozen=True, slots=True)
class DeltaTracker:
    """The delta stores of a rowset at one moment.

    Attributes:
        undo: UNDO files, newest first.
        redo: REDO files, oldest first.
        flushing: DeltaMemStores on their way to disk, oldest first.
        memory: the DeltaMemStore that takes new changes.
        inserted_at: the time of the one commit that inserted every row of the base, or None when
            UNDO files have each row's.
    """

    undo: tuple[DeltaFile, ...]
    redo: tuple[DeltaFile, ...]
    flushing: tuple[DeltaMemStore, ...]
    memory: DeltaMemStore
    inserted_at: Timestamp | None

    def begin_flush(self, fresh: DeltaMemStore) -> "DeltaTracker":
        """The tracker once `fresh` takes new changes and the old memory store is being flushed."""
        return replace(self, flushing=(*self.flushing, self.memory), memory=fresh)

    def finish_flush(self, files: tuple[DeltaFile, ...]) -> "DeltaTracker":
        """The tracker once all stores that were on their way to disk are files."""
        return replace(self, flushing=(), redo=(*self.redo, *files))

    @property
    def files(self) -> tuple[DeltaFile, ...]:
        """The stores on disk, in the order of their application."""
        return (*self.undo, *self.redo)

    @property
    def stores(self) -> Iterable[DeltaMemStore]:
        """The stores in memory, oldest first."""
        return (*self.flushing, self.memory)

    @property
    def is_empty(self) -> bool:
        """Whether no store has a change."""
        return not (self.undo or self.redo or self.flushing or self.memory.version)

    @property
    def newest(self) -> Timestamp:
        """The time of the newest change that any store holds, 0 when none does."""
        times = [self.inserted_at or UNCOMMITTED]
        times += [file.meta.stats.max_timestamp for file in self.files]
        times += [store.max_timestamp for store in self.stores]
        return max(times)

    def view(
        self, bound: SnapshotBound, own: OwnDeltas | None = None, files: DeltaView | None = None
    ) -> DeltaView:
        """The combined effect of the deltas at a snapshot.

        Args:
            own: a transaction's uncommitted changes, which it sees on top.
            files: the combined effect of the deltas on disk, if it is cached.
        """
        parts: list[DeltaPart] = [self.file_view(bound) if files is None else files]
        parts += self._store_parts(bound)
        if own is not None:
            parts += own.parts()
        return DeltaView(parts)

    def current_view(self, newest: Timestamp, files: DeltaView) -> CurrentView:
        """The combined effect of all deltas so far.

        `newest`: the time of the newest; `files`: the combined effect of the deltas on disk.
        """
        stores = self._store_parts(bound_at(newest))
        return CurrentView(files, stores, newest, self.newest_on_disk)

    def _store_parts(self, bound: SnapshotBound) -> Sequence[StorePart]:
        return [
            StorePart(store, bound)
            for store in self.stores
            if len(store) and store.min_timestamp < bound
        ]

    def file_view(self, bound: SnapshotBound) -> DeltaView:
        """The combined effect of the deltas on disk at a snapshot."""
        return DeltaView([FilePart(file, bound) for file in self._files_for(bound)])

    def _files_for(self, bound: SnapshotBound) -> Iterator[DeltaFile]:
        """The files that a snapshot needs, in the order of their application."""
        return (file for file in self.files if file.is_needed(bound))

    @property
    def newest_on_disk(self) -> Timestamp:
        """The time of the newest change in a file, 0 when there is none."""
        return max((f.meta.stats.max_timestamp for f in self.files), default=UNCOMMITTED)

    def is_visible(self, bound: SnapshotBound) -> bool:
        """Whether a snapshot can see any row of the rowset."""
        return self.inserted_at is None or self.inserted_at < bound

    def deletes(self, bound: SnapshotBound) -> int:
        """How many rows statistics of files say that a snapshot sees deleted; it may be more.

        Nothing is read for it.
        """
        if not self.redo or any(store.decisions for store in self.stores):
            return 0
        needed = [file for file in self.files if file.is_needed(bound)]
        if any(f.meta.kind == UNDO and f.meta.stats.decisions for f in needed):
            return 0
        if any(file.meta.stats.reinserts for file in needed):
            return 0
        return sum(file.meta.stats.deletes for file in needed if file.is_whole(bound))

    def cell_bytes(self, column: ColumnSchema, bound: SnapshotBound) -> int:
        """Bytes in memory of what a snapshot sees changed in a column; 0 where that is no text.

        Raises CorruptionError: a footer is not what was written.
        """
        if not column.type.is_variable:
            return 0
        in_files = sum(file.cell_bytes(column.id) for file in self._files_for(bound))
        return in_files + sum(store.bytes for store in self.stores)

    def row_changes(
        self, ordinal: int, bound: SnapshotBound, column_ids: Sequence[int]
    ) -> list[RowChange]:
        """What leads one row from the base image to a snapshot, in the order of application.

        Args:
            ordinal: of the row.
            column_ids: whose cells are wanted; changes from memory may name others too.
        """
        changes = [
            change
            for file in self.files
            if file.is_needed(bound)
            and (change := file.outcome_of(ordinal, bound, column_ids, self.memory.types))
        ]
        for store in self.stores:
            if store.version and (change := store.outcome_of(ordinal, bound)):
                changes.append(change)
        return changes

    def changed_since(self, bound: SnapshotBound, rows: int) -> npt.NDArray[np.bool_] | None:
        """Rows with a commit at or after a bound, bool[rows]; None when there is none.

        This is what first-committer-wins asks of the rows a transaction wrote.
        """
        if self.newest < bound:
            return None
        mask = np.zeros(rows, np.bool_)
        if self.inserted_at is not None and self.inserted_at >= bound:
            mask[:] = True
        for ordinals in self._ordinals_since(bound):
            mask[ordinals] = True
        return mask

    def _ordinals_since(self, bound: SnapshotBound) -> Iterable[Ordinals]:
        for file in self.files:
            if file.meta.stats.max_timestamp >= bound:
                yield visible_undo(file.deltas(()), bound).ordinals
        for store in self.stores:
            if store.max_timestamp >= bound:
                yield visible_undo(store.deltas(), bound).ordinals
