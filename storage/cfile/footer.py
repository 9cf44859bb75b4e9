"""The footer of a container: which CFiles and blobs a file holds, and where.

The last bytes of a file are

    .       .   the footer, JSON in UTF-8
    0       4   length of the footer, u32
    4       4   format version, u32
    8       4   feature bits that a reader must know, u32
    12      4   checksum of the footer and of the twelve bytes before this, u32
    16      8   magic "PKCFILE1"

The footer is an object: "cfiles" and "blobs" are lists of the fields below in order, "metadata" is
the writer's own. A pointer is [offset, length, checksum]. Kudu's footer (`cfile/cfile.proto`) says
the same of one CFile, with incompatible feature bits handled alike: unknown ones are refused.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.block_file import (
    FORMAT_VERSION,
    BlockFile,
    BlockPointer,
    Section,
    checksum,
)
from pykudu_sql.storage.cfile.encoding.type_encodings import (
    BY_NAME,
    SUPPORTED_FEATURES,
    features_of,
)
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding
from pykudu_sql.storage.errors import DatabaseError, FormatVersionError

MAGIC = b"PKCFILE1"

_TRAILER = struct.Struct("<IIII8s")
TRAILER_BYTES = _TRAILER.size
"""At the end of a file; the checksum of the footer is among them."""
_COVERED = struct.Struct("<III")
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


@dataclass(frozen=True, slots=True)
class CFileEntry:
    """The footer's entry of a CFile.

    Attributes:
        name: unique in the container.
        encoding, compression: of the column.
        rows, null_count: of the column.
        raw_size: bytes of the values before encoding.
        encoded_size: bytes of all blocks and the dictionary.
        blocks: how many.
        offset: of the first block.
        index: the positional index.
        dictionary: the block of words, or None.
    """

    name: str
    type: DataType
    encoding: Encoding
    compression: Compression
    rows: int
    null_count: int
    raw_size: int
    encoded_size: int
    blocks: int
    offset: int
    index: BlockPointer
    dictionary: BlockPointer | None

    def to_json(self) -> list[Any]:
        """The entry as a list of JSON values."""
        stored = (str(self.type), self.encoding, str(self.compression))
        counts = (self.rows, self.null_count, self.raw_size, self.encoded_size, self.blocks)
        dictionary = None if self.dictionary is None else _pointer_to_json(self.dictionary)
        index = _pointer_to_json(self.index)
        return [self.name, *stored, *counts, self.offset, index, dictionary]

    @classmethod
    def from_json(cls, value: list[Any]) -> "CFileEntry":
        """The inverse of `to_json`.

        Raises ValueError, TypeError, KeyError, DatabaseError: it is not one.
        """
        name, kind, encoding, compression, *numbers, index, dictionary = value
        rows, null_count, raw_size, encoded_size, blocks, offset = map(_natural, numbers)
        stored = (parse_type(kind), BY_NAME[encoding].name, Compression(compression))
        counts = (rows, null_count, raw_size, encoded_size, blocks, offset)
        words = None if dictionary is None else _pointer_from_json(dictionary)
        return cls(str(name), *stored, *counts, _pointer_from_json(index), words)


@dataclass(frozen=True, slots=True)
class Footer:
    """The directory of a container.

    Attributes:
        cfiles: by name, in the order written.
        blobs: by name, in the order written.
        metadata: the writer's own JSON values.
    """

    cfiles: Mapping[str, CFileEntry]
    blobs: Mapping[str, BlockPointer]
    metadata: Mapping[str, Any]

    def to_bytes(self, seed: int, offset: int) -> bytes:
        """The end of the file.

        `seed`: of the file's identity; `offset`: where the footer begins.
        """
        value = {
            "cfiles": [entry.to_json() for entry in self.cfiles.values()],
            "blobs": [[name, _pointer_to_json(blob)] for name, blob in self.blobs.items()],
            "metadata": dict(self.metadata),
        }
        body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        features = features_of(entry.encoding for entry in self.cfiles.values())
        covered = _COVERED.pack(len(body), FORMAT_VERSION, features)
        crc = checksum(seed, Section.FOOTER, "", 0, offset, body + covered)
        return body + _TRAILER.pack(len(body), FORMAT_VERSION, features, crc, MAGIC)


def read_footer(file: BlockFile, seed: int) -> Footer:
    """Read and check the end of a file.

    `seed`: of the identity it should have. Raises CorruptionError: it is not the container that the
    identity names; FormatVersionError: a newer version of the format wrote it.
    """
    end = file.size - _TRAILER.size
    if end < len(MAGIC):
        raise file.corruption(Section.FOOTER, "", 0, 0, f"the file has only {file.size} bytes")
    trailer = file.read_unchecked(end, _TRAILER.size)
    length, version, features, expected, magic = _TRAILER.unpack(trailer)
    if magic != MAGIC or length > end - len(MAGIC):
        raise file.corruption(Section.FOOTER, "", 0, end, "the file does not end in a footer")
    offset = end - length
    body = file.read_unchecked(offset, length)
    covered = trailer[: _COVERED.size]
    if checksum(seed, Section.FOOTER, "", 0, offset, body + covered) != expected:
        raise file.corruption(
            Section.FOOTER, "", 0, offset, "checksum does not match, or it is another file's"
        )
    if version != FORMAT_VERSION or features & ~SUPPORTED_FEATURES:
        raise FormatVersionError(
            f"{file.path}: format version {version} with features {features:#x}, this program "
            f"knows version {FORMAT_VERSION} with features {SUPPORTED_FEATURES:#x}",
            hint="open the database with the version of pykudu-sql that wrote it, or a newer one",
        )
    try:
        return _parse(body)
    except (*_MALFORMED, RecursionError, DatabaseError) as error:
        raise file.corruption(Section.FOOTER, "", 0, offset, f"cannot be read: {error}") from error


def _parse(body: bytes) -> Footer:
    value = json.loads(body)
    entries = [CFileEntry.from_json(entry) for entry in value["cfiles"]]
    return Footer(
        cfiles={entry.name: entry for entry in entries},
        blobs={str(name): _pointer_from_json(blob) for name, blob in value["blobs"]},
        metadata=dict(value["metadata"]),
    )


def _pointer_to_json(pointer: BlockPointer) -> list[int]:
    return [pointer.offset, pointer.length, pointer.checksum]


def _pointer_from_json(value: list[Any]) -> BlockPointer:
    return BlockPointer(*map(_natural, value))


def _natural(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise ValueError(f"{value!r} is no size or offset")
    return value
