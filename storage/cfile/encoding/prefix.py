"""PREFIX: values share the beginning of the value before them (`cfile/binary_prefix_block.h`).

    0       4   length of all values' bytes once they are whole, u32
    4       4   length of the bytes kept, u32
    8       4   length of the first chunk, u32
    12      4   length of the second chunk, u32
    16      .   how many bytes each value shares with the one before, u8 each, bit-shuffled chunk
    .       .   how many bytes of each value are kept, u32 each, bit-shuffled chunk
    .       .   the bytes kept, one value after the other, chunk without rearrangement; absent when
                there are none

Every `RESTART_INTERVAL`th value is a restart point and shares nothing, so chains are short. Kudu
interleaves varints with the bytes, as LevelDB does; apart, all lengths are two numpy arrays, and
the chains of all restart points grow by one value at a time, side by side: neither direction has
a loop over values. A value shares at most `MAX_SHARED` bytes, which bounds the memory for indexes.
"""

import struct

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.cfile.encoding.traits import BinaryCodec, Bytes, EncodingTraits
from pykudu_sql.storage.common.types.ordinal_take import ordinals_of_spans
from pykudu_sql.storage.common.types.types import DataType, Encoding
from pykudu_sql.storage.errors import CorruptionError

RESTART_INTERVAL = 16
MAX_SHARED = 255

_HEADER = struct.Struct("<IIII")
# Values whose indexes are made at once; a multiple of the restart interval.
_SLICE_ROWS = 16 * 1024

Ends = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PrefixBlock:
    """An opened block of values that share prefixes.

    Attributes:
        data_length: bytes of all values together, whole.
        suffix_length: bytes of them that are stored.
        shared, kept, data: their chunks.
    """

    rows: int
    data_length: int
    suffix_length: int
    shared: Bytes
    suffixes: Bytes
    data: Bytes

    def decode_into(self, lengths: npt.NDArray[np.uint32], data: Bytes) -> None:
        """Unpack lengths and bytes into memory of the sizes in the block's header.

        Raises:
            CorruptionError: lengths and bytes do not agree, or a value shares more than there is.
        """
        shared = np.empty(self.rows, np.uint8)
        suffixes = np.empty(self.rows, np.uint32)
        bitshuffle.decompress_into(self.shared, shared)
        bitshuffle.decompress_into(self.suffixes, suffixes.view(np.uint8))
        totals = int(suffixes.sum(dtype=np.uint64)), int(shared.sum(dtype=np.uint64))
        if totals[0] != self.suffix_length or sum(totals) != self.data_length:
            raise CorruptionError(
                f"{totals[0]} bytes kept and {totals[1]} shared make no {self.data_length}"
            )
        np.add(suffixes, shared, out=lengths)
        if bool(shared[::RESTART_INTERVAL].any()) or bool((shared[1:] > lengths[:-1]).any()):
            raise CorruptionError("a value shares more bytes than the one before it has")
        if not self.suffix_length:
            if len(self.data) or self.data_length:
                raise CorruptionError("a block of empty values carries bytes")
            return
        pieces = np.empty(self.suffix_length, np.uint8)
        bitshuffle.decompress_into(self.data, pieces)
        starts = _starts(lengths)
        data[~_in_prefix(starts, shared, len(data))] = pieces
        _grow_chains(starts, shared, data)


def encode(
    lengths: npt.NDArray[np.uint32], data: npt.NDArray[np.uint8], *, compressed: bool
) -> bytes:
    """Encode values given as lengths and one run of bytes.

    Args:
        lengths: bytes of each value, at least one value.
        data: the values one after the other.
        compressed: False leaves the bytes as they are, when the block is compressed afterwards.
    """
    starts = _starts(lengths)
    shared = _shared_lengths(lengths, starts, data)
    suffixes = data[~_in_prefix(starts, shared, len(data))]
    packed_shared = bitshuffle.compress(shared)
    packed_suffixes = bitshuffle.compress(lengths - shared)
    pack = bitshuffle.compress_bytes if compressed else bitshuffle.store_bytes
    body = pack(suffixes) if len(suffixes) else b""
    header = _HEADER.pack(len(data), len(suffixes), len(packed_shared), len(packed_suffixes))
    return b"".join((header, packed_shared, packed_suffixes, body))


def open_block(payload: Bytes, rows: int, limit: int) -> PrefixBlock:
    """Read the header of a block of `rows` values.

    Raises CorruptionError: it contradicts itself, or claims more than `limit` bytes.
    """
    if len(payload) < _HEADER.size:
        raise CorruptionError("a block of prefixes is shorter than its header")
    data_length, suffix_length, shared, suffixes = _HEADER.unpack_from(payload.data)
    middle = _HEADER.size + shared
    end = middle + suffixes
    if data_length > limit or suffix_length > data_length or end > len(payload):
        raise CorruptionError(
            f"a block claims {data_length} bytes of values, {suffix_length} of them kept, "
            f"limit {limit}"
        )
    return PrefixBlock(
        rows,
        data_length,
        suffix_length,
        payload[_HEADER.size : middle],
        payload[middle:end],
        payload[end:],
    )


def _starts(lengths: npt.NDArray[np.uint32]) -> Ends:
    """Where each value begins, and behind the last where it ends, int64[n + 1]."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _shared_lengths(
    lengths: npt.NDArray[np.uint32], starts: Ends, data: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """How many bytes each value has in common with the one before, none at restart points."""
    rows = len(lengths)
    most = np.zeros(rows, np.int64)
    np.minimum(lengths[1:], lengths[:-1], out=most[1:], casting="unsafe")
    np.minimum(most, MAX_SHARED, out=most)
    most[::RESTART_INTERVAL] = 0
    for first in range(0, rows, _SLICE_ROWS):
        part = slice(first, first + _SLICE_ROWS)
        counts = most[part]
        ends = np.cumsum(counts)
        offsets = ordinals_of_spans(starts[:-1][part], counts)
        before = np.maximum(np.arange(first, first + len(counts)) - 1, 0)
        back = np.repeat(starts[:-1][part] - starts[before], counts)
        differing = np.flatnonzero(data[offsets] != data[offsets - back])
        # The first difference behind the beginning of a value's stretch, if it is in it at all.
        differing_at = np.append(differing, ends[-1])[np.searchsorted(differing, ends - counts)]
        counts[:] = np.minimum(differing_at - (ends - counts), counts)
    return most.astype(np.uint8)


def _in_prefix(starts: Ends, shared: npt.NDArray[np.uint8], total: int) -> npt.NDArray[np.bool_]:
    """Which bytes of the values are shared with the value before, bool[total]."""
    sharing = np.flatnonzero(shared)
    edges = np.zeros(total + 1, np.int8)
    edges[starts[sharing]] += 1
    edges[starts[sharing] + shared[sharing]] -= 1
    return np.cumsum(edges[:-1], dtype=np.int8).view(np.bool_)


def _grow_chains(starts: Ends, shared: npt.NDArray[np.uint8], data: npt.NDArray[np.uint8]) -> None:
    """Copy what values share, first from all restart points, then from the values behind them."""
    for first in range(0, len(shared), _SLICE_ROWS):
        stop = min(first + _SLICE_ROWS, len(shared))
        for step in range(1, RESTART_INTERVAL):
            rows = np.arange(first + step, stop, RESTART_INTERVAL)
            counts = shared[rows].astype(np.int64)
            offsets = ordinals_of_spans(starts[rows], counts)
            data[offsets] = data[offsets - np.repeat(starts[rows] - starts[rows - 1], counts)]


def _fits(column_type: DataType) -> bool:
    return column_type.is_variable


PREFIX_ENCODING = EncodingTraits(
    name=Encoding("PREFIX_ENCODING"),
    tag=5,
    fits=_fits,
    aliases=("PREFIX",),
    binary=BinaryCodec(encode, open_block),
)
