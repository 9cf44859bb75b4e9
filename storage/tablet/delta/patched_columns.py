"""The columns of one rowset with the newest deltas applied, kept in the block cache.

Only the first scan after a change patches a column, and where an earlier scan has done so, it
applies no more than what came since. A column that a scan of an older snapshot would need is not
kept: the newest counts. As long as nothing is asked for, nothing is kept up to date.
"""

import threading
from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.decoded.decoded_cells import ColumnMemory
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.validity_array import validity_array
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patches, patched_validity
from pykudu_sql.storage.tablet.delta.delta_store import CellsSet, Deltas, cells_set_by
from pykudu_sql.storage.tablet.delta.delta_view import CurrentView
from pykudu_sql.storage.tablet.delta.patched_column import (
    PatchedColumn,
    patch_memory,
    patch_whole,
)

_STRINGS = "strings"
_VALIDITY = "validity"


class BaseColumn(Protocol):
    """A column of the base image."""

    def read(self) -> pa.Array:
        """All its cells."""

    def validity(self) -> pa.BooleanArray:
        """Where they are NULL; see `validity_array`."""

    def take_memory(self) -> ColumnMemory | None:
        """The memory of what was read, None if others may read it; see `CFileReader`."""


class PatchedColumns:
    """The patched columns of a rowset. Safe for threads."""

    def __init__(self, cache: BlockCache) -> None:
        """Nothing is patched yet. `cache`: keeps what is, as it keeps decoded blocks."""
        self._cache = cache
        self._owner = object()
        self._is_owner_watched = False
        self._lock = threading.Lock()

    def whole(self, view: CurrentView, column: ColumnSchema, base: BaseColumn) -> pa.Array | None:
        """A whole column, texts as views perhaps; None where no delta changes it.

        `base`: its base cells.
        """
        array = self.at_hand(view, column)
        if array is not None:
            return array
        with self._lock:
            array = self.at_hand(view, column)
            return self._bring_up_to_date(view, column, base) if array is None else array

    def at_hand(self, view: CurrentView, column: ColumnSchema) -> pa.Array | None:
        """What `whole` has kept, None when it has nothing."""
        previous = self._cache.peek((self._owner, column.id))
        if not isinstance(previous, PatchedColumn):
            return None
        # The array first: once it is taken, nobody goes on with its cells.
        array = previous.array
        return array if previous.newest == view.newest and previous.type == column.type else None

    def validity(
        self, view: CurrentView, column: ColumnSchema, base: BaseColumn
    ) -> pa.BooleanArray | None:
        """Where a whole column is NULL, which is kept too; None where no delta changes it.

        `base`: its base cells.
        """
        whole = self.at_hand(view, column)
        if whole is not None:
            return validity_array(whole)
        key = self._owner, column.id, _VALIDITY
        previous = self._cache.peek(key)
        changes: Sequence[Deltas] | None = None
        cells_set: Sequence[CellsSet]
        if isinstance(previous, PatchedColumn) and previous.newest <= view.newest:
            if previous.newest == view.newest:
                return previous.array
            changes = view.since(previous.newest)
        if isinstance(previous, PatchedColumn) and changes is not None:
            before, cells_set = previous.array, cells_set_by(changes, column.id)
        else:
            cells_set = _cells_set(view, column.id)
            if not cells_set:
                return None
            before = base.validity()
        patched = patched_validity(before, cells_set)
        self._keep(key, PatchedColumn(patched, column.type, view.newest, patched.nbytes))
        return patched

    def strings(self, view: CurrentView, column: ColumnSchema, texts: pa.Array) -> pa.Array:
        """The views of a whole column as strings, which are kept too."""
        key = self._owner, column.id, _STRINGS
        previous = self._cache.peek(key)
        if isinstance(previous, PatchedColumn) and previous.newest == view.newest:
            return previous.array
        strings = plain(texts)
        self._keep(key, PatchedColumn(strings, column.type, view.newest, strings.nbytes))
        return strings

    def _bring_up_to_date(
        self, view: CurrentView, column: ColumnSchema, base: BaseColumn
    ) -> pa.Array | None:
        previous = self._cache.get((self._owner, column.id))
        newest = None
        if isinstance(previous, PatchedColumn) and previous.type == column.type:
            if previous.newest > view.newest:
                layers = view.layers(column.id)
                return apply_patches(base.read(), 0, layers, column.type) if layers else None
            changes = view.since(previous.newest)
            if changes is not None:
                newest = previous.advance(changes, column.id, view.newest)
        if newest is None:
            newest = _from_base(view, column, base)
        if newest is None:
            return None
        array = newest.array
        self._keep((self._owner, column.id), newest)
        return array

    def _keep(self, key: tuple[object, ...], column: PatchedColumn) -> None:
        self._cache.put(key, column, column.size)
        if not self._is_owner_watched:
            self._is_owner_watched = True
            self._cache.forget_after(self, self._owner)


def _from_base(view: CurrentView, column: ColumnSchema, base: BaseColumn) -> PatchedColumn | None:
    """A column with all changes; None where there is none."""
    changes = view.cells_set(column.id)
    if changes is not None and not changes:
        return None
    cells = base.read()
    if changes is not None:
        if pa.types.is_primitive(cells.type):
            del cells
            memory = base.take_memory()
            if memory is not None:
                return patch_memory(memory, changes, view.newest)
            cells = base.read()
        patched = patch_whole(cells, changes, column.type, view.newest)
        if patched is not None:
            return patched
    array = apply_patches(cells, 0, view.layers(column.id), column.type)
    return PatchedColumn(array, column.type, view.newest, array.nbytes)


def _cells_set(view: CurrentView, column_id: int) -> Sequence[CellsSet]:
    """What all deltas set in a column, in their order."""
    changes = view.cells_set(column_id)
    if changes is not None:
        return changes
    return [(patch.ordinals, patch.values) for patch in view.layers(column_id)]
