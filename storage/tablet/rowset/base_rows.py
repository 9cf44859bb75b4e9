"""The base cells of single rows of a rowset, for look-ups by key, and the cache of rows.

A row of many texts costs a block look-up and a text for each of them. Where a row is asked for
again soon, its cells are kept together in the block cache, so rows asked for often are one look-up,
and their blocks need not be in memory. Unless the cache has room, a row read once is not kept: it
would crowd out others.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from operator import itemgetter
from sys import getsizeof

import numpy as np

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.in_place.paged_rows import PagedRows
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import InternalError

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

    __slots__ = (
        "_arrange", "_by_block", "_by_ordinal", "_cache", "_first_ordinals", "_is_cached",
        "_number", "_paged_rows", "_path", "columns",
    )  # fmt: skip

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
        # Columns of long texts have the same rows in a block: which block a row is in is looked up
        # once for all of them.
        self._first_ordinals = _shared_first_ordinals(cfiles)
        self._by_ordinal: list[Callable[[int], Cell]] = []
        self._by_block: list[CFileReader] = []
        paged: list[CFileReader] = []
        order: list[list[int]] = [[], [], []]
        for place, (column, cfile) in enumerate(zip(columns, cfiles, strict=True)):
            if cfile is None:
                self._by_ordinal.append(_constant(column.read_default))
                order[0].append(place)
            elif not cfile.has_texts or tuple(cfile.first_ordinals) != self._first_ordinals:
                self._by_ordinal.append(cfile.cell)
                order[0].append(place)
            elif cfile.equal_cells is None:
                self._by_block.append(cfile)
                order[1].append(place)
            else:
                paged.append(cfile)
                order[2].append(place)
        self._paged_rows = PagedRows(paged)
        self._arrange = _arranged(order[0] + order[1] + order[2])
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
        if self._cache.is_half_empty or self._cache.is_asked_again(key):
            self._cache.put(key, row, _ENTRY_BYTES + sum(map(getsizeof, row)))
        return row

    def _read(self, ordinal: int) -> Row:
        cells = [read(ordinal) for read in self._by_ordinal]
        firsts = self._first_ordinals
        if firsts:
            if not 0 <= ordinal < firsts[-1]:
                raise InternalError(f"{self._path}: there is no row {ordinal}")
            number = bisect_right(firsts, ordinal) - 1
            slot = ordinal - firsts[number]
            cells += [cfile.cell_at(number, slot) for cfile in self._by_block]
            cells += self._paged_rows.read(number, slot)
        return self._arrange(cells)


def _shared_first_ordinals(cfiles: Sequence[CFileReader | None]) -> Sequence[int]:
    """The first ordinals of blocks that most columns of texts have, if at least two have them."""
    counts = Counter(
        tuple(cfile.first_ordinals) for cfile in cfiles if cfile is not None and cfile.has_texts
    )
    for first_ordinals, columns in counts.most_common(1):
        if columns > 1:
            return first_ordinals
    return ()


def _arranged(order: Sequence[int]) -> Callable[[Sequence[Cell]], Row]:
    """What puts cells, of which each belongs at a place of `order`, at their places."""
    if all(place == index for index, place in enumerate(order)):
        return tuple
    return itemgetter(*np.argsort(order).tolist())
