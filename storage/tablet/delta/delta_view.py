"""The combined effect of a rowset's deltas at one snapshot.

A view is a sequence of parts in the order of their application: UNDO files from the newest back,
then REDO files and stores in memory from the oldest on. The last part that sets a cell wins. Files
are opened only when a column is read that they change, or when rows may have died or come back in
them, by their statistics, as in Kudu (`tablet/deltafile.cc`, `DeltaStats`).

A view is a part itself, so what the files come to can be kept while memory changes on top.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.delta.delta_store import (
    ColumnPatch,
    Deltas,
    Ordinals,
    concat_values,
    last_of_each,
    liveness,
    winners,
)
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore

Liveness = tuple[Ordinals, npt.NDArray[np.bool_]]


class DeltaPart(Protocol):
    """Visible deltas of one source."""

    @property
    def records(self) -> int:
        """How many deltas are applied."""

    def patch(self, column_id: int) -> ColumnPatch | None:
        """The cells that win in a column, or None when none changed."""

    def liveness(self) -> Liveness:
        """Rows deleted or inserted again, ascending, and whether they end up alive."""


class MemoryPart:
    """Deltas in memory, all of them visible."""

    def __init__(self, deltas: Deltas) -> None:
        """A part over deltas in REDO order."""
        self._deltas = deltas

    @property
    def records(self) -> int:
        return len(self._deltas)

    def patch(self, column_id: int) -> ColumnPatch | None:
        return winners(self._deltas, column_id)

    def liveness(self) -> Liveness:
        return liveness(self._deltas)


class StorePart:
    """The deltas of a store in memory that a snapshot sees.

    They are sorted and collapsed only when cells are read: a look-up of keys needs
    liveness alone, and most stores hold no DELETE.
    """

    def __init__(self, store: DeltaMemStore, bound: SnapshotBound) -> None:
        """A part over a store. `store`: with a change below the bound; `bound`: of the snapshot."""
        self._store = store
        self._bound = bound
        self._part: MemoryPart | None = None

    @property
    def records(self) -> int:
        return self._visible().records

    def patch(self, column_id: int) -> ColumnPatch | None:
        return self._visible().patch(column_id)

    def liveness(self) -> Liveness:
        if not self._store.decisions:
            return np.empty(0, np.int64), np.empty(0, np.bool_)
        return self._visible().liveness()

    def _visible(self) -> MemoryPart:
        """Below the bound nothing arrives any more, so later is as good as at once."""
        if self._part is None:
            self._part = MemoryPart(self._store.visible(self._bound))
        return self._part


class FilePart:
    """The deltas of a file that a snapshot needs."""

    def __init__(self, file: DeltaFile, bound: SnapshotBound) -> None:
        """A part over a file.

        `file`: of which the snapshot needs some deltas (see `DeltaFile.is_needed`).
        """
        self._file = file
        self._bound = bound
        self._mask: npt.NDArray[np.bool_] | None = None

    @property
    def records(self) -> int:
        mask = self._visible()
        stats = self._file.meta.stats
        return stats.records if mask is None else int(np.count_nonzero(mask))

    def patch(self, column_id: int) -> ColumnPatch | None:
        if column_id not in self._file.meta.stats.updates:
            return None
        return winners(self._file.deltas((column_id,)), column_id, self._visible())

    def liveness(self) -> Liveness:
        if not self._file.meta.stats.decisions:
            return np.empty(0, np.int64), np.empty(0, np.bool_)
        return liveness(self._file.deltas(()), self._visible())

    def _visible(self) -> npt.NDArray[np.bool_] | None:
        """The records that count, None for all."""
        if self._mask is None and not self._file.is_whole(self._bound):
            self._mask = self._file.needed(self._bound)
        return self._mask


class DeltaView:
    """What a sequence of visible deltas comes to; later parts win over earlier ones.

    `token`: stands for the view in keys of caches, which would otherwise keep its files open.
    """

    def __init__(self, parts: Sequence[DeltaPart]) -> None:
        """View over parts in the order of their application."""
        self.token = object()
        self._parts = parts
        self._patches: dict[int, ColumnPatch | None] = {}
        self._liveness: Liveness | None = None
        self._alive: dict[int, npt.NDArray[np.bool_] | None] = {}

    @property
    def records(self) -> int:
        """How many deltas the view applies."""
        return sum(part.records for part in self._parts)

    def patch(self, column_id: int) -> ColumnPatch | None:
        if column_id not in self._patches:
            patches = [part.patch(column_id) for part in self._parts]
            self._patches[column_id] = _last_patch([p for p in patches if p is not None])
        return self._patches[column_id]

    def liveness(self) -> Liveness:
        if self._liveness is None:
            self._liveness = _last_liveness([part.liveness() for part in self._parts])
        return self._liveness

    def alive(self, rows: int) -> npt.NDArray[np.bool_] | None:
        """Which of a rowset's rows exist, bool[rows]; None when all do."""
        if rows not in self._alive:
            ordinals, living = self.liveness()
            mask = None
            if not living.all():
                mask = np.ones(rows, np.bool_)
                mask[ordinals] = living
            self._alive[rows] = mask
        return self._alive[rows]


def _last_patch(patches: Sequence[ColumnPatch]) -> ColumnPatch | None:
    if len(patches) <= 1:
        return patches[0] if patches else None
    ordinals = np.concatenate([patch.ordinals for patch in patches])
    order = np.argsort(ordinals, kind="stable")
    newest = order[last_of_each(ordinals[order])]
    values = concat_values(patch.values for patch in patches)
    return ColumnPatch(ordinals[newest], values.take(pa.array(newest)))


def _last_liveness(parts: Sequence[Liveness]) -> Liveness:
    parts = [part for part in parts if len(part[0])]
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.bool_)
    if len(parts) == 1:
        return parts[0]
    ordinals = np.concatenate([ordinals for ordinals, _ in parts])
    living = np.concatenate([living for _, living in parts])
    order = np.argsort(ordinals, kind="stable")
    newest = order[last_of_each(ordinals[order])]
    return ordinals[newest], living[newest]
