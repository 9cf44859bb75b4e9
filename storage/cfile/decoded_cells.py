"""Decoded rows of a CFile, and where they are NULL, as the block cache keeps them.

A whole column of a fixed width is a megabyte or more, so whoever is to change cells of it takes the
memory over instead of a copy, if no array is left over it. Of an array only Arrow knows how many
others share its memory. Therefore it is made over a view of the cells that this module has no other
reference to: once that view is gone, so are all arrays.
"""

import weakref
from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block import bitmap_length
from pykudu_sql.storage.cfile.block_cache import BlockCache, Key
from pykudu_sql.storage.cfile.cell_access import ReadCell, cell_reader
from pykudu_sql.storage.cfile.cfile_blocks import CFileBlocks
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.validity_array import all_valid, validity_of_bitmap

Bytes = npt.NDArray[np.uint8]


class DecodedCells:
    """Decoded rows: an array, and the way to its single cells."""

    __slots__ = ("__weakref__", "array", "read_cell")

    def __init__(self, array: pa.Array, column_type: DataType) -> None:
        self.array = array
        self.read_cell: ReadCell = cell_reader(array, column_type)


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
        if self.valid is None:
            return None
        bits = np.frombuffer(self.valid, np.uint8)
        return np.unpackbits(bits, count=self.rows, bitorder="little").view(np.bool_)


def whole_column(array: pa.Array, column_type: DataType) -> DecodedCells:
    """A decoded column for the cache. `array`: all rows, in memory that nobody else has."""
    if column_type.is_variable or column_type.kind is Kind.BOOL or not len(array):
        return DecodedCells(array, column_type)
    valid, data = array.buffers()
    cells = np.frombuffer(data, np.uint8)
    view = cells[:]
    memory = ColumnMemory(column_type, len(array), cells, valid, weakref.ref(view))
    return WholeColumn(memory, view)


class ValidityReader:
    """Where the cells of a CFile are NULL, read without its values. Safe for threads.

    The bitmap stands at the beginning of a block's body, so a block with NULLs is decompressed and
    not decoded, and one without, as its zone map knows, is not read at all. What was read of most
    of a column is kept: a bit a row, so also for who passes over the column only once.
    """

    def __init__(self, blocks: CFileBlocks, cache: BlockCache, key: Key) -> None:
        """Nothing is read yet. `key`: of the whole column's validity in the cache."""
        self._blocks = blocks
        self._cache = cache
        self._key = key
        self._has_nulls: list[bool] = (blocks.index.zone_map.null_counts > 0).tolist()

    def read(self, start: int, stop: int, stats: ScanStats | None) -> pa.BooleanArray:
        """The validity of the rows start <= ordinal < stop.

        `stats`: counts the blocks that had to be read. Raises CorruptionError: a block is not what
        was written.
        """
        firsts, count = self._blocks.first_ordinals, len(self._has_nulls)
        if start == stop:
            return all_valid(0)
        first = bisect_right(firsts, start, 0, count) - 1
        last = bisect_right(firsts, stop - 1, 0, count) - 1
        if not any(self._has_nulls[first : last + 1]):
            return all_valid(stop - start)
        whole = self._cache.peek(self._key)
        if not isinstance(whole, pa.BooleanArray):
            if 2 * (last + 1 - first) <= count:
                part = self._decode(first, last + 1, stats)
                return part.slice(start - firsts[first], stop - start)
            whole = self._decode(0, count, stats)
            self._cache.put(self._key, whole, bitmap_length(len(whole)))
        return whole.slice(start, stop - start)

    def _decode(self, first: int, stop: int, stats: ScanStats | None) -> pa.BooleanArray:
        """The validity of neighbouring blocks. All but the last hold a multiple of eight rows."""
        firsts = self._blocks.first_ordinals
        rows = firsts[stop] - firsts[first]
        buffer = pa.allocate_buffer(bitmap_length(rows))
        bits = np.frombuffer(buffer, np.uint8)
        bits[:] = 0xFF
        for begin, end in self._runs_with_nulls(first, stop):
            for number, block in enumerate(self._blocks.open(begin, end), begin):
                if block.validity is not None:
                    position = (firsts[number] - firsts[first]) // 8
                    bits[position : position + len(block.validity)] = block.validity
            if stats is not None:
                stats.blocks_decoded += end - begin
        if stats is not None:
            stats.bytes_decoded += len(bits)
        return validity_of_bitmap(rows, buffer)

    def _runs_with_nulls(self, first: int, stop: int) -> Iterator[tuple[int, int]]:
        """Neighbouring blocks that have a NULL each."""
        for has_nulls, run in groupby(range(first, stop), self._has_nulls.__getitem__):
            numbers = list(run)
            if has_nulls:
                yield numbers[0], numbers[-1] + 1
