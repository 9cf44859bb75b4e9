"""The blocks of one CFile: its positional index, its dictionary, and its data blocks decoded.

Every block's checksum is verified before anything in it is looked at, and what a checksum cannot
promise is checked while decoding, so a read returns what was written or raises CorruptionError with
file, CFile, block and offset.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile import block, block_decoder, row_picker
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import BlockFile, BlockPointer, Section
from pykudu_sql.storage.cfile.footer import CFileEntry
from pykudu_sql.storage.cfile.in_place import cell_in_place
from pykudu_sql.storage.cfile.in_place.paged_cells import PagedCells
from pykudu_sql.storage.cfile.positional_index import PositionalIndex
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CorruptionError


class CFileBlocks:
    """What a CFile has in its file. Safe for threads.

    Attributes:
        index: where the data blocks lie, and their zone map.
        first_ordinals: of the blocks, and behind the last the number of rows.
        paged_cells: the cells by their pages, None where these have no checksums.
    """

    def __init__(
        self,
        file: BlockFile,
        entry: CFileEntry,
        cache: BlockCache,
        pages: BlockPointer | None,
        places: BlockPointer | None,
    ) -> None:
        """Read and check the positional index.

        Args:
            cache: keeps the dictionary.
            pages: the checksums of the blocks' pages, None where there are none.
            places: where cells of one length lie, None where none are or it is not known.

        Raises CorruptionError: the index is not what was written.
        """
        self._file = file
        self._entry = entry
        self._cache = cache
        self._dictionary_key = (file.path, entry.name, "dictionary")
        self.index = self._read_index()
        self.first_ordinals: list[int] = self.index.zone_map.first_ordinals.tolist()
        self._null_counts: list[int] = self.index.zone_map.null_counts.tolist()
        self.paged_cells = (
            None if pages is None else PagedCells(file, entry, self.index, cache, pages, places)
        )

    def __str__(self) -> str:
        return f"{self._file.path}: CFile '{self._entry.name}'"

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """The numbers of the blocks that have the first and the last of rows start to stop - 1."""
        firsts, count = self.first_ordinals, len(self._null_counts)
        first = max(bisect_right(firsts, start, 0, count) - 1, 0)
        return first, max(bisect_right(firsts, stop - 1, 0, count) - 1, first)

    def words(self) -> pa.Array | None:
        """The dictionary, which has every value of the column; None when there is none.

        Raises CorruptionError: it is not what was written.
        """
        pointer = self._entry.dictionary
        if pointer is None:
            return None
        cached = self._cache.get(self._dictionary_key)
        if isinstance(cached, pa.Array):
            return cached
        data = self._file.read(Section.DICTIONARY, self._entry.name, pointer)
        try:
            words = block_decoder.decode([block.unpack(data, None)], self._entry.type, None)
            if words.null_count:
                raise CorruptionError("a word is NULL")
        except CorruptionError as error:
            raise self._file.corruption(
                Section.DICTIONARY, self._entry.name, 0, pointer.offset, error.message
            ) from error
        self._cache.put(self._dictionary_key, words, words.nbytes)
        return words

    def open(self, first: int, stop: int) -> Sequence[block.Block]:
        """Data blocks first <= number < stop, checked and not yet decoded.

        Raises CorruptionError: one is not what was written.
        """
        index = self.index
        stored = self._file.read_run(
            Section.DATA,
            self._entry.name,
            first,
            index.offsets[first],
            index.lengths[first:stop],
            index.checksums[first:stop],
        )
        opened = []
        for number, data in enumerate(stored, first):
            rows = self.first_ordinals[number + 1] - self.first_ordinals[number]
            try:
                one = block.unpack(data, rows)
                nulls = self._null_counts[number]
                if one.null_count != nulls:
                    raise CorruptionError(f"{one.null_count} slots are NULL, its index has {nulls}")
                opened.append(one)
            except CorruptionError as error:
                raise self.corrupt_block(number, error) from error
        return opened

    def decode(self, first: int, stop: int) -> pa.Array:
        """The rows of neighbouring data blocks as one array.

        Raises CorruptionError: one is not what was written.
        """
        if first == stop:
            return pa.nulls(0, self._entry.type.arrow)
        blocks, words = self.open(first, stop), self.words()
        if words is not None:
            self._check_codes(first, blocks)
        try:
            return block_decoder.decode(blocks, self._entry.type, words)
        except CorruptionError:
            self._find_corrupt(first, blocks)
            raise

    def pick(self, first: int, stop: int, ordinals: npt.NDArray[np.int64]) -> pa.Array:
        """Some rows of neighbouring data blocks as one array.

        Args:
            first, stop: blocks first <= number < stop, at least one.
            ordinals: of rows in these blocks, ascending, at least one.

        Raises CorruptionError: a block is not what was written.
        """
        blocks, words = self.open(first, stop), self.words()
        if words is not None:
            self._check_codes(first, blocks)
        start = self.first_ordinals[first]
        positions = ordinals - start if start else ordinals
        try:
            return row_picker.pick(blocks, positions, self._entry.type, words)
        except CorruptionError:
            self._find_corrupt(first, blocks)
            raise

    def binary_cell(self, number: int, slot: int) -> Cell:
        """One cell of a data block of a binary column without dictionary, read without Arrow.

        Of the block only the pages are read that it takes, where there are checksums of them.
        Raises CorruptionError: what was read for it is not what was written.
        """
        cells, kind = self.paged_cells, self._entry.type
        try:
            if cells is not None:
                paged, length = cells.open_block(number), self.index.lengths[number]
                rows = self.first_ordinals[number + 1] - self.first_ordinals[number]
                header = block.read_header(paged.read(0, block.HEADER_BYTES), rows)
                read_value = cell_in_place.value_reader(header, kind)
                if read_value is not None:
                    cell = cell_in_place.read_cell(
                        paged.read, length, header, read_value, kind, slot
                    )
                    if cell is None and not self._null_counts[number]:
                        raise CorruptionError("a slot is NULL, its index has none")
                    return cell
            (one,) = self.open(number, number + 1)
            return cell_in_place.decode_cell(one, kind, slot)
        except CorruptionError as error:
            raise self.corrupt_block(number, error) from error

    def check_pages(self, number: int) -> None:
        """See that the checksums of a data block's pages are right, where there are some.

        So is where its cells are said to lie. Raises CorruptionError: they are not.
        """
        cells = self.paged_cells
        try:
            if cells is not None:
                cells.check(number)
        except CorruptionError as error:
            raise self.corrupt_block(number, error) from error

    def _find_corrupt(self, first: int, blocks: Sequence[block.Block]) -> None:
        """Decoded together, blocks do not show which one it was; one by one they do."""
        for number, one in enumerate(blocks, first):
            try:
                block_decoder.decode([one], self._entry.type, self.words())
            except CorruptionError as error:
                raise self.corrupt_block(number, error) from error

    def _check_codes(self, first: int, blocks: Sequence[block.Block]) -> None:
        """See that blocks are in codes: pruning trusts the dictionary to have every value."""
        for number, one in enumerate(blocks, first):
            if one.encoding.codes is None:
                raise self.corrupt_block(
                    number, CorruptionError(f"a block of a dictionary column is {one.encoding}")
                )

    def corrupt_block(self, number: int, error: CorruptionError) -> CorruptionError:
        """An error about a data block that says where it lies."""
        return self._file.corruption(
            Section.DATA, self._entry.name, number, self.index.offsets[number], error.message
        )

    def _read_index(self) -> PositionalIndex:
        entry = self._entry
        data = self._file.read(Section.INDEX, entry.name, entry.index)
        try:
            index = PositionalIndex.from_bytes(data.data, entry.type, entry.blocks, entry.offset)
            if int(index.zone_map.first_ordinals[-1]) != entry.rows:
                raise CorruptionError(f"the footer claims {entry.rows} rows")
            if sum(index.zone_map.null_counts.tolist()) != entry.null_count:
                raise CorruptionError(f"the footer claims {entry.null_count} NULLs")
        except CorruptionError as error:
            raise self._file.corruption(
                Section.INDEX, entry.name, 0, entry.index.offset, error.message
            ) from error
        return index
