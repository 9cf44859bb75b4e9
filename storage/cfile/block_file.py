"""A file of checksummed blocks: reads return what was written in that very place, or raise.

Checksums are CRC-32C and kept beside the pointer, not beside the block. What they cover, besides
the bytes, is where the bytes belong: format version, database, tablet, kind and number of the file
(the `FileIdentity`), then section, CFile name, block number and offset. So a valid block of another
file, column or position does not pass. Kudu checks the bytes alone (`cfile/cfile_reader.cc`).

A checksum starts as the CRC-32C of the identity: version u32, lengths of database id, tablet id and
kind u16 each, number u64, then the three. It goes on over the place: section u8, length of the name
u16, block number u32, offset u64, the name; and ends with the bytes. Integers are little-endian.
"""

import struct
from collections.abc import Callable, Sequence
from enum import IntEnum

import google_crc32c
import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.encoding.traits import Bytes
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.env import RandomAccessFile

FORMAT_VERSION = 1

_IDENTITY = struct.Struct("<IHHHQ")
_PLACE = struct.Struct("<BHIQ")
# As much comes into memory of Arrow's pool: what bytes take is fresh, and a page of it costs more
# than reading it.
_POOLED_BYTES = 64 * 1024
# Neighbouring blocks are fetched together, yet a large column never lies in memory twice.
_MAX_READ_BYTES = 4 * 1024 * 1024


class Section(IntEnum):
    """What a stretch of a file holds; part of its checksum."""

    DATA = 1
    DICTIONARY = 2
    INDEX = 3
    BLOB = 4
    FOOTER = 5


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """Which file it is; every checksum in the file covers it.

    Attributes:
        database_id: of the database, up to 64 KiB.
        tablet_id: of the tablet.
        file_kind: such as "base" or "redo".
        file_number: unique within the tablet, 0 .. 2**64 - 1.
    """

    database_id: bytes
    tablet_id: str
    file_kind: str
    file_number: int

    def checksum_seed(self) -> int:
        """The CRC-32C that checksums of this file start from."""
        tablet, kind = self.tablet_id.encode(), self.file_kind.encode()
        lengths = len(self.database_id), len(tablet), len(kind)
        head = _IDENTITY.pack(FORMAT_VERSION, *lengths, self.file_number)
        return int(google_crc32c.value(b"".join((head, self.database_id, tablet, kind))))


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """Where a stretch of a file lies, and its checksum."""

    offset: int
    length: int
    checksum: int


def checksum(
    seed: int, section: Section, name: str, index: int, offset: int, data: bytes | Bytes
) -> int:
    """The checksum of bytes in their place.

    `seed`: of the file's identity; `section`: what the bytes are; `index`: of the block within it.
    """
    return checksums(seed, section, name)(index, offset, data)


def checksums(seed: int, section: Section, name: str) -> Callable[[int, int, bytes | Bytes], int]:
    """`checksum` for blocks that have all but index, offset and bytes in common."""
    extend, pack, kind, encoded = google_crc32c.extend, _PLACE.pack, int(section), name.encode()
    length = len(encoded)

    def of_block(index: int, offset: int, data: bytes | Bytes) -> int:
        return int(extend(extend(seed, pack(kind, length, index, offset) + encoded), data))

    return of_block


class BlockFile:
    """An open file of checksummed blocks. Safe for threads.

    Attributes:
        read_unchecked: bytes by offset and length, for what carries its own proof or is checked by
            who reads it; raises CorruptionError where the file ends before them.
        seed: the checksum of the file's identity, from which all others start.
    """

    def __init__(self, file: RandomAccessFile, identity: FileIdentity) -> None:
        """Read an open file as the one that `identity` names."""
        self._file = file
        self.read_unchecked = file.read
        self.seed = identity.checksum_seed()

    @property
    def path(self) -> str:
        """The file's path."""
        return self._file.path

    @property
    def size(self) -> int:
        """The file's length in bytes."""
        return self._file.size

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, section: Section, name: str, pointer: BlockPointer) -> Bytes:
        """What a pointer points at.

        Raises CorruptionError: the bytes are not what was written there.
        """
        offset, length = pointer.offset, pointer.length
        self._check_inside(section, name, 0, offset, length)
        data = self._read_stretch(offset, length)
        self._check_block(section, name, 0, offset, data, pointer.checksum)
        return data

    def read_run(
        self,
        section: Section,
        name: str,
        first: int,
        offset: int,
        lengths: Sequence[int],
        expected: Sequence[int],
    ) -> list[Bytes]:
        """Blocks that follow each other.

        Args:
            section: what they are.
            first: number of the first block.
            offset: of the first block.
            lengths, expected: bytes of each block, and its checksum.

        Raises CorruptionError: a block is not what was written there.
        """
        blocks: list[Bytes] = []
        checksum_of = checksums(self.seed, section, name)
        while len(blocks) < len(lengths):
            begin = end = len(blocks)
            size = 0
            while end < len(lengths) and (end == begin or size + lengths[end] <= _MAX_READ_BYTES):
                size += lengths[end]
                end += 1
            self._check_inside(section, name, first + begin, offset, size)
            data = self._read_stretch(offset, size)
            position = 0
            for number in range(begin, end):
                length = lengths[number]
                block = data[position : position + length]
                if checksum_of(first + number, offset + position, block) != expected[number]:
                    raise self._mismatch(section, name, first + number, offset + position)
                blocks.append(block)
                position += length
            offset += size
        return blocks

    def _check_inside(
        self, section: Section, name: str, number: int, offset: int, length: int
    ) -> None:
        if offset < 0 or offset + length > self._file.size:
            raise self.corruption(section, name, number, offset, "lies outside the file")

    def _check_block(
        self, section: Section, name: str, number: int, offset: int, data: Bytes, expected: int
    ) -> None:
        if checksum(self.seed, section, name, number, offset, data) != expected:
            raise self._mismatch(section, name, number, offset)

    def _mismatch(self, section: Section, name: str, number: int, offset: int) -> CorruptionError:
        return self.corruption(section, name, number, offset, "checksum does not match")

    def _read_stretch(self, offset: int, size: int) -> Bytes:
        if size < _POOLED_BYTES:
            return np.frombuffer(self._file.read(offset, size), np.uint8)
        _, memory = new_buffer(size)
        self._file.read_into(offset, memory.data)
        return memory

    def read_page(self, offset: int, length: int, expected: int) -> bytes:
        """One page of a block. `expected`: its checksum.

        Raises CorruptionError: the page is not what was written there.
        """
        data = self._file.read(offset, length)
        if google_crc32c.extend(self.seed, data) != expected:
            raise CorruptionError(f"checksum of the page at {offset} does not match")
        return data

    def read_pages(self, offset: int, length: int, page_bytes: int, checksums: memoryview) -> bytes:
        """Pages of a block that follow each other.

        `page_bytes`: of each but the last; `checksums`: see `page_checksums`. Raises
        CorruptionError: a page is not what was written there.
        """
        data = self._file.read(offset, length)
        extend, seed = google_crc32c.extend, self.seed
        for place, expected in zip(range(0, length, page_bytes), checksums, strict=True):
            if extend(seed, data[place : place + page_bytes]) != expected:
                raise CorruptionError(f"checksum of the page at {offset + place} does not match")
        return data

    def corruption(
        self, section: Section, name: str, index: int, offset: int, reason: str
    ) -> CorruptionError:
        """An error that names the place."""
        what = {
            Section.DATA: f"block {index} of CFile '{name}'",
            Section.DICTIONARY: f"dictionary of CFile '{name}'",
            Section.INDEX: f"index of CFile '{name}'",
            Section.BLOB: f"blob '{name}'",
            Section.FOOTER: "footer",
        }[section]
        return CorruptionError(
            f"{self.path}: {what} at offset {offset}: {reason}",
            hint="restore the file from a backup; nothing was changed",
        )
