"""The cells of a binary column without dictionary whose blocks' pages have checksums.

Of a block that stores its bytes as they are, the block cache keeps where its cells lie; then a cell
is one read of the one or two pages that hold it. Other blocks are given by their pages.
"""

from pykudu_sql.storage.cfile import block
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import BlockFile, BlockPointer, Section
from pykudu_sql.storage.cfile.footer import CFileEntry
from pykudu_sql.storage.cfile.in_place import cell_in_place
from pykudu_sql.storage.cfile.in_place.page_checksums import PageChecksums, blob_name
from pykudu_sql.storage.cfile.in_place.paged_block import PagedBlock
from pykudu_sql.storage.cfile.in_place.stored_cells import (
    NOT_STORED,
    BlockBeginning,
    StoredCells,
)
from pykudu_sql.storage.cfile.positional_index import PositionalIndex
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CorruptionError


class PagedCells:
    """The cells of one CFile. Safe for threads."""

    def __init__(
        self,
        file: BlockFile,
        entry: CFileEntry,
        index: PositionalIndex,
        cache: BlockCache,
        pages: BlockPointer,
    ) -> None:
        """Describe the column; nothing is read yet. `pages`: the checksums of the pages."""
        self._file = file
        self._entry = entry
        self._is_text = entry.type.is_text
        self._offsets, self._lengths = index.offsets, index.lengths
        self._cache = cache
        self._pointer = pages
        self._rows: list[int] = index.zone_map.row_counts.tolist()
        self._null_counts: list[int] = index.zone_map.null_counts.tolist()
        # Of the block that was looked at last: of texts of one length others are like it.
        self._alike: BlockBeginning | None = None
        # Where cells lie, of blocks that share it with others: that takes no memory of its own.
        self._regular: list[StoredCells | None] = [None] * entry.blocks
        self._stored_keys = [
            (file.path, entry.name, number, "stored cells") for number in range(entry.blocks)
        ]

    def open_block(self, number: int) -> PagedBlock:
        """A data block by its pages.

        Raises CorruptionError: the checksums are not what was written.
        """
        return self._open(number, b"")

    def _open(self, number: int, head: bytes) -> PagedBlock:
        """The same; `head`: its first pages, read already."""
        place, length = self._offsets[number], self._lengths[number]
        return PagedBlock(self._file, place, length, number, self._checksums, head)

    def stored_cells(self, number: int) -> StoredCells | None:
        """Where the cells of a data block lie, None where they are compressed.

        Raises CorruptionError: what was read for it is not what was written.
        """
        regular = self._regular[number]
        if regular is not None:
            return regular
        key = self._stored_keys[number]
        stored = self._cache.peek(key)
        if stored is None:
            cells = self._locate(number)
            if cells is not None and not cells.own_bytes:
                self._regular[number] = cells
                return cells
            self._cache.put(key, cells or NOT_STORED, cells.nbytes if cells else 0)
            return cells
        return stored if isinstance(stored, StoredCells) else None

    def _locate(self, number: int) -> StoredCells | None:
        rows, length = self._rows[number], self._lengths[number]
        page = self._read(number, 0, min(self._checksums.page_bytes, length))
        nulls = self._null_counts[number]
        alike = self._alike
        if alike is not None and not nulls and alike.begins(page, rows, length):
            return alike.cells
        header = block.read_header(page, rows)
        paged = self._open(number, page)
        cells = cell_in_place.locate_cells(paged.read, length, header, self._entry.type)
        if cells is not None:
            if cells.null_count != nulls:
                raise CorruptionError(f"{cells.null_count} slots are NULL, its index has {nulls}")
            if not nulls and cells.start <= len(page):
                self._alike = BlockBeginning(page[: cells.start], rows, length, cells)
        return cells

    def read_stored(self, stored: StoredCells, number: int, slot: int) -> Cell:
        """One cell of a data block. `stored`: where its cells lie; `slot`: 0 .. rows - 1.

        Raises CorruptionError: the pages that hold it are not what was written.
        """
        if stored.validity is not None and stored.is_null(slot):
            return None
        ends, start = stored.ends, stored.start
        begin, end = start + ends[slot - 1] if slot else start, start + ends[slot]
        data = b"" if begin == end else self._read(number, begin, end)
        return cell_in_place.text_of(data) if self._is_text else data

    def _read(self, number: int, begin: int, end: int) -> bytes:
        """Some bytes of a block, at least one."""
        pages = self._checksums
        size, length = pages.page_bytes, self._lengths[number]
        first = begin // size
        place, page = first * size, pages.firsts[number] + first
        offset, behind = self._offsets[number] + place, place + size
        if end <= behind:
            page_length = size if behind <= length else length - place
            data = self._file.read_page(offset, page_length, pages.checksums[page])
        else:
            stop = -(-end // size)
            checksums = pages.checksums[page : page + stop - first]
            data = self._file.read_pages(offset, min(stop * size, length) - place, size, checksums)
        return data[begin - place : end - place]

    @cached_property
    def _checksums(self) -> PageChecksums:
        name, pointer = blob_name(self._entry.name), self._pointer
        data = self._file.read(Section.BLOB, name, pointer)
        try:
            return PageChecksums.from_bytes(data.data, self._lengths)
        except CorruptionError as error:
            raise self._file.corruption(
                Section.BLOB, name, 0, pointer.offset, error.message
            ) from error
