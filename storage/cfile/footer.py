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
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

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

T = TypeVar("T")

MAGIC = b"PKCFILE1"
MAX_NAME_BYTES = 1024
"""Of a CFile or blob, in UTF-8."""

_TRAILER = struct.Struct("<IIII8s")
TRAILER_BYTES = _TRAILER.size
"""At the end of a file; the checksum of the footer is among them."""
_COVERED = struct.Struct("<III")
_COUNTS, _POINTER = 6, 3  # numbers of an entry beside its pointers, and of a pointer
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
    entries = [_checked_entry(entry) for entry in value["cfiles"]]
    return Footer(
        cfiles=_LazyValues({entry[0]: entry for entry in entries}, _entry),
        blobs=_LazyValues(
            {_checked_name(name): _checked_pointer(blob) for name, blob in value["blobs"]},
            BlockPointer,
        ),
        metadata=dict(value["metadata"]),
    )


class _LazyValues(Mapping[str, T]):
    """Values by name, of which a query over hundreds of files uses few."""

    __slots__ = ("_make", "_parts", "_values")

    def __init__(self, parts: Mapping[str, tuple[Any, ...]], make: Callable[..., T]) -> None:
        """Make each value by `make` of its parts."""
        self._parts = parts
        self._make = make
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        value = self._values.get(name)
        if value is None:
            value = self._values[name] = self._make(*self._parts[name])
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _checked_entry(value: list[Any]) -> tuple[Any, ...]:
    """The parts of an entry. Raises ValueError, TypeError, KeyError, DatabaseError: it is none."""
    name, kind, encoding, compression, *counts, index, dictionary = value
    if len(counts) != _COUNTS:
        raise ValueError(f"{len(counts)} sizes of a CFile")
    _stored_as(kind, encoding, compression)
    words = () if dictionary is None else _checked_pointer(dictionary)
    stored = (_checked_name(name), kind, encoding, compression)
    return (*stored, *_naturals(counts), *_checked_pointer(index), *words)


def _entry(name: str, kind: str, encoding: str, compression: str, *numbers: int) -> CFileEntry:
    rows, null_count, raw_size, encoded_size, blocks, offset = numbers[:_COUNTS]
    index, words = numbers[_COUNTS : _COUNTS + _POINTER], numbers[_COUNTS + _POINTER :]
    return CFileEntry(
        name,
        *_stored_as(kind, encoding, compression),
        rows,
        null_count,
        raw_size,
        encoded_size,
        blocks,
        offset,
        BlockPointer(*index),
        BlockPointer(*words) if words else None,
    )


@lru_cache(maxsize=1024)
def _stored_as(
    kind: str, encoding: str, compression: str
) -> tuple[DataType, Encoding, Compression]:
    return parse_type(kind), BY_NAME[encoding].name, Compression(compression)


def _pointer_to_json(pointer: BlockPointer) -> list[int]:
    return [pointer.offset, pointer.length, pointer.checksum]


def _checked_name(value: object) -> str:
    name = str(value)
    if len(name.encode()) > MAX_NAME_BYTES:
        raise ValueError(f"a name of {len(name)} characters")
    return name


def _checked_pointer(value: list[Any]) -> tuple[int, ...]:
    if len(value) != _POINTER:
        raise ValueError(f"{value!r} is no place in a file")
    return _naturals(value)


def _naturals(values: list[Any]) -> tuple[int, ...]:
    for value in values:
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise ValueError(f"{value!r} is no size or offset")
    return tuple(values)
