"""Checksums of the pages of blocks, so that one cell of a large block is read without the rest.

A block's own checksum covers all of it. Of text and binaries that are read in their place a
container also keeps the CRC-32C of every page of a block, going on from the file's identity: which
page it is need not be in it, since each stands for one place and is itself under a checksum.

    0       4   bytes of a page, u32
    4       .   for each block in turn the checksum of each of its pages, u32; the last is shorter
"""

import struct
from collections.abc import Sequence
from itertools import accumulate

import google_crc32c
import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import CorruptionError

PAGE_BYTES = 8 * 1024
# Where a container says in which page a cell is (see `cell_places`), only that is read for it.
SMALL_PAGE_BYTES = 4 * 1024

_HEADER = struct.Struct("<I")
_LEAST_PAGE_BYTES = 512


@dataclass(frozen=True, slots=True)
class PageChecksums:
    """Those of one CFile.

    Attributes:
        page_bytes: of every page but the last of a block.
        firsts: of each block the number of its first page, and behind them that of pages.
        checksums: of the pages, u32.
    """

    page_bytes: int
    firsts: Sequence[int]
    checksums: memoryview

    @classmethod
    def from_bytes(cls, data: memoryview, lengths: Sequence[int]) -> "PageChecksums":
        """The inverse of `page_checksums`.

        `lengths`: of the blocks. Raises CorruptionError: these are none of such blocks.
        """
        page_bytes = _HEADER.unpack_from(data)[0] if len(data) >= _HEADER.size else 0
        if page_bytes < _LEAST_PAGE_BYTES:
            raise CorruptionError(f"pages of {page_bytes} bytes")
        firsts = [0, *accumulate(-(-length // page_bytes) for length in lengths)]
        if len(data) != _HEADER.size + 4 * firsts[-1]:
            raise CorruptionError(f"{len(data)} bytes for the checksums of {firsts[-1]} pages")
        return cls(page_bytes, firsts, np.frombuffer(data, "<u4", offset=_HEADER.size).data)


def blob_name(cfile: str) -> str:
    """The blob of a container that has the checksums of a CFile's pages."""
    return f"pages:{cfile}"


def page_checksums(seed: int, blocks: Sequence[bytes], page_bytes: int) -> bytes:
    """The blob of a CFile.

    `seed`: of the file's identity; `blocks`: all of the CFile; `page_bytes`: of a page.
    """
    checksums = [
        google_crc32c.extend(seed, block[start : start + page_bytes])
        for block in blocks
        for start in range(0, len(block), page_bytes)
    ]
    return _HEADER.pack(page_bytes) + np.array(checksums, "<u4").tobytes()
