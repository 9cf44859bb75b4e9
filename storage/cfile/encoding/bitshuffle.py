"""BIT_SHUFFLE: transpose the bits of equal-width values, then LZ4.

Kudu's default for numbers (`cfile/bshuf_block.h`). The kernel is Blosc's, which transposes and
compresses slices that fit the cache and decodes straight into the caller's memory. A chunk is a
Blosc 1 chunk: version u8, LZ4 version u8, flags u8, value width u8, raw length u32, slice length
u32, chunk length u32 (little-endian), then the slices.

Where all variation sits in whole bytes, transposing by bytes compresses as well and decodes about
twice as fast, so `choose_shuffle` asks a sample; the flags of each chunk say which was done.

Guarantees: thread-safe, the interpreter lock is released, and `decompress_into` writes exactly the
bytes it was given room for, or raises. Header fields are compared with what the caller knows before
Blosc sees them, since a header can claim gigabytes.
"""

import struct
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.cfile.encoding.traits import Bytes, ReadPart
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.errors import CorruptionError

_HEADER = struct.Struct("<BBBBIII")
HEADER_BYTES = _HEADER.size
# Where a slice begins, behind the header.
_TABLE_ENTRY = struct.Struct("<i")
_ONE_SLICE = HEADER_BYTES + _TABLE_ENTRY.size
# Before the bytes of a stream, of which a slice has one, or one for each byte of a value.
_STREAM = struct.Struct("<I")
_FORMAT_VERSION = 2
_LZ4_FORMAT = 1
_STORED = 2
_REARRANGED = 1 | 4
_UNSPLIT = 16
_LEVEL = 5
_AUTOMATIC_SLICE = 0
_BYTE_SHUFFLE_SLACK = 1.05
_MOST_JOINED_BYTES = 1 << 21


@cache
def _blosc() -> Any:
    """numcodecs' Blosc, loaded at first use: its package takes as long to load as all of ours."""
    from numcodecs import blosc

    # Blosc's own threads would fight with ours, and only the call without them is re-entrant.
    blosc.use_threads = False
    return blosc


class Shuffle(IntEnum):
    """How values are rearranged before LZ4, by Blosc's numbers."""

    NONE = 0
    BYTES = 1
    BITS = 2


def compress(values: npt.NDArray[Any], shuffle: Shuffle = Shuffle.BITS) -> bytes:
    """Pack contiguous values of one width; 16-byte values come as rows of two words.

    `values`: at least one value; `shuffle`: see `choose_shuffle`.
    """
    if values.ndim == 2:
        values = values.view(np.dtype((np.void, values.shape[1] * values.itemsize)))
    elif shuffle is Shuffle.BITS and values.itemsize == 1 and len(values) % 2 == 0:
        # Blosc's vectors take no single bytes: as pairs they decode in three quarters of the time.
        values = values.view(np.uint16)
    chunk: bytes = _blosc().compress(values, b"lz4", _LEVEL, int(shuffle), _AUTOMATIC_SLICE)
    return chunk


def compress_bytes(data: npt.NDArray[np.uint8]) -> bytes:
    """LZ4 without rearrangement, for text. At least one byte."""
    return compress(data, Shuffle.NONE)


def store_bytes(data: npt.NDArray[np.uint8]) -> bytes:
    """The same chunk with its bytes as they are, for a compression that follows."""
    chunk: bytes = _blosc().compress(data, b"lz4", 0, int(Shuffle.NONE), _AUTOMATIC_SLICE)
    return chunk


def choose_shuffle(sample: npt.NDArray[Any]) -> Shuffle:
    """The rearrangement for values like the sample: by bytes unless bits save more than 5 %."""
    if sample.ndim == 1 and sample.itemsize == 1:
        return Shuffle.BITS
    by_bytes = len(compress(sample, Shuffle.BYTES))
    by_bits = len(compress(sample, Shuffle.BITS))
    return Shuffle.BYTES if by_bytes <= _BYTE_SHUFFLE_SLACK * by_bits else Shuffle.BITS


def decompress_into(chunk: Bytes, out: Bytes) -> None:
    """Unpack a chunk into exactly the memory given.

    Args:
        chunk: made by a function of this module.
        out: contiguous and writable; its length is what the chunk must hold.

    Raises CorruptionError: the chunk is not one, or holds another number of bytes.
    """
    _check_header(chunk.data, len(chunk), len(out))
    _unpack(chunk, out)


def decompress_run_into(chunks: Sequence[Bytes], lengths: Sequence[int], out: Bytes) -> None:
    """Unpack chunks one after the other, as `decompress_into` does each of them.

    Neighbours that are alike go to Blosc as one chunk of many slices: a kernel of 20 us is over
    before the interpreter's lock has changed hands, so threads would wait for each other most of
    the time.

    Args:
        chunks: made by functions of this module.
        lengths: bytes that each must hold, together those of `out`.
        out: contiguous and writable.

    Raises CorruptionError: see `decompress_into`.
    """
    first = position = 0
    while first < len(chunks):
        length = lengths[first]
        alike = _alike(chunks, lengths, first)
        end = position + length * alike
        if alike > 1:
            _unpack(_joined(chunks[first : first + alike], length), out[position:end])
        else:
            decompress_into(chunks[first], out[position:end])
        first, position = first + alike, end


def _alike(chunks: Sequence[Bytes], lengths: Sequence[int], first: int) -> int:
    """How many chunks from one on can be joined, at least 1: each of one slice, packed one way."""
    length, form = lengths[first], _form(chunks[first], lengths[first])
    if form is None:
        return 1
    most = min(len(chunks), first + max(_MOST_JOINED_BYTES // max(length, 1), 1))
    stop = first + 1
    while stop < most and lengths[stop] == length and _form(chunks[stop], length) == form:
        stop += 1
    return stop - first


def _form(chunk: Bytes, raw: int) -> tuple[int, ...] | None:
    """What chunks that are joined have in common; None where it is not one of one packed slice.

    Raises CorruptionError: see `decompress_into`.
    """
    flags, width, slice_length = _check_header(chunk.data, len(chunk), raw)
    if flags & _STORED or slice_length != raw or len(chunk) < _ONE_SLICE:
        return None
    (begin,) = _TABLE_ENTRY.unpack_from(chunk.data, HEADER_BYTES)
    streams = 1 if flags & _UNSPLIT else width
    if begin != _ONE_SLICE or _streams_end(chunk.data, streams) != len(chunk):
        return None
    return (int(chunk[1]), flags, width)


def _streams_end(chunk: memoryview, streams: int) -> int | None:
    """Where the last stream of a chunk of one slice ends; None if it begins outside the chunk.

    Blosc would let a stream that claims more bytes than its chunk has read those of the next one.
    """
    place, unpack = _ONE_SLICE, _STREAM.unpack_from
    try:
        for _ in range(streams):
            place += _STREAM.size + unpack(chunk, place)[0]
    except struct.error:
        return None
    return place


def _joined(chunks: Sequence[Bytes], raw: int) -> Bytes:
    """The chunk of the slices of chunks that are alike. `raw`: bytes that each of them holds."""
    _, packed_by, flags, width, *_ = _HEADER.unpack_from(chunks[0].data)
    sizes = [len(chunk) - _ONE_SLICE for chunk in chunks]
    table = HEADER_BYTES + _TABLE_ENTRY.size * len(chunks)
    *begins, length = accumulate(sizes, initial=table)
    head = _HEADER.pack(_FORMAT_VERSION, packed_by, flags, width, raw * len(chunks), raw, length)
    _, joined = new_buffer(length)
    # By memory views, which keep the interpreter's lock: to get it back takes longer than a copy.
    into = joined.data
    into[:table] = head + np.array(begins, "<i4").tobytes()
    for place, size, chunk in zip(begins, sizes, chunks, strict=True):
        into[place : place + size] = chunk.data[_ONE_SLICE:]
    return joined


def read_part(read: ReadPart, place: int, stop: int, raw: int, begin: int, end: int) -> bytes:
    """Some of the bytes that a chunk of `compress_bytes` or `store_bytes` holds.

    Of one whose bytes are stored only these are read, of others the slices that have them.

    Args:
        read: the bytes of the block between two places.
        place, stop: where the chunk lies in the block.
        raw: how many bytes it holds.
        begin, end: the bytes begin <= position < end are wanted, at least one.

    Raises CorruptionError: the chunk is not one, or holds another number of bytes.
    """
    body, length = place + HEADER_BYTES, stop - place
    flags, width, slice_length = _read_header(read, place, stop, raw)
    if flags & _STORED:
        return read(body + begin, body + end)
    if width != 1 or flags & _REARRANGED:
        out = np.empty(raw, np.uint8)
        _unpack(np.frombuffer(read(place, stop), np.uint8), out)
        return out[begin:end].tobytes()
    table = body + 4 * -(-raw // slice_length)
    if table > stop:
        raise CorruptionError(f"a chunk of {length} bytes has slices of {slice_length}")
    begins = np.frombuffer(read(body, table), "<i4")
    first, last = begin // slice_length, (end - 1) // slice_length
    ends = [*begins[first + 1 : last + 2].tolist(), length][: last + 1 - first]
    parts = []
    for number, slice_end in enumerate(ends, first):
        slice_begin = int(begins[number])
        if not table - place <= slice_begin < slice_end <= length:
            raise CorruptionError(f"slice {number} lies from {slice_begin} to {slice_end}")
        slice_size = min(slice_length, raw - number * slice_length)
        parts.append(_slice(flags, read(place + slice_begin, place + slice_end), slice_size))
    before = first * slice_length
    return b"".join(parts)[begin - before : end - before]


def find_stored(read: ReadPart, place: int, stop: int, raw: int) -> int | None:
    """Where the bytes of a chunk begin that stores them as they are; None of any other.

    `read`, `place`, `stop`, `raw`: see `read_part`. Raises CorruptionError: the chunk is not one,
    or holds another number of bytes.
    """
    flags, _, _ = _read_header(read, place, stop, raw)
    return place + HEADER_BYTES if flags & _STORED else None


def _read_header(read: ReadPart, place: int, stop: int, raw: int) -> tuple[int, int, int]:
    """Flags, width of a value and length of a slice of a chunk of which only parts are read."""
    length = stop - place
    head = read(place, min(place + HEADER_BYTES, stop))
    flags, width, slice_length = _check_header(head, length, raw)
    if flags & _STORED and length != HEADER_BYTES + raw:
        raise CorruptionError(f"a chunk of {length} bytes stores {raw}")
    return flags, width, slice_length


def _slice(flags: int, stored: bytes, raw: int) -> bytes:
    """What a slice of a chunk holds, unpacked as a chunk of one slice."""
    begin = HEADER_BYTES + 4
    length = begin + len(stored)
    head = _HEADER.pack(_FORMAT_VERSION, 1, flags, 1, raw, raw, length)
    out = np.empty(raw, np.uint8)
    chunk = b"".join((head, begin.to_bytes(4, "little"), stored))
    _unpack(np.frombuffer(chunk, np.uint8), out)
    return out.tobytes()


def _check_header(head: bytes | memoryview, length: int, raw: int) -> tuple[int, int, int]:
    """Flags, width of a value and length of a slice, by the header of a chunk.

    `length`: of the chunk; `raw`: how many bytes it must hold.
    """
    if len(head) < HEADER_BYTES:
        raise CorruptionError(f"a chunk of {length} bytes is shorter than its header")
    version, _, flags, width, claimed, slice_length, end = _HEADER.unpack_from(head)
    if version != _FORMAT_VERSION or flags >> 5 != _LZ4_FORMAT or width == 0:
        raise CorruptionError("a chunk has the header of no known format")
    if claimed != raw or end != length or not 0 < slice_length <= max(raw, 1):
        raise CorruptionError(
            f"a chunk claims {claimed} bytes from {end}, expected {raw} from {length}"
        )
    return flags, width, slice_length


def _unpack(chunk: Bytes, out: Bytes) -> None:
    try:
        _blosc().decompress(chunk, out)
    except (RuntimeError, ValueError) as error:
        raise CorruptionError(f"a chunk cannot be decompressed: {error}") from error
