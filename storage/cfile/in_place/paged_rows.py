"""One row's cells of several columns of texts, each read in its place, in one pass.

Columns of long texts have the same rows in a block. Where the cells of a block have one length, a
cell is a page whose place is a multiplication away: what it takes is then the read and the checksum
of that page, and not the calls on the way there.
"""

from collections.abc import Sequence

from google_crc32c import extend

from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CorruptionError


class PagedRows:
    """The cells of some columns whose blocks have the same rows. Safe for threads."""

    __slots__ = ("_columns", "_plans")

    def __init__(self, columns: Sequence[CFileReader]) -> None:
        """Read these columns, which have `equal_cells`.

        Raises CorruptionError: where they lie is not what was written.
        """
        self._columns = columns
        self._plans = [
            (*equal, column.touches, column.cell_at)
            for column in columns
            if (equal := column.equal_cells) is not None
        ]

    def read(self, number: int, slot: int) -> list[Cell]:
        """The cells of a row by its block, 0 .. block_count - 1, and its place there.

        Blocks that are in memory, or read often enough to be, are read there; the first column
        stands for the others. Raises CorruptionError: a block is not what was written.
        """
        columns = self._columns
        if not columns or not columns[0].is_read_in_place(number):
            return self._read_singly(number, slot)
        row: list[Cell] = []
        count = columns[0].touches[number] + 1
        try:
            for blocks, size, checksums, read, seed, decode, touches, cell_at in self._plans:
                block = blocks[number]
                if block is not None:
                    offset, pages, start, width, first = block
                    page, begin = divmod(start + slot * width, size)
                    if begin + width <= size and page < pages:
                        data = read(offset + page * size, size)
                        if extend(seed, data) != checksums[first + page]:
                            return self._read_singly(number, slot)
                        row.append(decode(data[begin : begin + width]))
                        touches[number] = count
                        continue
                row.append(cell_at(number, slot))
        except (CorruptionError, UnicodeDecodeError):
            return self._read_singly(number, slot)
        return row

    def _read_singly(self, number: int, slot: int) -> list[Cell]:
        """The same column by column, which says where damage is."""
        return [column.cell_at(number, slot) for column in self._columns]
