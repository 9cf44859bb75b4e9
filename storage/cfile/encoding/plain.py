"""PLAIN: values as they are.

Fixed widths are little-endian values one after the other; BOOL is a bitmap, lowest bit first, as
Arrow's. Binary values (Kudu's `cfile/binary_plain_block.h`) are lengths and bytes apart:

    0       4   length of the values' bytes, u32
    4       4   length of the next chunk, u32
    8       .   lengths of the values, u32 each, bit-shuffled chunk
    .       .   the values' bytes, chunk without rearrangement; absent when there are none

Apart, lengths compress to almost nothing and one cumulative sum makes them Arrow's offsets.
"""

import struct
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.cfile.encoding.traits import (
    BinaryCodec,
    BooleanCodec,
    Bytes,
    EncodingTraits,
    FixedCodec,
    Lengths,
    ReadPart,
    ValuePlaces,
    Values,
)
from pykudu_sql.storage.common.types.types import DataType, Encoding
from pykudu_sql.storage.errors import CorruptionError

_HEADER = struct.Struct("<II")
_MAX_LENGTH = 2**32 - 1
# Lengths of so many rows in so many bytes are remembered: at most 2 MiB of them.
_REGULAR_CHUNK = 512
_REGULAR_ROWS = 8 * 1024


@dataclass(frozen=True, slots=True)
class BinaryBlock:
    """An opened block of binary values.

    `data_length`: bytes of all values together; `lengths`, `data`: their chunks.
    """

    rows: int
    data_length: int
    lengths: Bytes
    data: Bytes

    def decode_into(self, lengths: npt.NDArray[np.uint32], data: Bytes) -> None:
        """Unpack lengths and bytes into memory of the sizes in the block's header.

        Raises CorruptionError: lengths and bytes do not agree.
        """
        bitshuffle.decompress_into(self.lengths, lengths.view(np.uint8))
        total = int(lengths.sum(dtype=np.uint64))
        if total != self.data_length:
            raise CorruptionError(f"lengths add up to {total}, expected {self.data_length}")
        if self.data_length:
            bitshuffle.decompress_into(self.data, data)
        elif len(self.data):
            raise CorruptionError("a block of empty values carries bytes")


def encode_bitmap(values: Values) -> bytes:
    """Bytes 0 and 1 as bits, the lowest first."""
    return np.packbits(values, bitorder="little").tobytes()


def decode_fixed_into(payload: Bytes, out: Bytes) -> None:
    """Copy stored values or bitmap bytes.

    Raises CorruptionError: there are more or fewer bytes than requested.
    """
    if len(payload) != len(out):
        raise CorruptionError(f"{len(payload)} bytes of values, expected {len(out)}")
    out[:] = payload


def encode_binary(
    lengths: npt.NDArray[np.uint32], data: npt.NDArray[np.uint8], *, compressed: bool
) -> bytes:
    """Encode values given as lengths and one run of bytes.

    Args:
        lengths: bytes of each value, at least one value.
        data: the values one after the other.
        compressed: False leaves the bytes as they are, when the block is compressed afterwards.
    """
    packed = bitshuffle.compress(lengths)
    pack = bitshuffle.compress_bytes if compressed else bitshuffle.store_bytes
    body = pack(data) if len(data) else b""
    return b"".join((_HEADER.pack(len(data), len(packed)), packed, body))


def open_binary(payload: Bytes, rows: int, limit: int) -> BinaryBlock:
    """Read the header of a block of `rows` binary values.

    Raises CorruptionError: it contradicts itself, or claims more than `limit` bytes.
    """
    if len(payload) < _HEADER.size:
        raise CorruptionError("a block of binary values is shorter than its header")
    data_length, packed = _HEADER.unpack_from(payload.data)
    start = _HEADER.size + packed
    if data_length > limit or start > len(payload):
        raise CorruptionError(f"a block claims {data_length} bytes of values, limit {limit}")
    return BinaryBlock(rows, data_length, payload[_HEADER.size : start], payload[start:])


def read_value(read: ReadPart, start: int, stop: int, rows: int, slot: int) -> bytes:
    """One value of what `encode_binary` made.

    Lengths are unpacked up to the value; of the values' bytes only what it takes is read.

    Args:
        read: the bytes of the block between two places.
        start, stop: where the payload lies in the block.
        rows: how many values it holds.
        slot: of the value, 0 <= slot < rows.

    Raises CorruptionError: what is read for it contradicts itself.
    """
    data_length, lengths, data = _read_header(read, start, stop)
    begin, end = _span(read(lengths, data), rows, slot)
    if end > data_length:
        raise CorruptionError(f"lengths add up to {end}, expected at most {data_length}")
    return bitshuffle.read_part(read, data, stop, data_length, begin, end) if begin < end else b""


def locate_values(read: ReadPart, start: int, stop: int, rows: int) -> ValuePlaces | None:
    """Where the values of what `encode_binary` made lie, None where their bytes are compressed.

    Args:
        read: the bytes of the block between two places.
        start, stop: where the payload lies in the block.
        rows: how many values it holds.

    Raises CorruptionError: what is read for it contradicts itself.
    """
    data_length, lengths, data = _read_header(read, start, stop)
    if not data_length:
        if data < stop:
            raise CorruptionError("a block of empty values carries bytes")
        first = data
    else:
        stored = bitshuffle.find_stored(read, data, stop, data_length)
        if stored is None:
            return None
        first = stored
    packed = read(lengths, data)
    is_shared = _is_regular(packed, rows)
    ends = _ends_of(packed, rows) if is_shared else _unpack_ends(packed, rows)
    if ends[-1] != data_length:
        raise CorruptionError(f"lengths add up to {ends[-1]}, expected {data_length}")
    return ValuePlaces(first, ends, 0 if is_shared else ends.nbytes)


def locate_equal(read: ReadPart, start: int, stop: int, rows: int) -> tuple[int, int] | None:
    """Where the first value of what `encode_binary` made begins, and how long each of them is.

    None where lengths differ, all are empty, or their bytes are compressed. Arguments and errors
    are those of `locate_values`; lengths that differ are not unpacked as a rule.
    """
    data_length, lengths, data = _read_header(read, start, stop)
    if not data_length or data_length % rows:
        return None
    packed = read(lengths, data)
    if not _is_regular(packed, rows):
        return None
    first = bitshuffle.find_stored(read, data, stop, data_length)
    length = data_length // rows
    if first is None or _equal_length(packed, rows) != length:
        return None
    return first, length


def _read_header(read: ReadPart, start: int, stop: int) -> tuple[int, int, int]:
    """How many bytes all values have, and where the chunks of lengths and of bytes begin."""
    place = start + _HEADER.size
    if place > stop:
        raise CorruptionError("a block of binary values is shorter than its header")
    data_length, packed = _HEADER.unpack(read(start, place))
    data = place + packed
    if data > stop:
        raise CorruptionError(f"a block claims {packed} bytes of lengths, has {stop - place}")
    return data_length, place, data


def _is_regular(packed: bytes, rows: int) -> bool:
    """Whether lengths pack so well that they are alike, and so in many blocks."""
    return len(packed) <= _REGULAR_CHUNK and rows <= _REGULAR_ROWS


def _span(packed: bytes, rows: int, slot: int) -> tuple[int, int]:
    """Where a value begins and ends among the bytes of all, by the chunk of their lengths."""
    if _is_regular(packed, rows):
        ends = _ends_of(packed, rows)
        return ends[slot - 1] if slot else 0, ends[slot]
    lengths = _unpack_lengths(packed, rows)
    begin = int(lengths[:slot].sum(dtype=np.uint64))
    return begin, begin + int(lengths[slot])


def _unpack_ends(packed: bytes, rows: int) -> memoryview:
    """Where each value ends among the bytes of all."""
    lengths = _unpack_lengths(packed, rows)
    total = int(lengths.sum(dtype=np.uint64))
    if total > _MAX_LENGTH:
        raise CorruptionError(f"lengths add up to {total}, expected at most {_MAX_LENGTH}")
    return np.cumsum(lengths, dtype=np.uint32).data


_ends_of = lru_cache(maxsize=64)(_unpack_ends)


@lru_cache(maxsize=64)
def _equal_length(packed: bytes, rows: int) -> int | None:
    """The length that all values have, None where they have several."""
    lengths = _unpack_lengths(packed, rows)
    return int(lengths[0]) if (lengths == lengths[0]).all() else None


def _unpack_lengths(packed: bytes, rows: int) -> Lengths:
    lengths = np.empty(rows, np.uint32)
    bitshuffle.decompress_into(np.frombuffer(packed, np.uint8), lengths.view(np.uint8))
    return lengths


def _fits(column_type: DataType) -> bool:
    return True


PLAIN_ENCODING = EncodingTraits(
    name=Encoding("PLAIN_ENCODING"),
    tag=1,
    fits=_fits,
    aliases=("PLAIN",),
    fixed=FixedCodec(
        encoder=lambda sample: lambda values: values.tobytes(),
        decode_into=lambda payload, out: decode_fixed_into(payload, out.view(np.uint8)),
    ),
    boolean=BooleanCodec(
        encode=encode_bitmap,
        decode_into=lambda payload, rows, bits: decode_fixed_into(payload, bits),
    ),
    binary=BinaryCodec(encode_binary, open_binary, read_value, locate_values, locate_equal),
)
