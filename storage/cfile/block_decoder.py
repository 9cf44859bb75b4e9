"""Blocks to one contiguous Arrow array: every block decodes into its slice of one buffer.

Fixed widths become the value buffer itself, BOOL the bitmap, dictionary columns a dictionary array
over their codes, binaries offsets and bytes. Memory is taken once the blocks' headers agree with
the index, and only as much as their rows need. What a checksum cannot promise is checked on the
way: codes lie inside the dictionary, lengths add up, text is UTF-8.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.block import MAX_RAW_BYTES, Block, bitmap_length
from pykudu_sql.storage.cfile.encoding import bitshuffle, frame, plain, prefix, rle
from pykudu_sql.storage.cfile.encoding.bitshuffle import Bytes
from pykudu_sql.storage.cfile.encoding.dictionary import code_type
from pykudu_sql.storage.common.types.arrays import plain as without_dictionary
from pykudu_sql.storage.common.types.arrays import wide_bounds
from pykudu_sql.storage.common.types.types import DataType, Encoding, Kind
from pykudu_sql.storage.errors import CorruptionError

_MAX_ARROW_OFFSET = 2**31 - 1
_FIRST_NON_ASCII = 0x80
_BOUNDED = frozenset({Kind.DATE, Kind.DECIMAL})


def decode(blocks: Sequence[Block], column_type: DataType, words: pa.Array | None) -> pa.Array:
    """The rows of neighbouring blocks as one array.

    Args:
        blocks: at least one; all but the last hold a multiple of eight rows.
        column_type: of the column.
        words: the CFile's dictionary, None when it has none.

    Returns:
        An array of the column's Arrow type, or a dictionary array when all blocks are in codes.

    Raises:
        CorruptionError: a block's content contradicts its header.
    """
    if column_type.kind is Kind.BOOL:
        return _decode_bool(blocks)
    if not column_type.is_variable:
        return _decode_fixed(blocks, column_type)
    parts: list[pa.Array] = []
    for encoding, group in groupby(blocks, key=lambda block: block.encoding):
        match encoding:
            case Encoding.DICT_ENCODING:
                parts.append(_decode_codes(list(group), words))
            case Encoding.PLAIN_ENCODING | Encoding.PREFIX_ENCODING:
                parts.append(_decode_binary(list(group), column_type))
            case _:
                raise CorruptionError(f"a block of {column_type} cannot be encoded as {encoding}")
    if len(parts) == 1:
        return parts[0]
    return pa.concat_arrays([without_dictionary(part) for part in parts])


def _new_buffer(length: int) -> tuple[pa.Buffer, Bytes]:
    """Memory of Arrow's pool, which is aligned and given again without page faults."""
    buffer = pa.allocate_buffer(length)
    return buffer, np.frombuffer(buffer, np.uint8)


def _row_count(blocks: Sequence[Block]) -> int:
    return sum(block.rows for block in blocks)


def _validity(blocks: Sequence[Block]) -> pa.Buffer | None:
    if all(block.validity is None for block in blocks):
        return None
    buffer, bits = _new_buffer(bitmap_length(_row_count(blocks)))
    bits[:] = 0xFF
    position = 0
    for block in blocks:
        if block.validity is not None:
            bits[position : position + len(block.validity)] = block.validity
        position += block.rows // 8
    return buffer


def _decode_fixed(blocks: Sequence[Block], column_type: DataType) -> pa.Array:
    rows = _row_count(blocks)
    buffer, out = _new_buffer(rows * column_type.width)
    position = 0
    for block in blocks:
        end = position + block.rows * column_type.width
        _decode_fixed_block(block, column_type, out[position:end])
        if column_type.kind in _BOUNDED:
            check_range(out[position:end], column_type)
        position = end
    return pa.Array.from_buffers(column_type.arrow, rows, [_validity(blocks), buffer])


def _decode_fixed_block(block: Block, column_type: DataType, out: Bytes) -> None:
    match block.encoding:
        case Encoding.BIT_SHUFFLE:
            kind = column_type.numpy
            frame.decode_into(block.payload, out if kind is None else out.view(kind))
        case Encoding.PLAIN_ENCODING:
            plain.decode_fixed_into(block.payload, out)
        case Encoding.RLE if column_type.numpy is not None:
            kind = column_type.numpy
            out.view(kind)[:] = rle.decode(block.payload, block.rows, kind)
        case _:
            raise CorruptionError(f"a block of {column_type} cannot be encoded as {block.encoding}")


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


def _decode_bool(blocks: Sequence[Block]) -> pa.Array:
    rows = _row_count(blocks)
    buffer, out = _new_buffer(bitmap_length(rows))
    position = 0
    for block in blocks:
        bits = out[position : position + bitmap_length(block.rows)]
        match block.encoding:
            case Encoding.PLAIN_ENCODING:
                plain.decode_fixed_into(block.payload, bits)
            case Encoding.RLE:
                values = rle.decode(block.payload, block.rows, np.dtype(np.uint8))
                bits[:] = np.packbits(values, bitorder="little")
            case _:
                raise CorruptionError(f"a block of BOOLEAN cannot be encoded as {block.encoding}")
        position += block.rows // 8
    return pa.Array.from_buffers(pa.bool_(), rows, [_validity(blocks), buffer])


def _decode_codes(blocks: Sequence[Block], words: pa.Array | None) -> pa.Array:
    if words is None:
        raise CorruptionError("a block is in codes and the CFile has no dictionary")
    kind = code_type(len(words))
    rows = _row_count(blocks)
    buffer, out = _new_buffer(rows * kind.itemsize)
    position = 0
    for block in blocks:
        end = position + block.rows * kind.itemsize
        bitshuffle.decompress_into(block.payload, out[position:end])
        position = end
    # Seen as unsigned, a negative code is larger than any dictionary.
    largest = int(out.view(kind.str.replace("i", "u")).max())
    if largest >= len(words):
        raise CorruptionError(f"code {largest} is outside the dictionary of {len(words)} words")
    codes = pa.Array.from_buffers(pa.from_numpy_dtype(kind), rows, [_validity(blocks), buffer])
    return pa.DictionaryArray.from_arrays(codes, words, safe=False)


def _decode_binary(blocks: Sequence[Block], column_type: DataType) -> pa.Array:
    opened = [_open_binary(block) for block in blocks]
    total = sum(block.data_length for block in opened)
    if total > _MAX_ARROW_OFFSET:
        raise CorruptionError(f"blocks claim {total} bytes of values, limit {_MAX_ARROW_OFFSET}")
    rows = _row_count(blocks)
    lengths = np.empty(rows, np.uint32)
    data_buffer, data = _new_buffer(total)
    row = position = 0
    for block in opened:
        end = position + block.data_length
        part = lengths[row : row + block.rows]
        match block:
            case prefix.PrefixBlock():
                prefix.decode_into(block, part, data[position:end])
            case plain.BinaryBlock():
                plain.decode_binary_into(block, part, data[position:end])
        row, position = row + block.rows, end
    offsets_buffer, offset_bytes = _new_buffer(4 * (rows + 1))
    offsets: npt.NDArray[Any] = offset_bytes.view(np.int32)
    offsets[0] = 0
    np.cumsum(lengths, dtype=np.int32, out=offsets[1:])
    buffers = [_validity(blocks), offsets_buffer, data_buffer]
    array = pa.Array.from_buffers(column_type.arrow, rows, buffers)
    if column_type.is_text and total and int(data.max()) >= _FIRST_NON_ASCII:
        _check_utf8(array)
    return array


def _open_binary(block: Block) -> plain.BinaryBlock | prefix.PrefixBlock:
    if block.encoding is Encoding.PREFIX_ENCODING:
        return prefix.open_block(block.payload, block.rows, MAX_RAW_BYTES)
    return plain.open_binary(block.payload, block.rows, MAX_RAW_BYTES)


def _check_utf8(array: pa.Array) -> None:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptionError(f"text is not UTF-8: {error}") from error
