"""Where the cells of a CFile are NULL, for `count(c)` and IS NULL, which ask nothing else of it."""

from collections.abc import Iterator
from itertools import groupby

import pyarrow as pa

from pykudu_sql.storage.cfile.block import bitmap_length
from pykudu_sql.storage.cfile.block_cache import BlockCache, Key
from pykudu_sql.storage.cfile.cfile_blocks import CFileBlocks
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.common.types.validity_array import all_valid, validity_of_bitmap


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
        if start == stop:
            return all_valid(0)
        count = len(self._has_nulls)
        first, last = self._blocks.span(start, stop)
        if not any(self._has_nulls[first : last + 1]):
            return all_valid(stop - start)
        whole = self._cache.peek(self._key)
        if not isinstance(whole, pa.BooleanArray):
            if 2 * (last + 1 - first) <= count:
                part = self._decode(first, last + 1, stats)
                return part.slice(start - self._blocks.first_ordinals[first], stop - start)
            whole = self._decode(0, count, stats)
            self._cache.put(self._key, whole, bitmap_length(len(whole)))
        return whole.slice(start, stop - start)

    def _decode(self, first: int, stop: int, stats: ScanStats | None) -> pa.BooleanArray:
        """The validity of neighbouring blocks. All but the last hold a multiple of eight rows."""
        firsts = self._blocks.first_ordinals
        rows = firsts[stop] - firsts[first]
        buffer, bits = new_buffer(bitmap_length(rows))
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
