"""The delta tracker: all deltas of one DiskRowSet, and what they come to at a snapshot.

Kudu's `tablet/delta_tracker.h`. From oldest to newest a rowset has UNDO files, its base image,
REDO files, perhaps a DeltaMemStore on its way to disk, and the live DeltaMemStore. The list is an
immutable value, swapped whole by a flush.

A snapshot below the time of an UNDO needs it, one above the time of a REDO needs that; files whose
statistics say otherwise are not opened.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.tablet.delta_store import (
    ColumnPatch,
    Deltas,
    Ordinals,
    concat_values,
    last_of_each,
    liveness,
    select,
    winners,
)
from pykudu_sql.storage.tablet.deltafile import DeltaFile
from pykudu_sql.storage.tablet.deltamemstore import DeltaMemStore, RowChange


class DeltaView:
    """What a sequence of visible deltas comes to; later parts win over earlier ones."""

    def __init__(self, parts: Sequence[Deltas]) -> None:
        """View over parts that hold only visible deltas."""
        self._parts = [part for part in parts if len(part)]
        self._patches: dict[int, ColumnPatch | None] = {}
        self._alive: dict[int, npt.NDArray[np.bool_] | None] = {}

    @property
    def records(self) -> int:
        """How many deltas the view applies."""
        return sum(len(part) for part in self._parts)

    def patch(self, column_id: int) -> ColumnPatch | None:
        """The cells that win in a column, or None when none changed."""
        if column_id not in self._patches:
            found = [winners(part, column_id) for part in self._parts]
            self._patches[column_id] = _last_patch([p for p in found if p is not None])
        return self._patches[column_id]

    def alive(self, rows: int) -> npt.NDArray[np.bool_] | None:
        """Which of a rowset's rows exist, bool[rows]; None when all do."""
        if rows not in self._alive:
            self._alive[rows] = self._find_alive(rows)
        return self._alive[rows]

    def _find_alive(self, rows: int) -> npt.NDArray[np.bool_] | None:
        mask: npt.NDArray[np.bool_] | None = None
        for part in self._parts:
            ordinals, living = liveness(part)
            if len(ordinals):
                if mask is None:
                    mask = np.ones(rows, np.bool_)
                mask[ordinals] = living
        return None if mask is None or bool(mask.all()) else mask


def _last_patch(patches: Sequence[ColumnPatch]) -> ColumnPatch | None:
    if len(patches) <= 1:
        return patches[0] if patches else None
    ordinals = np.concatenate([patch.ordinals for patch in patches])
    order = np.argsort(ordinals, kind="stable")
    chosen = order[last_of_each(ordinals[order])]
    values = concat_values(patch.values for patch in patches)
    return ColumnPatch(ordinals[chosen], values.take(pa.array(chosen)))


def visible_redo(deltas: Deltas, bound: int) -> Deltas:
    """The REDO deltas that a snapshot sees."""
    return select(deltas, deltas.timestamps < np.uint64(bound))


def visible_undo(deltas: Deltas, bound: int) -> Deltas:
    """The UNDO deltas that lead back to a snapshot."""
    return select(deltas, deltas.timestamps >= np.uint64(bound))


@dataclass(frozen=True, slots=True)
class DeltaTracker:
    """The delta stores of a rowset at one moment.

    Attributes:
        undo: UNDO files.
        redo: REDO files, oldest first.
        flushing: DeltaMemStores on their way to disk, oldest first.
        memory: the DeltaMemStore that takes new changes.
        inserted_at: the time of the one commit that inserted every row of the base, or None when
            UNDO files tell each row's.
    """

    undo: tuple[DeltaFile, ...]
    redo: tuple[DeltaFile, ...]
    flushing: tuple[DeltaMemStore, ...]
    memory: DeltaMemStore
    inserted_at: int | None

    def begin_flush(self, fresh: DeltaMemStore) -> "DeltaTracker":
        """The tracker once `fresh` takes new changes and the old memory store is being flushed."""
        return replace(self, flushing=(*self.flushing, self.memory), memory=fresh)

    def finish_flush(self, flushed: DeltaMemStore, file: DeltaFile) -> "DeltaTracker":
        """The tracker once a DeltaMemStore is on disk."""
        flushing = tuple(store for store in self.flushing if store is not flushed)
        return replace(self, flushing=flushing, redo=(*self.redo, file))

    @property
    def stores(self) -> Iterable[DeltaMemStore]:
        """The stores in memory, oldest first."""
        return (*self.flushing, self.memory)

    @property
    def newest(self) -> int:
        """The time of the newest change that any store holds, 0 when none does."""
        times = [self.inserted_at or 0]
        times += [file.meta.stats.max_timestamp for file in (*self.undo, *self.redo)]
        times += [store.max_timestamp for store in self.stores]
        return max(times)

    def view(self, bound: int, own: DeltaMemStore | None = None) -> DeltaView:
        """What the deltas come to at a snapshot.

        Args:
            bound: of the snapshot.
            own: a transaction's uncommitted changes, which it sees on top.
        """
        parts = self._file_parts(bound)
        for store in self.stores:
            if len(store) and store.min_timestamp < bound:
                parts.append(visible_redo(store.deltas(), bound))
        if own is not None and len(own):
            parts.append(own.deltas())
        return DeltaView(parts)

    def file_view(self, bound: int) -> DeltaView:
        """What the deltas on disk alone come to at a snapshot."""
        return DeltaView(self._file_parts(bound))

    def _file_parts(self, bound: int) -> list[Deltas]:
        parts: list[Deltas] = []
        for file in self.undo:
            if file.meta.stats.max_timestamp >= bound:
                parts.append(visible_undo(file.deltas(), bound))
        for file in self.redo:
            if file.meta.stats.min_timestamp < bound:
                parts.append(visible_redo(file.deltas(), bound))
        return parts

    @property
    def newest_on_disk(self) -> int:
        """The time of the newest change in a file, 0 when there is none."""
        return max((f.meta.stats.max_timestamp for f in (*self.undo, *self.redo)), default=0)

    def is_visible(self, bound: int) -> bool:
        """Whether a snapshot can see any row of the rowset."""
        return self.inserted_at is None or self.inserted_at < bound

    def memory_changes(self, ordinal: int, bound: int) -> list[RowChange]:
        """One row's changes in memory below a bound, oldest first."""
        changes: list[RowChange] = []
        for store in self.stores:
            if len(store):
                changes += store.changes_of(ordinal, bound)
        return changes

    def changed_since(self, bound: int, rows: int) -> npt.NDArray[np.bool_] | None:
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

    def _ordinals_since(self, bound: int) -> Iterable[Ordinals]:
        for file in (*self.undo, *self.redo):
            if file.meta.stats.max_timestamp >= bound:
                yield visible_undo(file.deltas(), bound).ordinals
        for store in self.stores:
            if store.max_timestamp >= bound:
                yield visible_undo(store.deltas(), bound).ordinals
