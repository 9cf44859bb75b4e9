"""Decoded rows of a CFile as the block cache keeps them.

A whole column of a fixed width is a megabyte or more, so whoever is to change cells of it takes the
memory over instead of a copy, if no array is left over it. Of an array only Arrow knows how many
others share its memory. Therefore it is made over a view of the cells that this module has no other
reference to: once that view is gone, so are all arrays.
"""

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.cell_access import ReadCell, cell_reader, cell_view
from pykudu_sql.storage.common.types.from_buffers import bits_of
from pykudu_sql.storage.common.types.types import DataType, Kind

Bytes = npt.NDArray[np.uint8]


class DecodedCells:
    """Decoded rows: an array, and the way to its single cells.

    `integers`: the cells, where all are integers.
    """

    __slots__ = ("__weakref__", "array", "integers", "read_cell")

    def __init__(self, array: pa.Array, column_type: DataType) -> None:
        self.array = array
        self.integers = cell_view(array, column_type)
        self.read_cell: ReadCell = (
            cell_reader(array, column_type) if self.integers is None else self.integers.__getitem__
        )


class WholeColumn(DecodedCells):
    """All rows of a column of a fixed width, whose memory can be taken over."""

    __slots__ = ("memory",)

    def __init__(self, memory: "ColumnMemory", view: Bytes) -> None:
        """A column over its memory. `view`: which arrays are made over."""
        super().__init__(memory.array_over(view), memory.type)
        self.memory = memory


@dataclass(frozen=True, slots=True)
class ColumnMemory:
    """Where the cells of a whole column stand.

    Attributes:
        type: of the column.
        rows: how many.
        cells: their bytes.
        valid: the bitmap of those that are not NULL, None without a NULL.
        view: of the cells, which all arrays are made over; gives None once the last is gone.
    """

    type: DataType
    rows: int
    cells: Bytes
    valid: pa.Buffer | None
    view: "weakref.ref[Bytes]"

    def array_over(self, view: Bytes) -> pa.Array:
        """The column over a view of the cells."""
        return pa.Array.from_buffers(self.type.arrow, self.rows, [self.valid, pa.py_buffer(view)])

    def numbers(self) -> npt.NDArray[Any]:
        """The cells as `fixed_view` gives them, to be changed by whoever has them alone."""
        if self.type.width == 16:
            return self.cells.view("<u8").reshape(-1, 2)
        return self.cells.view(self.type.numpy or np.dtype(np.uint8))

    def validity(self) -> npt.NDArray[np.bool_] | None:
        """False where a cell is NULL, a new array; None when none is."""
        return None if self.valid is None else bits_of(self.valid, 0, self.rows)


def whole_column(array: pa.Array, column_type: DataType) -> DecodedCells:
    """A decoded column for the cache. `array`: all rows, in memory that nobody else has."""
    if column_type.is_variable or column_type.kind is Kind.BOOL or not len(array):
        return DecodedCells(array, column_type)
    valid, data = array.buffers()
    cells = np.frombuffer(data, np.uint8)
    view = cells[:]
    memory = ColumnMemory(column_type, len(array), cells, valid, weakref.ref(view))
    return WholeColumn(memory, view)
