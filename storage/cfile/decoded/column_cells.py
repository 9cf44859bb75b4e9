"""Single cells of a CFile, and where a cell belongs among others that ascend.

Kudu's `CFileIterator::SeekAtOrAfter` and `SeekToOrdinal`. A cell comes from what is decoded, else
of a text where it lies in the file (`in_place`), else from its block, which is decoded for it.
"""

from bisect import bisect_left, bisect_right
from typing import Any, Literal

from pykudu_sql.storage.cfile.cfile_blocks import CFileBlocks
from pykudu_sql.storage.cfile.decoded.decoded_blocks import DecodedBlocks
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CorruptionError, InternalError

Side = Literal["left", "right"]

# So many cells of a block are read without keeping it. To decode and keep it costs as much as seven
# or eight that are read by pages, and a fifth more than one for which all of it is. A cell that is
# one page takes so little that about 40 pay for the block; twice as many, for a decoded block of
# texts takes five times the memory of what keys drawn by Zipf's law read of it.
_TOUCHES_BY_PAGES = 6
_TOUCHES_OF_ALL = 1
_TOUCHES_STORED = 96


class ColumnCells:
    """The cells of one column. Safe for threads.

    Attributes:
        has_texts: whether they are strings or binaries and not codes.
        first_ordinals: of the blocks, and behind the last the number of rows.
        touches: how many cells of each block of text were read without keeping it.
    """

    def __init__(
        self, blocks: CFileBlocks, decoded: DecodedBlocks, *, has_texts: bool, has_pages: bool
    ) -> None:
        """Nothing is read yet.

        Args:
            blocks: as they lie in the file.
            decoded: those of the cache.
            has_texts: see the attributes.
            has_pages: whether the pages of texts have checksums of their own.
        """
        self._blocks = blocks
        self._decoded = decoded
        self.first_ordinals = blocks.first_ordinals
        # A block of text that look-ups seldom come to is not decoded and kept for their sake: of
        # many rows read once each, the cache would hold a block for every one.
        self.has_texts = has_texts
        self._touches_in_place = _TOUCHES_BY_PAGES if has_pages else _TOUCHES_OF_ALL
        self.touches = bytearray(len(blocks.first_ordinals) - 1)

    def cell(self, ordinal: int) -> Cell:
        """One cell, 0 .. row_count - 1.

        Raises InternalError: there is no such row; CorruptionError: the block is not what was
        written.
        """
        if not 0 <= ordinal < self.first_ordinals[-1]:
            raise InternalError(f"{self._blocks} has no row {ordinal}")
        whole = self._decoded.whole_memo()
        if whole is not None:
            return whole.read_cell(ordinal)
        firsts = self.first_ordinals
        number = bisect_right(firsts, ordinal) - 1
        slot = ordinal - firsts[number]
        block = self._decoded.block_for_cell(number)
        return self._cell_of_another(number, slot) if block is None else block.read_cell(slot)

    def cell_at(self, number: int, slot: int) -> Cell:
        """One cell of a block, 0 .. block_count - 1, for who knows where its row is.

        `slot`: 0 .. rows of the block - 1. Raises CorruptionError: the block is not what was
        written.
        """
        whole = self._decoded.whole_memo()
        if whole is not None:
            return whole.read_cell(self.first_ordinals[number] + slot)
        block = self._decoded.block_for_cell(number)
        return self._cell_of_another(number, slot) if block is None else block.read_cell(slot)

    def is_read_in_place(self, number: int) -> bool:
        """Whether a cell of a block is to be read without the block: few were, and it is nowhere.

        `number`: of a block of text whose cells can be read so.
        """
        return (
            self.touches[number] < _TOUCHES_STORED
            and self._decoded.memos[number]() is None
            and self._decoded.whole_memo() is None
        )

    def _cell_of_another(self, number: int, slot: int) -> Cell:
        """One cell of a block that the cache does not have."""
        if self.has_texts:
            touches, paged = self.touches[number], self._blocks.paged_cells
            if paged is not None and touches < _TOUCHES_STORED:
                try:
                    stored = paged.stored_cells(number)
                    if stored is not None:
                        self.touches[number] = touches + 1
                        return paged.read_stored(stored, number, slot)
                except CorruptionError as error:
                    raise self._blocks.corrupt_block(number, error) from error
            if touches < self._touches_in_place:
                self.touches[number] = touches + 1
                return self._blocks.binary_cell(number, slot)
            # Once the cache has evicted it, it has to pay again.
            self.touches[number] = 0
        return self._decoded.block(number).read_cell(slot)

    def search(self, cell: Cell, start: int, stop: int, side: Side) -> int:
        """Where a cell belongs among the rows start <= ordinal < stop, whose cells ascend.

        Args:
            cell: not None; text and bytes compare by bytes, as keys do.
            side: "left" for the first row not below the cell, "right" for the first above it.

        Raises CorruptionError: a block is not what was written.
        """
        if start >= stop:
            return start
        bisect = bisect_left if side == "left" else bisect_right
        target: Any = cell
        whole = self._decoded.whole_memo()
        if whole is not None:
            return start + bisect(range(start, stop), target, key=whole.read_cell)
        number = bisect_right(self.first_ordinals, start) - 1
        first, end = self.first_ordinals[number : number + 2]
        if stop <= end:
            read = (self._decoded.memos[number]() or self._decoded.block(number)).read_cell
            return start + bisect(range(start - first, stop - first), target, key=read)
        return start + bisect(range(start, stop), target, key=self.cell)

    def find_in_column(self, cell: Cell) -> int | None:
        """The row that has a cell, -1 if none has; None if it takes more than one search to say.

        It takes one in a column of integers that is decoded as a whole. `cell`: of the type; all
        cells ascend, and no two rows have the same.
        """
        whole = self._decoded.whole_memo()
        integers = None if whole is None else whole.integers
        if integers is None:
            return None
        target: Any = cell
        place = bisect_left(integers, target)
        return place if place < len(integers) and integers[place] == target else -1

    def find_in_memory(self, cell: Cell, start: int, stop: int) -> int | None:
        """The row start <= ordinal < stop that has a cell, -1 if none has; None if they are not
        decoded.

        `cell`, `start`, `stop`: as for `search`; no two rows have the same cell.
        """
        if start >= stop:
            return -1
        target: Any = cell
        base = 0
        decoded = self._decoded.whole_memo()
        if decoded is None:
            number = bisect_right(self.first_ordinals, start) - 1
            base, end = self.first_ordinals[number : number + 2]
            decoded = self._decoded.block_for_cell(number) if stop <= end else None
            if decoded is None:
                return None
        integers = decoded.integers
        if integers is not None:
            place = bisect_left(integers, target, start - base, stop - base)
            return place + base if place < stop - base and integers[place] == target else -1
        read, rows = decoded.read_cell, range(start - base, stop - base)
        place = bisect_left(rows, target, key=read)
        return start + place if place < len(rows) and read(rows[place]) == target else -1
