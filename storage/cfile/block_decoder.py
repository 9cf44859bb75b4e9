"""Blocks to one contiguous Arrow array: every block decodes into its slice of one buffer.

Fixed widths become the value buffer itself, BOOL the bitmap, dictionary columns a dictionary array
over their codes, binaries offsets and bytes. Memory is taken once the blocks' headers agree with
the index, and only as much as their rows need. What a checksum cannot promise is checked on the
way: codes lie inside the dictionary, lengths add up, text is UTF-8.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.block import MAX_RAW_BYTES, Block, bitmap_length
from pykudu_sql.storage.cfile.encoding.traits import (
    BinaryCodec,
    BooleanCodec,
    Bounds,
    Bytes,
    DictionaryCodec,
    EncodingTraits,
    FixedCodec,
)
from pykudu_sql.storage.common.types.arrays import plain as without_dictionary
from pykudu_sql.storage.common.types.arrays import wide_bounds
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError

Limits = tuple[int, int]
Codec = TypeVar("Codec", FixedCodec, BooleanCodec, BinaryCodec)

_MAX_ARROW_OFFSET = 2**31 - 1
_FIRST_NON_ASCII = 0x80
_BOUNDED = frozenset({Kind.DATE, Kind.DECIMAL})


def decode(blocks: Sequence[Block], column_type: DataType, words: pa.Array | None) -> pa.Array:
    """The rows of neighbouring blocks as one array.

    Args:
        blocks: at least one; all but the last hold a multiple of eight rows.
        words: the CFile's dictionary, None when it has none.

    Returns an array of the column's Arrow type, or a dictionary array when all blocks are in codes.
    Raises CorruptionError: a block's content contradicts its header.
    """
    if column_type.kind is Kind.BOOL:
        return _decode_bool(blocks, column_type)
    if not column_type.is_variable:
        return _decode_fixed(blocks, column_type)
    parts: list[pa.Array] = []
    for encoding, group in groupby(blocks, key=lambda block: block.encoding):
        if encoding.codes is not None:
            parts.append(_decode_codes(list(group), encoding.codes, words))
        else:
            binary = fitting(encoding.binary, encoding, column_type)
            parts.append(_decode_binary(list(group), binary, column_type))
    if len(parts) == 1:
        return parts[0]
    return pa.concat_arrays([without_dictionary(part) for part in parts])


def fitting(codec: Codec | None, encoding: EncodingTraits, column_type: DataType) -> Codec:
    """The codec of an encoding for a type, which a file can claim without having it."""
    if codec is None or not encoding.fits(column_type):
        raise CorruptionError(f"a block of {column_type} cannot be encoded as {encoding}")
    return codec


def row_count(blocks: Sequence[Block]) -> int:
    return sum(block.rows for block in blocks)


def _validity(blocks: Sequence[Block]) -> pa.Buffer | None:
    if all(block.validity is None for block in blocks):
        return None
    buffer, bits = new_buffer(bitmap_length(row_count(blocks)))
    bits[:] = 0xFF
    position = 0
    for block in blocks:
        if block.validity is not None:
            bits[position : position + len(block.validity)] = block.validity
        position += block.rows // 8
    return buffer


def _decode_fixed(blocks: Sequence[Block], column_type: DataType) -> pa.Array:
    rows, width = row_count(blocks), column_type.width
    buffer, out = new_buffer(rows * width)
    position = 0
    for encoding, group in groupby(blocks, key=lambda block: block.encoding):
        run = list(group)
        end = position + row_count(run) * width
        codec = fitting(encoding.fixed, encoding, column_type)
        _decode_fixed_run(run, codec, column_type, out[position:end])
        position = end
    return pa.Array.from_buffers(column_type.arrow, rows, [_validity(blocks), buffer])


def _decode_fixed_run(
    blocks: Sequence[Block], codec: FixedCodec, column_type: DataType, out: Bytes
) -> None:
    """Write the values of neighbouring blocks of one encoding; see that they are of the type."""
    kind, width, limits = column_type.numpy, column_type.width, limits_of(column_type)
    if kind is not None and codec.decode_run_into is not None:
        payloads, counts = [one.payload for one in blocks], [one.rows for one in blocks]
        bounds = codec.decode_run_into(payloads, counts, out.view(kind))
        if limits is not None and not lie_within(limits, bounds):
            check_range(out, column_type)
        return
    position = 0
    for block in blocks:
        end = position + block.rows * width
        part = out[position:end]
        codec.decode_into(block.payload, part if kind is None else part.view(kind))
        if limits is not None:
            check_range(part, column_type)
        position = end


def limits_of(column_type: DataType) -> Limits | None:
    """Least and greatest value of a type that has fewer of them than its bits, else None."""
    return column_type.integer_range if column_type.kind in _BOUNDED else None


def lie_within(limits: Limits, bounds: Bounds | None) -> bool:
    """Whether no value between bounds can lie outside limits; not where bounds are not told."""
    return bounds is not None and limits[0] <= bounds[0] and bounds[1] <= limits[1]


def check_range(stored: Bytes, column_type: DataType) -> None:
    """See that days and decimals, which have fewer values than their bits, are some."""
    low, high = column_type.integer_range or (0, 0)
    if column_type.numpy is None:
        words = stored.view(np.uint64).reshape(-1, 2)
        least, greatest = wide_bounds(words)
    else:
        values = stored.view(column_type.numpy)
        least, greatest = int(values.min()), int(values.max())
    if not low <= least <= greatest <= high:
        raise CorruptionError(f"values {least} to {greatest} lie outside those of {column_type}")


def _decode_bool(blocks: Sequence[Block], column_type: DataType) -> pa.Array:
    rows = row_count(blocks)
    buffer, out = new_buffer(bitmap_length(rows))
    position = 0
    for block in blocks:
        bits = out[position : position + bitmap_length(block.rows)]
        codec = fitting(block.encoding.boolean, block.encoding, column_type)
        codec.decode_into(block.payload, block.rows, bits)
        position += block.rows // 8
    return pa.Array.from_buffers(pa.bool_(), rows, [_validity(blocks), buffer])


def _decode_codes(
    blocks: Sequence[Block], codec: DictionaryCodec, words: pa.Array | None
) -> pa.Array:
    if words is None:
        raise CorruptionError("a block is in codes and the CFile has no dictionary")
    kind = codec.code_type(len(words))
    rows = row_count(blocks)
    buffer, out = new_buffer(rows * kind.itemsize)
    lengths = [block.rows * kind.itemsize for block in blocks]
    codec.decode_run_into([block.payload for block in blocks], lengths, out)
    check_codes(out.view(kind), words)
    codes = pa.Array.from_buffers(pa.from_numpy_dtype(kind), rows, [_validity(blocks), buffer])
    return pa.DictionaryArray.from_arrays(codes, words, safe=False)


def check_codes(codes: npt.NDArray[Any], words: pa.Array) -> None:
    """See that codes, at least one, lie inside the dictionary."""
    # Seen as unsigned, a negative code is larger than any dictionary.
    largest = int(codes.view(codes.dtype.str.replace("i", "u")).max())
    if largest >= len(words):
        raise CorruptionError(f"code {largest} is outside the dictionary of {len(words)} words")


def _decode_binary(blocks: Sequence[Block], codec: BinaryCodec, column_type: DataType) -> pa.Array:
    opened = [codec.open_block(one.payload, one.rows, MAX_RAW_BYTES) for one in blocks]
    total = sum(block.data_length for block in opened)
    if total > _MAX_ARROW_OFFSET:
        raise CorruptionError(f"blocks claim {total} bytes of values, limit {_MAX_ARROW_OFFSET}")
    rows = row_count(blocks)
    offsets_buffer, offset_bytes = new_buffer(4 * (rows + 1))
    data_buffer, data = new_buffer(total)
    offsets: npt.NDArray[Any] = offset_bytes.view(np.int32)
    offsets[0] = 0
    # Lengths lie where their sums are to be. They are not negative: those of each block add up to
    # what it claims.
    lengths = offset_bytes.view(np.uint32)[1:]
    row = position = 0
    # Of binaries nobody asks.
    is_ascii = column_type.is_text
    for block, values in zip(blocks, opened, strict=True):
        end = position + values.data_length
        part = data[position:end]
        values.decode_into(lengths[row : row + block.rows], part)
        # While the processor's cache still has it.
        is_ascii = is_ascii and not (len(part) and int(part.max()) >= _FIRST_NON_ASCII)
        row, position = row + block.rows, end
    np.add.accumulate(offsets, out=offsets)
    buffers = [_validity(blocks), offsets_buffer, data_buffer]
    array = pa.Array.from_buffers(column_type.arrow, rows, buffers)
    if column_type.is_text and not is_ascii:
        _check_utf8(array)
    return array


def _check_utf8(array: pa.Array) -> None:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptionError(f"text is not UTF-8: {error}") from error
