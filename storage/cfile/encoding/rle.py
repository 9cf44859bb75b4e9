"""RLE: runs of equal values, for integers and BOOL (Kudu's `cfile/rle_block.h`).

    0       4   number of runs, u32
    4       4   length of the next chunk, u32
    8       .   the value of each run, bit-shuffled chunk (BOOL as bytes 0 and 1)
    .       .   the length of each run, u32 each, bit-shuffled chunk

Kudu mixes runs with bit-packed stretches. Here a block whose runs are short on average is not run
length encoded at all (`encode` says so) and takes another encoding.
"""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.cfile.encoding.frame import BIT_SHUFFLE
from pykudu_sql.storage.cfile.encoding.plain import PLAIN_ENCODING
from pykudu_sql.storage.cfile.encoding.traits import (
    BooleanCodec,
    Bytes,
    EncodingTraits,
    FixedCodec,
    Values,
)
from pykudu_sql.storage.common.types.types import DataType, Encoding
from pykudu_sql.storage.errors import CorruptionError

_HEADER = struct.Struct("<II")
_MIN_AVERAGE_RUN = 2


def encode(values: npt.NDArray[Any]) -> bytes | None:
    """The runs of values, or None when there are too many to pay.

    `values`: integers or bytes, shape (n,), at least one.
    """
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    runs = len(starts) + 1
    if runs > max(1, len(values) // _MIN_AVERAGE_RUN):
        return None
    edges = np.empty(runs + 1, np.int64)
    edges[0], edges[1:-1], edges[-1] = 0, starts, len(values)
    packed = bitshuffle.compress(values[edges[:-1]])
    lengths = bitshuffle.compress(np.diff(edges).astype(np.uint32))
    return b"".join((_HEADER.pack(runs, len(packed)), packed, lengths))


def decode(payload: Bytes, rows: int, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """The `rows` values of a block, of numpy type `kind`.

    Raises CorruptionError: the runs do not add up to them.
    """
    return np.repeat(*decode_runs(payload, rows, kind))


def decode_runs(
    payload: Bytes, rows: int, kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint32]]:
    """The values of the runs of a block of `rows` rows, of numpy type `kind`, and their lengths.

    Raises CorruptionError: the runs do not add up to the rows.
    """
    if len(payload) < _HEADER.size:
        raise CorruptionError("a block of runs is shorter than its header")
    runs, packed = _HEADER.unpack_from(payload.data)
    start = _HEADER.size + packed
    if not 0 < runs <= rows or start > len(payload):
        raise CorruptionError(f"a block of {rows} values claims {runs} runs")
    values = np.empty(runs, kind)
    lengths = np.empty(runs, np.uint32)
    bitshuffle.decompress_into(payload[_HEADER.size : start], values.view(np.uint8))
    bitshuffle.decompress_into(payload[start:], lengths.view(np.uint8))
    total = int(lengths.sum(dtype=np.uint64))
    if total != rows:
        raise CorruptionError(f"runs add up to {total} values, expected {rows}")
    return values, lengths


def _decode_into(payload: Bytes, out: Values) -> None:
    out[:] = decode(payload, len(out), out.dtype)


def _encode_boolean(values: Values) -> bytes | None:
    """The runs, where they are shorter than a bitmap."""
    runs = encode(values)
    return runs if runs is not None and len(runs) < (len(values) + 7) // 8 else None


def _decode_boolean_into(payload: Bytes, rows: int, bits: Bytes) -> None:
    bits[:] = np.packbits(decode(payload, rows, np.dtype(np.uint8)), bitorder="little")


def _fits(column_type: DataType) -> bool:
    return column_type.numpy is not None and not column_type.is_floating


RLE = EncodingTraits(
    name=Encoding("RLE"),
    tag=3,
    fits=_fits,
    fallback=(BIT_SHUFFLE, PLAIN_ENCODING),
    fixed=FixedCodec(lambda sample: encode, _decode_into),
    boolean=BooleanCodec(_encode_boolean, _decode_boolean_into),
    decode_runs=decode_runs,
)
