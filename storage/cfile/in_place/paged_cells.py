"""The cells of a binary column without dictionary whose blocks' pages have checksums.

A cell of a block that stores its bytes as they are is one read of the one or two pages that hold
it, once it is known where its cells lie: of those of one length the container says so, of others
the block cache keeps it. Other blocks are given by their pages.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from pykudu_sql.storage.cfile import block
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import BlockFile, BlockPointer, Section
from pykudu_sql.storage.cfile.footer import CFileEntry
from pykudu_sql.storage.cfile.in_place import cell_in_place, cell_places, page_checksums
from pykudu_sql.storage.cfile.in_place.cell_places import CellPlaces
from pykudu_sql.storage.cfile.in_place.page_checksums import PageChecksums
from pykudu_sql.storage.cfile.in_place.paged_block import PagedBlock
from pykudu_sql.storage.cfile.in_place.stored_cells import NOT_STORED, StoredCells
from pykudu_sql.storage.cfile.positional_index import PositionalIndex
from pykudu_sql.storage.common.cached_property import cached_property
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import CorruptionError

Parsed = TypeVar("Parsed")


class EqualBlock(NamedTuple):
    """A block whose cells have one length.

    Attributes:
        offset: of the block in the file.
        pages: of the block that are not shorter than others.
        start: place in the block at which the first cell begins.
        width: bytes of a cell.
        first: number of the block's first page among those of the CFile.
    """

    offset: int
    pages: int
    start: int
    width: int
    first: int


class EqualCells(NamedTuple):
    """The blocks of a CFile whose cells have one length.

    Attributes:
        blocks: all of the CFile, None where lengths differ.
        page_bytes: of a page.
        checksums: of all pages.
        read: gives bytes of the file, unchecked, by offset and length.
        seed: that checksums of pages start from.
        decode: the cell of its bytes; raises UnicodeDecodeError where they are no text.
    """

    blocks: Sequence[EqualBlock | None]
    page_bytes: int
    checksums: memoryview
    read: Callable[[int, int], bytes]
    seed: int
    decode: Callable[[bytes], Cell]


class PagedCells:
    """The cells of one CFile. Safe for threads."""

    def __init__(
        self,
        file: BlockFile,
        entry: CFileEntry,
        index: PositionalIndex,
        cache: BlockCache,
        pages: BlockPointer,
        places: BlockPointer | None,
    ) -> None:
        """Describe the column; nothing is read yet.

        `pages`: the checksums of the pages; `places`: where cells of one length lie.
        """
        self._file = file
        self._entry = entry
        self._is_text = entry.type.is_text
        self._offsets, self._lengths = index.offsets, index.lengths
        self._cache = cache
        self._pages_pointer, self._places_pointer = pages, places
        self._rows: list[int] = index.zone_map.row_counts.tolist()
        self._null_counts: list[int] = index.zone_map.null_counts.tolist()
        # Where cells lie, of blocks that share it with others: that takes no memory of its own.
        self._regular: list[StoredCells | None] = [None] * entry.blocks
        self._key = file.path, entry.name

    def open_block(self, number: int) -> PagedBlock:
        """A data block by its pages.

        Raises CorruptionError: the checksums are not what was written.
        """
        return self._open(number, b"")

    def _open(self, number: int, head: bytes) -> PagedBlock:
        """The same; `head`: its first pages, read already."""
        place, length = self._offsets[number], self._lengths[number]
        return PagedBlock(self._file, place, length, number, self._checksums, head)

    def check(self, number: int) -> None:
        """See that the pages of a data block, and the places of its cells, are right.

        Raises CorruptionError: they are not.
        """
        data, places = self.open_block(number).read(0, self._lengths[number]), self._places
        if places is None or not places.widths[number]:
            return
        said = places.starts[number], places.widths[number]
        if cell_places.place_of(self._entry.type, data) != said:
            raise CorruptionError("its cells do not lie where they are said to")

    def stored_cells(self, number: int) -> StoredCells | None:
        """Where the cells of a data block lie, None where they are compressed.

        Raises CorruptionError: what was read for it is not what was written.
        """
        regular = self._regular[number]
        if regular is not None:
            return regular
        key = (*self._key, number, "stored cells")
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
        places = self._places
        if places is not None and places.widths[number]:
            return StoredCells.equal(places.starts[number], places.widths[number], rows)
        page = self._read(number, 0, min(self._checksums.page_bytes, length))
        header = block.read_header(page, rows)
        paged = self._open(number, page)
        cells = cell_in_place.locate_cells(paged.read, length, header, self._entry.type)
        nulls = self._null_counts[number]
        if cells is not None and cells.null_count != nulls:
            raise CorruptionError(f"{cells.null_count} slots are NULL, its index has {nulls}")
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
    def equal_cells(self) -> EqualCells | None:
        """The blocks whose cells have one length, None where none is known to be such.

        Raises CorruptionError: what is read for it is not what was written.
        """
        places, pages = self._places, self._checksums
        if places is None:
            return None
        size = pages.page_bytes
        blocks = [
            EqualBlock(offset, length // size, start, width, first) if width else None
            for offset, length, start, width, first in zip(
                self._offsets,
                self._lengths,
                places.starts,
                places.widths,
                pages.firsts[:-1],
                strict=True,
            )
        ]
        decode = bytes.decode if self._is_text else bytes
        file = self._file
        return EqualCells(blocks, size, pages.checksums, file.read_unchecked, file.seed, decode)

    @cached_property
    def _checksums(self) -> PageChecksums:
        name = page_checksums.blob_name(self._entry.name)
        return self._blob(
            name, self._pages_pointer, lambda data: PageChecksums.from_bytes(data, self._lengths)
        )

    @cached_property
    def _places(self) -> CellPlaces | None:
        pointer = self._places_pointer
        if pointer is None:
            return None
        name, blocks = cell_places.blob_name(self._entry.name), (self._lengths, self._rows)
        return self._blob(
            name, pointer, lambda data: CellPlaces.from_bytes(data, *blocks, self._null_counts)
        )

    def _blob(
        self, name: str, pointer: BlockPointer, parse: Callable[[memoryview], Parsed]
    ) -> Parsed:
        """What a blob of the container says. Raises CorruptionError: it is not what was written."""
        data = self._file.read(Section.BLOB, name, pointer)
        try:
            return parse(data.data)
        except CorruptionError as error:
            raise self._file.corruption(
                Section.BLOB, name, 0, pointer.offset, error.message
            ) from error
