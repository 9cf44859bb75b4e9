"""The decoded blocks of one CFile: each by itself, or the whole column as one array.

The block cache keeps them. What was used last is also referred to from here, for single cells: a
way past the cache, which does not keep alive what the cache evicts.
"""

import weakref
from collections.abc import Callable

import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache, Key
from pykudu_sql.storage.cfile.cfile_blocks import CFileBlocks
from pykudu_sql.storage.cfile.decoded.decoded_cells import (
    ColumnMemory,
    DecodedCells,
    WholeColumn,
    whole_column,
)
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.common.types.value_bytes import own_bytes

# After so many cells read past the block cache, the block counts as used, and so it stays there.
_SHORT_WAYS = 16


def _nothing() -> None:
    """The reference to nothing."""


class DecodedBlocks:
    """The blocks of a column. Safe for threads.

    Attributes:
        whole_memo: gives the whole column, if it was decoded and still is in memory.
        memos: the same for each block by itself.
    """

    def __init__(
        self, blocks: CFileBlocks, column_type: DataType, cache: BlockCache, key: Key
    ) -> None:
        """Nothing is decoded yet. `key`: of the whole column in the cache."""
        self._blocks = blocks
        self._type = column_type
        self._cache = cache
        self._key = key
        self._count = len(blocks.first_ordinals) - 1
        self.whole_memo: Callable[[], DecodedCells | None] = _nothing
        self.memos: list[Callable[[], DecodedCells | None]] = [_nothing] * self._count
        self._short_ways = 0

    def cached_whole(self) -> DecodedCells | None:
        """The whole column, None where the cache does not have it."""
        cached = self._cache.peek(self._key)
        return cached if isinstance(cached, DecodedCells) else None

    def whole(self, stats: ScanStats | None = None) -> DecodedCells:
        """The whole column, decoded where the cache does not have it.

        `stats`: counts the blocks that had to be decoded. Raises CorruptionError: a block is not
        what was written.
        """
        cached = self._cache.get(self._key)
        if isinstance(cached, DecodedCells):
            self.whole_memo = weakref.ref(cached)
            return cached
        array = self._decode(0, self._count, stats)
        whole = whole_column(array, self._type)
        self._cache.put(self._key, whole, own_bytes(array))
        self.whole_memo = weakref.ref(whole)
        return whole

    def block(self, number: int, stats: ScanStats | None = None) -> DecodedCells:
        """One block, 0 .. block_count - 1; see `whole`."""
        if self._count == 1:
            return self.whole(stats)
        key = (*self._key, number)
        cached = self._cache.get(key)
        if isinstance(cached, DecodedCells):
            return cached
        array = self._decode(number, number + 1, stats)
        block = DecodedCells(array, self._type)
        self._cache.put(key, block, own_bytes(array))
        self.memos[number] = weakref.ref(block)
        return block

    def block_for_cell(self, number: int) -> DecodedCells | None:
        """A block for a single cell, None where it is not in memory."""
        block = self.memos[number]()
        if block is None or self._short_ways >= _SHORT_WAYS:
            self._short_ways = 0
            cached = self._cache.peek((*self._key, number))
            if not isinstance(cached, DecodedCells):
                return None
            block = cached
            self.memos[number] = weakref.ref(block)
        self._short_ways += 1
        return block

    def take_memory(self) -> ColumnMemory | None:
        """The memory of the whole column, which the cache has no more; None if others may read it.

        Whoever has it may change the cells. A column that the cache does not have, and one of texts
        or booleans, has none.
        """
        if not isinstance(self.whole_memo(), WholeColumn):
            return None
        # One of several threads gets it.
        whole = self._cache.pop(self._key)
        if not isinstance(whole, WholeColumn):
            return None
        memory = whole.memory
        del whole
        view = memory.view()
        if view is None:
            return memory
        whole = WholeColumn(memory, view)
        self._cache.put(self._key, whole, own_bytes(whole.array))
        self.whole_memo = weakref.ref(whole)
        return None

    def _decode(self, first: int, stop: int, stats: ScanStats | None) -> pa.Array:
        array = self._blocks.decode(first, stop)
        if stats is not None:
            stats.blocks_decoded += stop - first
            stats.bytes_decoded += own_bytes(array)
        return array
