"""Some rows of blocks as one Arrow array, of which no more is decoded than their kind demands.

What a filter leaves of a column is often a tenth of it. Numbers are picked while they are codes of
a frame, a half to an eighth as wide as values, and only those picked are widened and checked; so
are codes of a dictionary. Blocks of which nothing is wanted are not decoded.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
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
    lie_within,
    limits_of,
    row_count,
)
from pykudu_sql.storage.cfile.encoding.frame import spans_with_positions
from pykudu_sql.storage.cfile.encoding.traits import Bytes, DictionaryCodec, EncodingTraits
from pykudu_sql.storage.common.types.from_buffers import integers, new_buffer
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import CorruptionError

Positions = npt.NDArray[np.int64]
DecodeInto = Callable[[Bytes, npt.NDArray[Any]], None]
DecodeRun = Callable[[Sequence[Block], npt.NDArray[Any]], None]


def pick(
    blocks: Sequence[Block],
    positions: Positions,
    column_type: DataType,
    words: pa.Array | None,
) -> pa.Array:
    """Some rows of neighbouring blocks as one array, as `decode` gives all of them.

    Args:
        blocks: at least one; all but the last hold a multiple of eight rows.
        positions: of the rows wanted, among those of all blocks, ascending, at least one.
        words: the CFile's dictionary, None when it has none.

    Raises CorruptionError: a block's content contradicts its header.
    """
    if all(block.validity is None for block in blocks):
        kind = column_type.numpy
        if kind is not None and column_type.kind is not Kind.BOOL:
            return _pick_fixed(blocks, positions, column_type, kind)
        if words is not None and all(block.encoding.codes is not None for block in blocks):
            return _pick_codes(blocks, positions, words)
    return take_ordinals(decode(blocks, column_type, words), positions)


def _pick_fixed(
    blocks: Sequence[Block], positions: Positions, column_type: DataType, kind: np.dtype[Any]
) -> pa.Array:
    buffer, out = new_buffer(len(positions) * kind.itemsize)
    values, limits = out.view(kind), limits_of(column_type)
    for encoding, run, places, which in _runs(blocks, positions):
        codec, part, bounds = fitting(encoding.fixed, encoding, column_type), values[which], None
        if codec.take_run_into is None:
            part[:] = _decode_wanted(run, places, kind, _one_by_one(codec.decode_into))
        else:
            payloads, counts = [one.payload for one in run], [one.rows for one in run]
            bounds = codec.take_run_into(payloads, counts, places, part)
        if limits is not None and not lie_within(limits, bounds):
            check_range(part.view(np.uint8), column_type)
    return pa.Array.from_buffers(column_type.arrow, len(positions), [None, buffer])


def _runs(
    blocks: Sequence[Block], positions: Positions
) -> Iterator[tuple[EncodingTraits, Sequence[Block], Positions, slice]]:
    """Neighbours of one encoding, the positions wanted among their rows, and which these are."""
    start = 0
    for encoding, group in groupby(blocks, key=lambda block: block.encoding):
        run = list(group)
        stop = start + row_count(run)
        begin, end = positions.searchsorted((start, stop)).tolist()
        if begin < end:
            places = positions[begin:end]
            yield encoding, run, places - start if start else places, slice(begin, end)
        start = stop


def _decode_wanted(
    blocks: Sequence[Block],
    positions: Positions,
    kind: np.dtype[Any],
    decode_run: DecodeRun,
) -> npt.NDArray[Any]:
    """Some values of blocks that have to be decoded for that; those of no interest are not."""
    whole = np.empty(row_count(blocks), kind)
    starts = [0, *accumulate(block.rows for block in blocks)]
    edges = positions.searchsorted(np.array(starts)).tolist()
    for first, stop in spans_with_positions(edges):
        decode_run(blocks[first:stop], whole[starts[first] : starts[stop]])
    return whole.take(positions, mode="clip")


def _one_by_one(decode_into: DecodeInto) -> DecodeRun:
    def decode_run(blocks: Sequence[Block], values: npt.NDArray[Any]) -> None:
        start = 0
        for block in blocks:
            decode_into(block.payload, values[start : start + block.rows])
            start += block.rows

    return decode_run


def _together(codec: DictionaryCodec) -> DecodeRun:
    def decode_run(blocks: Sequence[Block], codes: npt.NDArray[Any]) -> None:
        lengths = [block.rows * codes.itemsize for block in blocks]
        payloads = [block.payload for block in blocks]
        codec.decode_run_into(payloads, lengths, codes.view(np.uint8))

    return decode_run


def _pick_codes(blocks: Sequence[Block], positions: Positions, words: pa.Array) -> pa.Array:
    parts: list[npt.NDArray[Any]] = []
    for encoding, run, places, _ in _runs(blocks, positions):
        codec = encoding.codes
        if codec is None:
            raise CorruptionError(f"a block of a dictionary column is {encoding}")
        kind = codec.code_type(len(words))
        parts.append(_decode_wanted(run, places, kind, _together(codec)))
    codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
    check_codes(codes, words)
    return pa.DictionaryArray.from_arrays(integers(codes), words, safe=False)
