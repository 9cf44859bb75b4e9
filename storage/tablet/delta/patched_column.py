"""A whole column with its deltas applied, on which later deltas are applied in place.

Arrays that have been given out never change: as long as anybody has one, or a slice of it, later
deltas are applied on a copy. Only cells that no array is left of are changed in place, in a form of
`cell_form`.
"""

import weakref
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.decoded.decoded_cells import ColumnMemory
from pykudu_sql.storage.common.types.arrays import pack_validity, plain, validity
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.tablet.delta.cell_form import (
    CellForm,
    Cells,
    FixedCells,
    form_of,
    views_at,
)
from pykudu_sql.storage.tablet.delta.delta_applier import copied, with_validity
from pykudu_sql.storage.tablet.delta.delta_store import (
    CellsSet,
    Deltas,
    Ordinals,
    cells_set_by,
    joined,
)

Mask = npt.NDArray[np.bool_]


class PatchedColumn:
    """A column as of a moment.

    Attributes:
        type: of the column then.
        newest: the time of the newest change that it has; all older ones are there too.
        size: bytes that it keeps in memory.
        array: the cells; None once somebody goes on with them.
    """

    __slots__ = ("_cells", "_exported", "_form", "_valid", "array", "newest", "size", "type")

    def __init__(
        self, array: pa.Array, column_type: DataType, newest: Timestamp, size: int
    ) -> None:
        """A column that is not to go on with."""
        self.type = column_type
        self.newest = newest
        self.size = size
        self.array: pa.Array | None = array
        self._cells: Cells | None = None
        self._form: CellForm | None = None
        self._exported: weakref.ref[Cells] | None = None
        self._valid: Mask | None = None

    @classmethod
    def over(
        cls,
        cells: Cells,
        form: CellForm,
        valid: Mask | None,
        column_type: DataType,
        newest: Timestamp,
    ) -> "PatchedColumn":
        """A column over cells that nobody else has; `valid`: False where one is NULL."""
        # Arrow keeps this object, not the one that it is a view of, until its last array is gone.
        exported = cells[:]
        size = cells.nbytes + form.size
        if valid is not None:
            size += valid.nbytes + valid.nbytes // 8
        column = cls(form.array(exported, pack_validity(valid)), column_type, newest, size)
        column._valid = valid
        column._cells, column._form, column._exported = cells, form, weakref.ref(exported)
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
        array, cells, form = self.array, self._cells, self._form
        self.array = self._cells = None
        if cells is None or form is None or form.is_full:
            return None
        cells_set = cells_set_by(changes, column_id)
        if not cells_set:
            return self._unchanged(array, cells, newest)
        array = None
        if self._exported is None or self._exported() is not None:
            cells = copied(cells)
        whole = _for_one_pass(cells_set, self.type)
        valid = with_validity(self._valid, len(cells), whole)
        cells, form = form.with_cells(cells, whole)
        return PatchedColumn.over(cells, form, valid, self.type, newest)

    def _unchanged(self, array: pa.Array, cells: Cells, newest: Timestamp) -> "PatchedColumn":
        """The column at a later moment, with the same array: others may have it."""
        column = PatchedColumn(array, self.type, newest, self.size)
        column._cells = cells
        column._form, column._exported = self._form, self._exported
        column._valid = self._valid
        return column


def patch_whole(
    base: pa.Array, changes: Sequence[CellsSet], column_type: DataType, newest: Timestamp
) -> PatchedColumn | None:
    """A column with changes applied, which may be advanced later; None where it has no form.

    Args:
        base: the cells of all rows.
        changes: at least one, in the order of their making.
        column_type: to read the column in.
        newest: the time of the newest change of the rowset.
    """
    formed = form_of(base, column_type)
    if formed is None:
        return None
    return _patched(formed, validity(base), changes, column_type, newest)


def patch_memory(
    memory: ColumnMemory, changes: Sequence[CellsSet], newest: Timestamp
) -> PatchedColumn:
    """As `patch_whole`, in the memory of the base, which nobody else reads any more."""
    formed = memory.numbers(), FixedCells(memory.type)
    return _patched(formed, memory.validity(), changes, memory.type, newest)


def _patched(
    formed: tuple[Cells, CellForm],
    valid: Mask | None,
    changes: Sequence[CellsSet],
    column_type: DataType,
    newest: Timestamp,
) -> PatchedColumn:
    cells, form = formed
    changes = _for_one_pass(changes, column_type)
    valid = with_validity(valid, len(cells), changes)
    cells, form = form.with_cells(cells, changes)
    return PatchedColumn.over(cells, form, valid, column_type, newest)


def _for_one_pass(changes: Sequence[CellsSet], column_type: DataType) -> Sequence[CellsSet]:
    """Changes of texts as one, which their form asks for; those of few words and others as are."""
    if not column_type.is_text or all(pa.types.is_dictionary(v.type) for _, v in changes):
        return changes
    return [joined(changes)]


def cells_at(array: pa.Array, ordinals: Ordinals) -> pa.Array:
    """Cells of the array of a patched column, texts as strings."""
    if pa.types.is_string_view(array.type):
        return plain(views_at(array, ordinals))
    return take_ordinals(array, ordinals)
