"""Some rows of blocks as one Arrow array, of which no more is decoded than their kind demands.

What a filter leaves of a column is often a tenth of it. Numbers are picked while they are codes of
a frame, a half to an eighth as wide as values, and only those picked are widened and checked; codes
of a dictionary are picked block by block. Blocks of which nothing is wanted are not decoded.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.block import Block
from pykudu_sql.storage.cfile.block_decoder import (
    check_codes,
    check_range,
    decode,
    fitting,
    lies_within,
    limits_of,
)
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError

Positions = npt.NDArray[np.int64]


def pick(
    blocks: Sequence[Block],
    positions: Sequence[Positions],
    column_type: DataType,
    words: pa.Array | None,
) -> pa.Array:
    """Some rows of neighbouring blocks as one array, as `decode` gives all of them.

    Args:
        blocks: at least one; all but the last hold a multiple of eight rows.
        positions: of the rows wanted of each block, within it, ascending.
        words: the CFile's dictionary, None when it has none.

    Raises CorruptionError: a block's content contradicts its header.
    """
    if all(block.validity is None for block in blocks):
        kind = column_type.numpy
        if kind is not None and column_type.kind is not Kind.BOOL:
            return _pick_fixed(blocks, positions, column_type, kind)
        if words is not None and all(block.encoding.codes is not None for block in blocks):
            return _pick_codes(blocks, positions, words)
    firsts = np.cumsum([0, *(block.rows for block in blocks)])
    rows = np.concatenate([part + first for part, first in zip(positions, firsts, strict=False)])
    return take_ordinals(decode(blocks, column_type, words), rows)


def _pick_fixed(
    blocks: Sequence[Block],
    positions: Sequence[Positions],
    column_type: DataType,
    kind: np.dtype[Any],
) -> pa.Array:
    rows = sum(map(len, positions))
    buffer, out = new_buffer(rows * kind.itemsize)
    values, limits, position = out.view(kind), limits_of(column_type), 0
    for block, block_positions in zip(blocks, positions, strict=True):
        if not len(block_positions):
            continue
        end = position + len(block_positions)
        codec = fitting(block.encoding.fixed, block.encoding, column_type)
        part = values[position:end]
        if codec.take_into is None:
            whole = np.empty(block.rows, kind)
            codec.decode_into(block.payload, whole)
            whole.take(block_positions, out=part, mode="clip")
        else:
            codec.take_into(block.payload, block.rows, block_positions, part)
        if limits is not None and not lies_within(limits, block.payload, codec, kind):
            check_range(part.view(np.uint8), column_type)
        position = end
    return pa.Array.from_buffers(column_type.arrow, rows, [None, buffer])


def _pick_codes(
    blocks: Sequence[Block], positions: Sequence[Positions], words: pa.Array
) -> pa.Array:
    parts: list[npt.NDArray[Any]] = []
    for block, block_positions in zip(blocks, positions, strict=True):
        codec = block.encoding.codes
        if codec is None:
            raise CorruptionError(f"a block of a dictionary column is {block.encoding}")
        if len(block_positions):
            whole = np.empty(block.rows, codec.code_type(len(words)))
            codec.decode_into(block.payload, whole.view(np.uint8))
            parts.append(whole.take(block_positions, mode="clip"))
    codes = np.concatenate(parts)
    check_codes(codes, words)
    return pa.DictionaryArray.from_arrays(pa.array(codes), words, safe=False)
