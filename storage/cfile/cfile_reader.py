"""Reading one CFile: all of it, a range, some rows, or one cell.

Kudu's `cfile/cfile_reader.h`. Decoded blocks are kept in the block cache, each by itself for sparse
reads or the whole column as one array for scans; once the whole is there, ranges and blocks are
slices of it without a copy. Strings of a dictionary CFile come as dictionary arrays.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import BlockFile, BlockPointer
from pykudu_sql.storage.cfile.cfile_blocks import CFileBlocks
from pykudu_sql.storage.cfile.column_runs import ColumnRuns, runs_of
from pykudu_sql.storage.cfile.decoded.coded_column import (
    CodedColumn,
    coded_integers,
    coded_words,
)
from pykudu_sql.storage.cfile.decoded.column_cells import ColumnCells
from pykudu_sql.storage.cfile.decoded.decoded_blocks import DecodedBlocks
from pykudu_sql.storage.cfile.decoded.validity_reader import ValidityReader
from pykudu_sql.storage.cfile.decoded.word_test import WordTest
from pykudu_sql.storage.cfile.encoding.type_encodings import BY_NAME
from pykudu_sql.storage.cfile.footer import CFileEntry
from pykudu_sql.storage.cfile.in_place.paged_cells import EqualCells
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.predicate.column_predicate import (
    Comparison,
    InList,
    Leaf,
    Like,
    Op,
    StartsWith,
)
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.validity_array import validity_array
from pykudu_sql.storage.common.types.value_bytes import own_bytes
from pykudu_sql.storage.errors import InternalError

# Stands in the cache for a run-length column some of whose blocks did not pay as runs.
_NO_RUNS = "no runs"
# The same for a column of integers that are too far apart.
_NO_CODES = "no codes"


class CFileReader:
    """One column of an open container. Safe for threads; get one from `ContainerReader.cfile`.

    Attributes:
        encoding: of the column; single blocks may have another.
        row_count, null_count: of the column.
        block_count: data blocks.
        words: gives the dictionary; see `CFileBlocks.words`.
        take_memory: takes the column's memory over; see `DecodedBlocks.take_memory`.
        cell, cell_at, search, find_in_column, find_in_memory, is_read_in_place, touches: see
            `ColumnCells`.
        encoded_size: bytes in the file, blocks and dictionary.
        raw_size: bytes of the values before encoding.
        first_ordinals: of the blocks, and behind the last the number of rows.
        has_texts: whether they are strings or binaries and not codes.
        zone_map: rows, NULLs and bounds of each block.
    """

    def __init__(
        self,
        file: BlockFile,
        entry: CFileEntry,
        cache: BlockCache,
        pages: BlockPointer | None = None,
        places: BlockPointer | None = None,
    ) -> None:
        """Read and check the positional index.

        `pages`, `places`: see `CFileBlocks`. Raises CorruptionError: the index is not what was
        written.
        """
        self.type = entry.type
        self.encoding = entry.encoding
        self._has_runs = BY_NAME[entry.encoding].decode_runs is not None
        self.row_count = entry.rows
        self.null_count = entry.null_count
        self.encoded_size = entry.encoded_size
        self.raw_size = entry.raw_size
        self.block_count = entry.blocks
        self._cache = cache
        self._blocks = CFileBlocks(file, entry, cache, pages, places)
        self.words = self._blocks.words
        self.zone_map: ZoneMap = self._blocks.index.zone_map
        self.first_ordinals = self._blocks.first_ordinals
        self._word_test = WordTest()
        self._key = file.path, entry.name
        self._decoded = DecodedBlocks(self._blocks, entry.type, cache, self._key)
        self.take_memory = self._decoded.take_memory
        self.has_texts = entry.type.is_variable and entry.dictionary is None
        cells = ColumnCells(
            self._blocks, self._decoded, has_texts=self.has_texts, has_pages=pages is not None
        )
        self.cell, self.cell_at, self.touches = cells.cell, cells.cell_at, cells.touches
        self.search, self.find_in_memory = cells.search, cells.find_in_memory
        self.find_in_column = cells.find_in_column
        self.is_read_in_place = cells.is_read_in_place

    def may_match(self, leaf: Leaf) -> npt.NDArray[np.bool_]:
        """Which blocks may hold a matching row, a new array bool[block_count].

        Zone maps are checked first. Where they leave something of a column in codes, its words are
        checked too, each once: when none matches, no block does. Ranges are left to zone maps,
        which know as much of them. `leaf`: over this column. Raises CorruptionError: the dictionary
        is not what was written.
        """
        mask = self.zone_map.may_match(leaf)
        if isinstance(leaf, InList | StartsWith | Like) or (
            isinstance(leaf, Comparison) and leaf.op is Op.EQ
        ):
            words = self.words() if mask.any() else None
            if words is not None:
                matches = self._word_test.matches(leaf, leaf.column_id, words, self.type)
                if not matches.any():
                    mask[:] = False
        return mask

    def read_block(self, number: int) -> pa.Array:
        """The rows of one block, 0 .. block_count - 1.

        Raises CorruptionError: the block is not what was written.
        """
        whole = self._decoded.cached_whole()
        if whole is not None:
            start, stop = self.first_ordinals[number : number + 2]
            return whole.array.slice(start, stop - start)
        return self._decoded.block(number).array

    def read_all(self, stats: ScanStats | None = None) -> pa.Array:
        """All rows as one contiguous array.

        `stats`: counts the blocks that had to be decoded. Raises CorruptionError: a block is not
        what was written.
        """
        return self._decoded.whole(stats).array

    def read_range(self, start: int, stop: int, stats: ScanStats | None = None) -> pa.Array:
        """The rows start <= ordinal < stop. Reads the blocks touched, or all when most are.

        `stats`: counts the blocks that had to be decoded. Raises InternalError: there are no such
        rows; CorruptionError: a block is not what was written.
        """
        self._expect_rows(start, stop)
        whole = self._decoded.cached_whole()
        if whole is not None:
            return whole.array.slice(start, stop - start)
        first, last = self._blocks.span(start, stop)
        if 2 * (last - first + 1) > self.block_count:
            return self.read_all(stats).slice(start, stop - start)
        parts = []
        for number in range(first, last + 1):
            begin, end = self.first_ordinals[number : number + 2]
            low, high = max(start, begin), min(stop, end)
            parts.append(self._decoded.block(number, stats).array.slice(low - begin, high - low))
        return _join(parts)

    def read_once(self, start: int, stop: int, stats: ScanStats | None = None) -> pa.Array:
        """The rows start <= ordinal < stop, as `read_range`, for who passes over them only once.

        The cache is not filled with what nobody asks for again (Kudu's `DONT_CACHE_BLOCK`).
        """
        self._expect_rows(start, stop)
        if start == stop or self._decoded.cached_whole() is not None:
            return self.read_range(start, stop)
        first, last = self._blocks.span(start, stop)
        array = self._blocks.decode(first, last + 1)
        if stats is not None:
            stats.blocks_decoded += last + 1 - first
            stats.bytes_decoded += own_bytes(array)
        return array.slice(start - self.first_ordinals[first], stop - start)

    def validity(self, start: int, stop: int, stats: ScanStats | None = None) -> pa.BooleanArray:
        """Where the rows start <= ordinal < stop are NULL; no value is decoded for it.

        `stats`: counts the blocks that had to be read. Raises InternalError: there are no such
        rows; CorruptionError: a block is not what was written.
        """
        self._expect_rows(start, stop)
        whole = self._decoded.cached_whole() if self.null_count else None
        if whole is not None:
            return validity_array(whole.array.slice(start, stop - start))
        return self._validity.read(start, stop, stats)

    @cached_property
    def _validity(self) -> ValidityReader:
        return ValidityReader(self._blocks, self._cache, (*self._key, "validity"))

    def take(self, ordinals: npt.NDArray[np.int64], stats: ScanStats | None = None) -> pa.Array:
        """The rows at some ordinals. Reads the blocks touched, or all when most are.

        Args:
            ordinals: ascending, may repeat, int64[n].
            stats: counts the blocks that had to be decoded.

        Raises InternalError: there are no such rows, or the ordinals descend; CorruptionError: a
        block is not what was written.
        """
        if len(ordinals) == 0:
            return self.read_range(0, 0)
        if not 0 <= ordinals[0] <= ordinals[-1] < self.row_count:
            raise InternalError(f"{self._blocks}: ordinals lie outside the rows")
        whole = self._decoded.cached_whole()
        if whole is not None:
            return take_ordinals(whole.array, ordinals)
        if (ordinals[1:] < ordinals[:-1]).any():
            raise InternalError(f"{self._blocks}: ordinals descend")
        edges = np.searchsorted(ordinals, self.zone_map.first_ordinals)
        block_numbers = np.flatnonzero(edges[1:] > edges[:-1]).tolist()
        if 2 * len(block_numbers) > self.block_count and self.raw_size <= self._cache.capacity:
            return take_ordinals(self.read_all(stats), ordinals)
        return _join(
            [
                take_ordinals(
                    self._decoded.block(number, stats).array,
                    ordinals[edges[number] : edges[number + 1]] - self.first_ordinals[number],
                )
                for number in block_numbers
            ]
        )

    def take_once(
        self, ordinals: npt.NDArray[np.int64], stats: ScanStats | None = None
    ) -> pa.Array:
        """The rows at some ordinals, as `take`, for who passes over the column only once.

        Where most blocks between the first and the last are touched, the cache gets none of them.
        """
        if len(ordinals) == 0:
            return self.take(ordinals, stats)
        start, stop = int(ordinals[0]), int(ordinals[-1]) + 1
        self._expect_rows(start, stop)
        first, last = self._blocks.span(start, stop)
        touched = int(np.count_nonzero(self.zone_map.holds_any(ordinals)))
        if 2 * touched <= last + 1 - first:
            return self.take(ordinals, stats)
        if self._decoded.cached_whole() is not None:
            return self.take(ordinals, stats)
        array = self._blocks.pick(first, last + 1, ordinals)
        if stats is not None:
            stats.blocks_decoded += touched
            stats.bytes_decoded += own_bytes(array)
        return array

    def runs(self, stats: ScanStats | None = None) -> ColumnRuns | None:
        """The column as runs; None when it is no run-length encoded one, or is decoded already.

        `stats`: counts the blocks that had to be opened. Raises CorruptionError: a block is not
        what was written.
        """
        if not self._has_runs or self._decoded.whole_memo() is not None:
            return None
        cached = self._cache.get((*self._key, "runs"))
        if isinstance(cached, ColumnRuns):
            return cached
        if cached is _NO_RUNS:
            return None
        runs = runs_of(self._blocks.open(0, self.block_count), self.type)
        size = 0 if runs is None else runs.nbytes
        self._cache.put((*self._key, "runs"), _NO_RUNS if runs is None else runs, size)
        if stats is not None and runs is not None:
            stats.blocks_decoded += self.block_count
            stats.bytes_decoded += runs.nbytes
        return runs

    def coded(self, start: int, stop: int) -> CodedColumn | None:
        """The rows start <= ordinal < stop in codes, None where the cache does not have them so.

        Integers are coded when they are asked for and already are in the cache, where codes crowd
        out nothing: who scans a column for the first time does not wait for it.
        """
        key = (*self._key, "codes")
        cached = self._cache.get(key)
        if isinstance(cached, CodedColumn):
            return cached.slice(start, stop)
        whole = self._decoded.cached_whole() if cached is None else None
        if whole is None:
            return None
        if pa.types.is_dictionary(whole.array.type):
            return coded_words(whole.array.slice(start, stop - start), self.type, self._word_test)
        if not self._cache.has_room_for(own_bytes(whole.array)):
            return None
        coded = coded_integers(whole.array, self.type, self.zone_map)
        self._cache.put(key, _NO_CODES if coded is None else coded, coded.nbytes if coded else 0)
        return None if coded is None else coded.slice(start, stop)

    @property
    def equal_cells(self) -> EqualCells | None:
        """Where cells lie of those blocks that have cells of one length, None where none is known.

        Raises CorruptionError: what is read for it is not what was written.
        """
        cells = self._blocks.paged_cells
        return None if cells is None else cells.equal_cells

    def check_pages(self, number: int) -> None:
        """See that what single cells of a block are read by agrees with the block.

        Raises CorruptionError: it does not.
        """
        self._blocks.check_pages(number)

    def _expect_rows(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self.row_count:
            raise InternalError(f"{self._blocks} has {self.row_count} rows, not {start} to {stop}")

    def block_of(self, ordinal: int) -> int:
        """The number of the block that holds a row, from 0."""
        self._expect_rows(ordinal, ordinal + 1)
        return self._blocks.span(ordinal, ordinal + 1)[0]


def _join(parts: Sequence[pa.Array]) -> pa.Array:
    """Arrays of one CFile end to end; those in codes share one dictionary."""
    if len(parts) == 1:
        return parts[0]
    if all(pa.types.is_dictionary(part.type) for part in parts):
        codes = pa.concat_arrays([part.indices for part in parts])
        return pa.DictionaryArray.from_arrays(codes, parts[0].dictionary, safe=False)
    return pa.concat_arrays([plain(part) for part in parts])
