"""The base cells of single rows of a rowset, for look-ups by key, and the cache of rows.

A row of many texts costs a block look-up and a text for each of them. Where a row is asked for
again soon, its cells are kept together in the block cache, so rows asked for often are one look-up,
and their blocks need not be in memory. A row read once is not kept: it would crowd out others.
"""

from collections.abc import Callable, Sequence
from itertools import count
from sys import getsizeof

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell

Row = tuple[Cell, ...]

# To find a row in the cache takes as long as two texts of blocks in memory.
_LEAST_TEXTS = 3
# Of an entry of the cache: its key, and what the cache notes of it.
_ENTRY_BYTES = 500
_NUMBERS = count()


def _constant(cell: Cell) -> Callable[[int], Cell]:
    return lambda ordinal: cell


class BaseRows:
    """The base cells of some columns of a rowset, row by row. Safe for threads.

    `columns`: the columns, the very object that it was made for.
    """

    __slots__ = ("_cache", "_is_cached", "_number", "_path", "_readers", "columns")

    def __init__(
        self,
        columns: Sequence[ColumnSchema],
        cfiles: Sequence[CFileReader | None],
        path: str,
        cache: BlockCache,
    ) -> None:
        """Read these columns.

        Args:
            cfiles: of each column, None where it has none and all cells are its default.
            path: of the base file; with it the cache forgets the rows.
            cache: keeps rows.
        """
        self.columns = columns
        self._readers: list[Callable[[int], Cell]] = [
            _constant(column.read_default) if cfile is None else cfile.cell
            for column, cfile in zip(columns, cfiles, strict=True)
        ]
        texts = sum(cfile is not None and cfile.has_texts for cfile in cfiles)
        self._is_cached = texts >= _LEAST_TEXTS
        self._path = path
        self._cache = cache
        self._number = next(_NUMBERS)

    def read(self, ordinal: int) -> Row:
        """The cells of a row.

        Raises InternalError: there is no such row; CorruptionError: a block is not what was
        written.
        """
        if not self._is_cached:
            return self._read(ordinal)
        key = (self._path, self._number, ordinal)
        cached = self._cache.peek(key)
        if isinstance(cached, tuple):
            return cached
        row = self._read(ordinal)
        if self._cache.is_asked_again(key):
            self._cache.put(key, row, _ENTRY_BYTES + sum(map(getsizeof, row)))
        return row

    def _read(self, ordinal: int) -> Row:
        return tuple([read(ordinal) for read in self._readers])
