"""One block: a run of a column's rows, encoded, perhaps compressed. What lies between two offsets.

    0       1   encoding, its tag in `type_encodings`
    1       1   flags: 1 = a validity bitmap follows
    2       1   compression of the body, see `COMPRESSION_TAGS`; 0 = as it is
    3       1   zero
    4       4   rows, u32
    8       4   length of the body before compression, u32
    12      .   body: validity bitmap (a bit a row, lowest first, 1 = present), then what the
                encoding makes of the values

Kudu's blocks carry the same facts in their encoding headers (`cfile/*_block.h`). A block has no
checksum of its own: whoever points at it keeps it (see `block_file`). Values of NULL slots are
stored as zeros, so a fixed-width block decodes without a scatter. Every block of a CFile but the
last holds a multiple of eight rows, so bitmaps of neighbours join by bytes.

Each block names its encoding, so one CFile may mix them, as where run-length blocks do not pay.
With a dictionary they do not mix: all blocks are in codes then.
"""

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile import compression
from pykudu_sql.storage.cfile.encoding.traits import Bytes, EncodingTraits
from pykudu_sql.storage.cfile.encoding.type_encodings import BY_TAG
from pykudu_sql.storage.common.types.types import Compression
from pykudu_sql.storage.errors import CorruptionError

MAX_BLOCK_ROWS = 16 * 1024 * 1024
MAX_RAW_BYTES = 16 * 1024 * 1024
ROW_MULTIPLE = 8

COMPRESSION_TAGS: Mapping[Compression, int] = {
    Compression.NO_COMPRESSION: 0,
    Compression.LZ4: 1,
    Compression.SNAPPY: 2,
    Compression.ZLIB: 3,
    Compression.ZSTD: 4,
}
_COMPRESSIONS = MappingProxyType({tag: kind for kind, tag in COMPRESSION_TAGS.items()})

_HEADER = struct.Struct("<BBBBII")
HEADER_BYTES = _HEADER.size
_HAS_VALIDITY = 1
# Encoded values can be somewhat longer than raw ones, bitmaps and chunk headers come on top.
_MAX_BODY_BYTES = 2 * MAX_RAW_BYTES


@dataclass(frozen=True, slots=True)
class Block:
    """An opened block.

    Attributes:
        rows: values, NULLs included.
        validity: bitmap bytes, or None when no slot is NULL.
        payload: the encoding's bytes.
    """

    encoding: EncodingTraits
    rows: int
    validity: Bytes | None
    payload: Bytes

    @property
    def null_count(self) -> int:
        """Slots that are NULL."""
        if self.validity is None:
            return 0
        return self.rows - int(np.bitwise_count(self.validity).sum())


def bitmap_length(rows: int) -> int:
    """Bytes of a bitmap of so many bits."""
    return (rows + 7) // 8


def pack(
    encoding: EncodingTraits, kind: Compression, rows: int, validity: Bytes | None, payload: bytes
) -> bytes:
    """A block's bytes; kept uncompressed when compression does not pay.

    Args:
        kind: compression to try.
        rows: 1 .. MAX_BLOCK_ROWS.
        validity: bitmap of `bitmap_length(rows)` bytes, or None when no slot is NULL.
        payload: encoded values.
    """
    body = payload if validity is None else validity.tobytes() + payload
    packed = compression.compress(kind, body)
    used = Compression.NO_COMPRESSION if packed is None else kind
    flags = 0 if validity is None else _HAS_VALIDITY
    header = _HEADER.pack(encoding.tag, flags, COMPRESSION_TAGS[used], 0, rows, len(body))
    return header + (body if packed is None else packed)


class BlockHeader(NamedTuple):
    """What a block says of itself before its body.

    Attributes:
        encoding: of the values.
        compression: of the body.
        rows: values, NULLs included.
        body_length: bytes of the body before compression.
        has_validity: whether the body begins with a bitmap.
    """

    encoding: EncodingTraits
    compression: Compression
    rows: int
    body_length: int
    has_validity: bool


def read_header(data: bytes | memoryview, rows: int | None) -> BlockHeader:
    """The header at the beginning of some bytes; see `unpack`."""
    if len(data) < HEADER_BYTES:
        raise CorruptionError(f"a block of {len(data)} bytes is shorter than its header")
    tag, flags, codec, zero, claimed_rows, length = _HEADER.unpack_from(data)
    encoding, kind = BY_TAG.get(tag), _COMPRESSIONS.get(codec)
    if encoding is None or kind is None or flags & ~_HAS_VALIDITY or zero:
        raise CorruptionError(f"unknown encoding {tag}, compression {codec} or flags {flags}")
    if rows is not None and claimed_rows != rows:
        raise CorruptionError(f"a block claims {claimed_rows} rows, its index {rows}")
    if not 0 < claimed_rows <= MAX_BLOCK_ROWS:
        raise CorruptionError(f"a block claims {claimed_rows} rows, limit {MAX_BLOCK_ROWS}")
    if length > _MAX_BODY_BYTES:
        raise CorruptionError(f"a block claims {length} bytes, limit {_MAX_BODY_BYTES}")
    return BlockHeader(encoding, kind, claimed_rows, length, bool(flags))


def unpack(data: Bytes, rows: int | None) -> Block:
    """Open a block whose checksum was found right.

    `rows`: how many the index says it holds; None for a dictionary, which has no index. Raises
    CorruptionError: the header contradicts the index, itself or the limits.
    """
    header = read_header(data.data, rows)
    body = compression.decompress(header.compression, data[HEADER_BYTES:], header.body_length)
    if len(body) != header.body_length:
        raise CorruptionError(f"a block of {len(body)} bytes claims {header.body_length}")
    if not header.has_validity:
        return Block(header.encoding, header.rows, None, body)
    bitmap = bitmap_length(header.rows)
    if bitmap > len(body):
        raise CorruptionError(f"a block of {header.rows} rows is shorter than its bitmap")
    return Block(header.encoding, header.rows, body[:bitmap], body[bitmap:])
