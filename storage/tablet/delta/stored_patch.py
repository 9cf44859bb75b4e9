"""The winning cells of a column that stay in their delta file until a scan comes to their rows.

Cells of text may take a hundred times what their file does; those of all rows of a rowset at once
would be more than a statement may hold. Numbers of rows are kept, cells are read a stretch at a
time and not kept (see `DeltaFile.is_wide`).
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.tablet.delta.delta_store import (
    ColumnPatch,
    DeltaCells,
    Ordinals,
    places_of,
    winners,
)
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile


@dataclass(frozen=True, slots=True)
class StoredPatch:
    """A `CellPatch` in a file.

    `places`: of the cells among those that the file has of the column, ascending, int64[m].
    """

    ordinals: Ordinals
    places: Ordinals
    file: DeltaFile
    column_id: int

    @property
    def values(self) -> pa.Array:
        """See `CellPatch`."""
        return self.file.cells_at(self.column_id, self.places)

    def between(self, start: int, stop: int) -> ColumnPatch | None:
        """See `CellPatch`."""
        first, last = np.searchsorted(self.ordinals, (start, stop))
        if first == last:
            return None
        cells = self.file.cells_at(self.column_id, self.places[first:last])
        return ColumnPatch(self.ordinals[first:last], cells)

    def at_ordinals(self, ordinals: Ordinals) -> ColumnPatch | None:
        """See `CellPatch`."""
        indices, stored_positions = places_of(self.ordinals, ordinals)
        if not len(indices):
            return None
        # A file is read forward.
        distinct, order = np.unique(self.places[stored_positions], return_inverse=True)
        cells = self.file.cells_at(self.column_id, distinct)
        return ColumnPatch(indices, cells.take(integers(order)))


def stored_patch(
    file: DeltaFile, column_id: int, mask: npt.NDArray[np.bool_] | None
) -> StoredPatch | None:
    """What a file changes in a column, None for nothing.

    `mask`: the records that count, bool[n]; None for all. Raises CorruptionError: the bytes are not
    what was written.
    """
    positions = file.positions(column_id)
    places = integers(np.arange(len(positions), dtype=np.int64))
    by_place = {column_id: DeltaCells(positions, places)}
    patch = winners(replace(file.deltas(()), cells=by_place), column_id, mask)
    if patch is None:
        return None
    return StoredPatch(patch.ordinals, np.asarray(patch.values), file, column_id)
