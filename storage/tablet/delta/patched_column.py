"""A whole column with its deltas applied, on which later deltas are applied in place.

Arrays that have been given out never change: as long as anybody has one, or a slice of it, later
deltas are applied on a copy. Only cells that no array is left of are changed in place.

Numbers are cells of their width. Texts are views (Arrow's `string_view`): a cell of 16 bytes has
the length, and the text itself or the place of it in one of several buffers, so a changed text is
another cell and one more buffer, and no text moves. The engine reads them as fast as strings.
"""

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view, plain
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patches, copied
from pykudu_sql.storage.tablet.delta.delta_store import (
    CellPatch,
    ColumnPatch,
    Deltas,
    Ordinals,
    concat_values,
)

Cells = npt.NDArray[Any]

_INLINE_BYTES = 12
# Texts that were changed again stay in their buffers, until the column is patched from its base.
_MOST_BUFFERS = 64


class PatchedColumn:
    """A column as of a moment.

    Attributes:
        type: of the column then.
        newest: the time of the newest change that it has; all older ones are there too.
        size: bytes that it keeps in memory.
        array: the cells; None once somebody goes on with them.
    """

    __slots__ = ("_buffers", "_cells", "_exported", "array", "newest", "size", "type")

    def __init__(self, array: pa.Array, column_type: DataType, newest: Timestamp) -> None:
        """A column that is not to go on with."""
        self.type = column_type
        self.newest = newest
        self.size = array.nbytes
        self.array: pa.Array | None = array
        self._cells: Cells | None = None
        self._buffers: tuple[pa.Buffer, ...] = ()
        self._exported: weakref.ref[Cells] | None = None

    @classmethod
    def over(
        cls, cells: Cells, buffers: tuple[pa.Buffer, ...], column_type: DataType, newest: Timestamp
    ) -> "PatchedColumn":
        """A column over cells that nobody else has; `buffers`: those that texts name."""
        # Arrow keeps this object, not the one that it is a view of, until its last array is gone.
        exported = cells[:]
        column = cls(_array_of(exported, buffers, column_type), column_type, newest)
        column.size = cells.nbytes + sum(buffer.size for buffer in buffers)
        column._cells, column._buffers, column._exported = cells, buffers, weakref.ref(exported)
        return column

    def advance(
        self, changes: Sequence[Deltas], column_id: int, newest: Timestamp
    ) -> "PatchedColumn | None":
        """The column with later changes, of which nothing is left here; None if that is not to do.

        Args:
            changes: later than those that are there or as late, in the order of their making.
            column_id: of the column.
            newest: the time of the newest change of the rowset then.
        """
        array, cells = self.array, self._cells
        self.array = self._cells = None
        if cells is None or len(self._buffers) > _MOST_BUFFERS:
            return None
        ordinals, values = _cells_set(changes, column_id)
        if not _are_simple(values, self.type):
            return None
        if not len(ordinals):
            return self._unchanged(array, cells, newest)
        array = None
        if self._exported is None or self._exported() is not None:
            cells = copied(cells)
        buffers = _write(cells, self._buffers, ordinals, values, self.type)
        return PatchedColumn.over(cells, buffers, self.type, newest)

    def _unchanged(self, array: pa.Array, cells: Cells, newest: Timestamp) -> "PatchedColumn":
        """The column at a later moment, with the same array: others may have it."""
        column = PatchedColumn(array, self.type, newest)
        column.size, column._cells = self.size, cells
        column._buffers, column._exported = self._buffers, self._exported
        return column


def patch_whole(
    base: pa.Array, patches: Sequence[CellPatch], column_type: DataType, newest: Timestamp
) -> PatchedColumn:
    """A column with patches applied, which may be advanced later.

    Args:
        base: the cells of all rows.
        patches: those that win over the base; those of a later patch win over an earlier's.
        column_type: to read the column in.
        newest: the time of the newest change of the rowset.
    """
    base = in_type(base, column_type.arrow)
    if not (_are_simple(base, column_type) and _are_simple_patches(patches, column_type)):
        array = apply_patches(base, 0, patches, column_type)
        return PatchedColumn(array, column_type, newest)
    cells, buffers = _copy_of(base, column_type)
    for patch in patches:
        buffers = _write(cells, buffers, patch.ordinals, patch.values, column_type)
    return PatchedColumn.over(cells, buffers, column_type, newest)


def cells_at(array: pa.Array, ordinals: Ordinals) -> pa.Array:
    """Cells of the array of a patched column, texts as strings."""
    if not pa.types.is_string_view(array.type):
        return pc.pick(array, pa.array(ordinals))
    _, data, *buffers = array.buffers()
    views = np.frombuffer(data, "<u8", 2 * len(array)).reshape(-1, 2)[ordinals]
    return plain(_array_of(views, tuple(buffers), DataType(Kind.STRING)))


def _are_simple_patches(patches: Sequence[CellPatch], column_type: DataType) -> bool:
    return all(
        isinstance(patch, ColumnPatch) and _are_simple(patch.values, column_type)
        for patch in patches
    )


def _are_simple(values: pa.Array, column_type: DataType) -> bool:
    """Whether cells are written one by one, each at its place."""
    if values.null_count or pa.types.is_dictionary(values.type):
        return False
    return column_type.is_text or not (column_type.is_variable or column_type.kind is Kind.BOOL)


def _cells_set(changes: Sequence[Deltas], column_id: int) -> tuple[Ordinals, pa.Array]:
    """The rows that changes set a column in, perhaps repeatedly, and the cells."""
    having = [(deltas, deltas.cells[column_id]) for deltas in changes if column_id in deltas.cells]
    if not having:
        return np.empty(0, np.int64), pa.nulls(0)
    ordinals = [
        d.ordinals if len(c.positions) == len(d) else d.ordinals[c.positions] for d, c in having
    ]
    return np.concatenate(ordinals), concat_values(cells.values for _, cells in having)


def _copy_of(base: pa.Array, column_type: DataType) -> tuple[Cells, tuple[pa.Buffer, ...]]:
    if not column_type.is_text:
        return copied(fixed_view(base, column_type)), ()
    views, buffers = _views_of(base)
    return copied(views), buffers


def _write(
    cells: Cells,
    buffers: tuple[pa.Buffer, ...],
    ordinals: Ordinals,
    values: pa.Array,
    column_type: DataType,
) -> tuple[pa.Buffer, ...]:
    """Set cells; of rows that come twice the later one stays. Returns the buffers of all texts."""
    if not column_type.is_text:
        cells[ordinals] = fixed_view(in_type(values, column_type.arrow), column_type)
        return buffers
    views, added = _views_of(values)
    if added:
        views = views.copy()
        views[:, 1] += np.where(_lengths(views) > _INLINE_BYTES, np.uint64(len(buffers)), 0)
    cells[ordinals] = views
    return (*buffers, *added)


def _views_of(texts: pa.Array) -> tuple[Cells, tuple[pa.Buffer, ...]]:
    """Texts as views, shape (n, 2), and the buffers that they name by number.

    The first word has the length and the first four bytes; the second, of texts that do not fit
    into a view, the number of a buffer and the place there.
    """
    views = texts.cast(pa.string_view())
    _, data, *buffers = views.buffers()
    words = np.frombuffer(data, "<u8", 2 * len(views), 16 * views.offset).reshape(-1, 2)
    return words, tuple(buffers)


def _lengths(views: Cells) -> Cells:
    return views[:, 0] & np.uint64(0xFFFFFFFF)


def _array_of(cells: Cells, buffers: tuple[pa.Buffer, ...], column_type: DataType) -> pa.Array:
    arrow = pa.string_view() if column_type.is_text else column_type.arrow
    return pa.Array.from_buffers(arrow, len(cells), [None, pa.py_buffer(cells), *buffers])
