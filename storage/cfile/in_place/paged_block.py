"""A block of which only those pages are read that somebody asks for, each checked."""

from pykudu_sql.storage.cfile.block_file import BlockFile
from pykudu_sql.storage.cfile.in_place.page_checksums import PageChecksums
from pykudu_sql.storage.errors import CorruptionError


class PagedBlock:
    """One block of an open file, for one thread. The pages read last are kept."""

    __slots__ = ("_begin", "_data", "_end", "_file", "_length", "_number", "_offset", "_pages")

    def __init__(
        self,
        file: BlockFile,
        offset: int,
        length: int,
        number: int,
        pages: PageChecksums,
        head: bytes = b"",
    ) -> None:
        """Describe the block; nothing is read yet.

        Args:
            offset, length: where it lies.
            number: of the block in its CFile.
            pages: the checksums of its pages.
            head: its first pages, read already.
        """
        self._file = file
        self._offset = offset
        self._length = length
        self._number = number
        self._pages = pages
        self._begin = 0
        self._end = len(head)
        self._data = head

    def read(self, start: int, stop: int) -> bytes:
        """The bytes start <= position < stop of the block.

        Raises CorruptionError: there are no such bytes, or they are not what was written.
        """
        begin = self._begin
        if start < begin or self._end < stop or stop < start:
            self._load(start, stop)
            begin = self._begin
        return self._data[start - begin : stop - begin]

    def _load(self, start: int, stop: int) -> None:
        """Read the pages that have some bytes."""
        if not 0 <= start <= stop <= self._length:
            raise CorruptionError(f"a block of {self._length} bytes ends before byte {stop}")
        pages = self._pages
        size = pages.page_bytes
        first, last = start // size, -(-stop // size)
        self._begin = begin = first * size
        self._end = end = min(last * size, self._length)
        number = pages.firsts[self._number] + first
        checksums = pages.checksums[number : number + last - first]
        self._data = self._file.read_pages(self._offset + begin, end - begin, size, checksums)
