"""Compression of whole blocks, on top of their encoding (Kudu's `util/compression/`).

A codec is given the exact raw length when it decompresses, taken from a checksummed block header
and held to a limit, and what a codec's own frame claims is compared with it first: frames of zstd
and snappy can claim gigabytes. LZ4 is framed by Blosc (see `bitshuffle`), zlib by RFC 1950.
"""

import zlib

import numpy as np
import pyarrow as pa
import zstandard

from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.cfile.encoding.traits import Bytes
from pykudu_sql.storage.common.types.types import Compression
from pykudu_sql.storage.errors import CorruptionError

_ZSTD_LEVEL = 1
_MIN_RATIO = 0.9


def resolve(compression: Compression) -> Compression:
    """What DEFAULT_COMPRESSION stands for, or the one given."""
    if compression is Compression.DEFAULT_COMPRESSION:
        return Compression.NO_COMPRESSION
    return compression


def compress(compression: Compression, data: bytes) -> bytes | None:
    """The data compressed, or None when that would not save a tenth (Kudu's limit)."""
    if not data:
        return None
    match compression:
        case Compression.LZ4:
            packed = bitshuffle.compress_bytes(np.frombuffer(data, np.uint8))
        case Compression.SNAPPY:
            packed = pa.Codec("snappy").compress(data, asbytes=True)
        case Compression.ZLIB:
            packed = zlib.compress(data)
        case Compression.ZSTD:
            packed = pa.Codec("zstd", compression_level=_ZSTD_LEVEL).compress(data, asbytes=True)
        case _:
            return None
    return packed if len(packed) <= _MIN_RATIO * len(data) else None


def decompress(compression: Compression, data: Bytes, raw_length: int) -> Bytes:
    """The raw bytes, exactly `raw_length` of them.

    Raises CorruptionError: the data is not compressed so, or holds another number of bytes.
    """
    try:
        match compression:
            case Compression.LZ4:
                out = np.empty(raw_length, np.uint8)
                bitshuffle.decompress_into(data, out)
                return out
            case Compression.SNAPPY:
                return _snappy(data, raw_length)
            case Compression.ZLIB:
                return _zlib(data, raw_length)
            case Compression.ZSTD:
                return _zstd(data, raw_length)
            case _:
                return data
    except (OSError, ValueError, zlib.error, zstandard.ZstdError) as error:
        raise CorruptionError(f"{compression} cannot decompress: {error}") from error


def _snappy(data: Bytes, raw_length: int) -> Bytes:
    claimed = shift = 0
    for byte in data[:5].tolist():
        claimed |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    _expect(Compression.SNAPPY, claimed, raw_length)
    return np.frombuffer(pa.Codec("snappy").decompress(data, raw_length), np.uint8)


def _zlib(data: Bytes, raw_length: int) -> Bytes:
    stream = zlib.decompressobj()
    raw = stream.decompress(data.data, raw_length + 1)
    if not stream.eof or stream.unused_data:
        raise ValueError("the stream does not end where the block does")
    _expect(Compression.ZLIB, len(raw), raw_length)
    return np.frombuffer(raw, np.uint8)


def _zstd(data: Bytes, raw_length: int) -> Bytes:
    claimed = zstandard.get_frame_parameters(data[:18].tobytes()).content_size
    _expect(Compression.ZSTD, claimed, raw_length)
    return np.frombuffer(pa.Codec("zstd").decompress(data, raw_length), np.uint8)


def _expect(compression: Compression, claimed: int, raw_length: int) -> None:
    if claimed != raw_length:
        raise CorruptionError(f"{compression} claims {claimed} bytes, expected {raw_length}")
