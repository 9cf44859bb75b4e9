"""The combined effect of a rowset's deltas at one snapshot.

A view is a sequence of parts in the order of their application: UNDO files from the newest back,
then REDO files and stores in memory from the oldest on. The last part that sets a cell wins. Files
are opened only when a column is read that they change, or when rows may have died or come back in
them, by their statistics, as in Kudu (`tablet/deltafile.cc`, `DeltaStats`).

A view is a part itself, so what the files come to can be kept while memory changes on top. What it
changes in a column is a sequence of layers, one a part; whoever patches a column writes one over
the other, and only who needs each row's one cell has them merged.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types.hybrid_time import UNCOMMITTED, SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.widening import in_one_type
from pykudu_sql.storage.tablet.delta.delta_run import DeltaRun
from pykudu_sql.storage.tablet.delta.delta_store import (
    CellPatch,
    CellsSet,
    ColumnPatch,
    Deltas,
    Ordinals,
    cells_set_by,
    concat_values,
    joined,
    last_of_each,
    liveness,
    winners,
)
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.delta.stored_patch import stored_patch

Mask = npt.NDArray[np.bool_]
Liveness = tuple[Ordinals, Mask]


class DeltaPart(Protocol):
    """Visible deltas of one source."""

    @property
    def records(self) -> int:
        """How many deltas are applied."""

    def may_change(self, column_id: int) -> bool:
        """Whether cells of a column may be changed; False is certain, and nothing is read."""

    def layers(self, column_id: int) -> tuple[CellPatch, ...]:
        """The cells changed in a column; those of a later layer win."""

    def liveness(self) -> Liveness:
        """Rows deleted or inserted again, ascending, and whether they end up alive."""


class StorePart:
    """The deltas of a store in memory that a snapshot sees.

    They are sorted and collapsed only when cells are read: a look-up of keys needs
    liveness alone, and most stores hold no DELETE.
    """

    def __init__(self, store: DeltaMemStore, bound: SnapshotBound) -> None:
        """A part over a store. `store`: with a change below the bound; `bound`: of the snapshot."""
        self._store = store
        self._bound = bound
        self._runs: tuple[DeltaRun, ...] | None = None

    @property
    def records(self) -> int:
        return sum(run.records for run in self._visible())

    def may_change(self, column_id: int) -> bool:
        return column_id in self._store.column_ids

    def layers(self, column_id: int) -> tuple[CellPatch, ...]:
        if not self.may_change(column_id):
            return ()
        return _layers(self._visible(), column_id)

    def since(self, time: Timestamp) -> Sequence[Deltas]:
        """The visible changes from a time on, in the order of their making."""
        return self._store.since(time, self._bound)

    def liveness(self) -> Liveness:
        if not self._store.decisions:
            return np.empty(0, np.int64), np.empty(0, np.bool_)
        return _last_liveness([run.liveness() for run in self._visible()])

    def _visible(self) -> tuple[DeltaRun, ...]:
        """Below the bound nothing arrives any more, so later is as good as at once."""
        if self._runs is None:
            self._runs = self._store.visible(self._bound)
        return self._runs


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

    def may_change(self, column_id: int) -> bool:
        return column_id in self._file.meta.stats.updates

    def layers(self, column_id: int) -> tuple[CellPatch, ...]:
        if not self.may_change(column_id):
            return ()
        patch: CellPatch | None
        if self._file.is_wide(column_id):
            patch = stored_patch(self._file, column_id, self._visible())
        else:
            patch = winners(self._file.deltas((column_id,)), column_id, self._visible())
        return () if patch is None else (patch,)

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
    """The combined effect of a sequence of visible deltas; later parts override earlier ones."""

    def __init__(self, parts: Sequence[DeltaPart]) -> None:
        """View over parts in the order of their application."""
        self._parts = parts
        self._layers: dict[int, tuple[CellPatch, ...]] = {}
        self._patches: dict[int, CellPatch | None] = {}
        self._liveness: Liveness | None = None
        self._alive: dict[int, npt.NDArray[np.bool_] | None] = {}

    @property
    def records(self) -> int:
        """How many deltas the view applies."""
        return sum(part.records for part in self._parts)

    def may_change(self, column_id: int) -> bool:
        return any(part.may_change(column_id) for part in self._parts)

    def layers(self, column_id: int) -> tuple[CellPatch, ...]:
        if column_id not in self._layers:
            self._layers[column_id] = _layers(self._parts, column_id)
        return self._layers[column_id]

    def patch(self, column_id: int) -> CellPatch | None:
        """The cells that win in a column, or None when none changed."""
        if column_id not in self._patches:
            self._patches[column_id] = _last_patch(self.layers(column_id))
        return self._patches[column_id]

    def changed(self, column_id: int, meets: Callable[[pa.Array], Mask]) -> Ordinals:
        """Rows changed in a column to cells that meet a condition, ascending, perhaps repeatedly.

        Those are among them whose cell was changed once more, and those whose cells stay in a file.
        """
        layers = self.layers(column_id)
        at_hand = [(p.ordinals, p.values) for p in layers if isinstance(p, ColumnPatch)]
        parts = [layer.ordinals for layer in layers if not isinstance(layer, ColumnPatch)]
        return _meeting(at_hand, meets, parts)

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


class CurrentView(DeltaView):
    """The view of the newest snapshot, which knows what came since an earlier one.

    `newest`: the time of the newest change of the rowset; `is_empty`: whether there are no changes.
    """

    def __init__(
        self,
        files: DeltaView,
        stores: Sequence[StorePart],
        newest: Timestamp,
        newest_on_disk: Timestamp,
    ) -> None:
        """A view over files and, later than those, stores in memory, oldest first.

        `newest_on_disk`: the time of the newest change in a file.
        """
        super().__init__((files, *stores))
        self.newest = newest
        self.is_empty = not (stores or files._parts)
        self._files = files
        self._stores = stores
        self._newest_on_disk = newest_on_disk
        self._numbers: dict[int, CellsSet | None] = {}
        # By the identities of arrays, which are here as long as the entry is.
        self._joined_ordinals: dict[tuple[int, ...], tuple[Sequence[Ordinals], Ordinals]] = {}

    def since(self, time: Timestamp) -> Sequence[Deltas] | None:
        """The changes from a time on, in the order of their making; None if a file has some."""
        if self._newest_on_disk >= time:
            return None
        return [deltas for store in self._stores for deltas in store.since(time)]

    def cells_set(self, column_id: int) -> Sequence[CellsSet] | None:
        """What all deltas set in a column, in their order; None where some cells stay in a file.

        Changes in memory come as they arrived: nothing is merged.
        """
        patches = self._files.layers(column_id)
        if not all(isinstance(patch, ColumnPatch) for patch in patches):
            return None
        in_memory = (deltas for store in self._stores for deltas in store.since(UNCOMMITTED))
        return [(p.ordinals, p.values) for p in patches] + cells_set_by(in_memory, column_id)

    def numbers_set(self, column_id: int) -> CellsSet | None:
        """What `cells_set` gives for cells of a fixed width, as one; None for others and for none.

        Who reads some rows only finds them in it faster than in each batch. Columns that the same
        batches set have one array of rows.
        """
        if column_id not in self._numbers:
            changes = self.cells_set(column_id)
            is_fixed = changes and _has_fixed_width(changes[0][1].type)
            self._numbers[column_id] = self._joined(changes) if changes and is_fixed else None
        return self._numbers[column_id]

    def _joined(self, changes: Sequence[CellsSet]) -> CellsSet:
        batches = [ordinals for ordinals, _ in changes]
        key = tuple(map(id, batches))
        entry = self._joined_ordinals.get(key)
        if entry is None:
            entry = self._joined_ordinals[key] = batches, np.concatenate(batches)
        return entry[1], pa.concat_arrays(in_one_type([values for _, values in changes]))

    def changed(self, column_id: int, meets: Callable[[pa.Array], Mask]) -> Ordinals:
        numbers = self.numbers_set(column_id)
        if numbers is not None:
            ordinals, values = numbers
            return np.sort(ordinals[meets(values)])
        cells_set = self.cells_set(column_id)
        if cells_set is None:
            return super().changed(column_id, meets)
        return _meeting(cells_set, meets)


def _has_fixed_width(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _meeting(
    cells_set: Sequence[CellsSet],
    meets: Callable[[pa.Array], Mask],
    others: Sequence[Ordinals] = (),
) -> Ordinals:
    """Rows set to cells that meet a condition, and other rows, ascending.

    The condition is asked once about all cells, and once about those in each dictionary.
    """
    parts, plain = list(others), []
    for ordinals, values in cells_set:
        if pa.types.is_dictionary(values.type):
            parts.append(ordinals[meets(values)])
        else:
            plain.append((ordinals, values))
    if plain:
        ordinals, values = joined(plain)
        parts.append(ordinals[meets(values)])
    return np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64)


def _layers(parts: Sequence[DeltaPart], column_id: int) -> tuple[CellPatch, ...]:
    return tuple(layer for part in parts for layer in part.layers(column_id))


def _last_patch(patches: Sequence[CellPatch]) -> CellPatch | None:
    return patches[0] if len(patches) == 1 else merged(patches)


def merged(patches: Sequence[CellPatch]) -> ColumnPatch | None:
    """The cells of several patches of a column; those of a later one win."""
    if not patches:
        return None
    ordinals = np.concatenate([patch.ordinals for patch in patches])
    values = concat_values(patch.values for patch in patches)
    if len(patches) == 1:
        return ColumnPatch(ordinals, values)
    order = np.argsort(ordinals, kind="stable")
    newest = order[last_of_each(ordinals[order])]
    return ColumnPatch(ordinals[newest], take_ordinals(values, newest))


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
