"""Order-preserving encoding of keys, byte for byte Kudu's (`common/key_encoder.h`).

The bytes of two encoded keys compare as their tuples of cells do:

- integers, dates, timestamps and decimals: sign bit flipped, big-endian, in the type's width;
- strings and binaries that are not the last column: 00 becomes 00 01, and 00 00 ends the value;
- the last column's string or binary: its bytes.

So int 11 is `8000000B`, and (10, 'martin') is `8000000A6D617274696E`.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import fixed_view
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, DataType

_STRUCT_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class KeyEncoder:
    """Encodes the cells of some columns as one key.

    Attributes:
        columns: the columns, in key order.
        width: bytes of every encoded key, or 0 when a column is a string or binary.
        encode_one: the key of one row's cells; of any length, as those of `encode`. A query may
            ask for a key that no row can have, and who stores one sees that it is not too long.
    """

    def __init__(self, columns: Sequence[ColumnSchema]) -> None:
        self.columns = tuple(columns)
        types = [column.type for column in self.columns]
        fixed = not any(kind.is_variable for kind in types)
        self.width = sum(kind.width for kind in types) if fixed else 0
        last = len(types) - 1
        self._encoders = tuple(cell_encoder(kind, i == last) for i, kind in enumerate(types))
        self.encode_one: Callable[[Sequence[Cell]], bytes] = self._encode_mixed
        if fixed and all(kind.width < 16 for kind in types):
            self.encode_one = _fixed_encoder([kind.width for kind in types])

    def encode(self, columns: Mapping[int, pa.Array]) -> EncodedKeys:
        """The keys of a batch.

        `columns`: by column id; the key's columns among them, without nulls.
        """
        arrays = [(columns[column.id], column.type) for column in self.columns]
        if self.width:
            return _encode_fixed(arrays, self.width)
        return EncodedKeys.from_binary(_encode_variable(arrays))

    def _encode_mixed(self, cells: Sequence[Cell]) -> bytes:
        encoders = self._encoders
        return b"".join([encode(cell) for encode, cell in zip(encoders, cells, strict=True)])

    def decode_one(self, key: bytes) -> tuple[Cell, ...]:
        """The cells of an encoded key."""
        cells: list[Cell] = []
        last = len(self.columns) - 1
        start = 0
        for index, column in enumerate(self.columns):
            width = column.type.width
            if width:
                value = int.from_bytes(key[start : start + width], "big")
                cells.append(value - (1 << (8 * width - 1)))
                start += width
                continue
            stop = len(key) if index == last else _find_end(key, start)
            raw = key[start:stop]
            if index != last:
                raw = raw.replace(b"\0\1", b"\0")
            cells.append(raw.decode("utf-8") if column.type.is_text else raw)
            start = stop + 2
        return tuple(cells)


def cell_encoder(kind: DataType, last: bool) -> Callable[[Any], bytes]:
    """The function that encodes one cell of a type, as the last column of a key or before it."""
    if not kind.is_variable:
        width = kind.width
        bias = 1 << (8 * width - 1)
        return lambda cell: (cell + bias).to_bytes(width, "big")
    if kind.is_text:
        return str.encode if last else lambda cell: _terminate(cell.encode())
    return bytes if last else _terminate


def escape(raw: bytes) -> bytes:
    """A string's bytes as they stand inside a key, without the end mark."""
    return raw.replace(b"\0", b"\0\1")


def _terminate(raw: bytes) -> bytes:
    return escape(raw) + b"\0\0"


def _find_end(key: bytes, start: int) -> int:
    """Where the end mark of a string before the last column stands."""
    end = key.index(b"\0", start)
    while key[end + 1]:
        end = key.index(b"\0", end + 2)
    return end


def _fixed_encoder(widths: Sequence[int]) -> Callable[[Sequence[Cell]], bytes]:
    pack = struct.Struct(">" + "".join(_STRUCT_CODES[width] for width in widths)).pack
    biases = tuple(1 << (8 * width - 1) for width in widths)

    def encode_one(cells: Sequence[Any]) -> bytes:
        return pack(*map(add, cells, biases))

    return encode_one


def _encode_fixed(arrays: Sequence[tuple[pa.Array, DataType]], width: int) -> EncodedKeys:
    """Shift each column into its place among the words of the key."""
    words: list[npt.NDArray[np.uint64] | None] = [None] * -(-width // 8)
    offset = 0
    for values, kind in arrays:
        for part, bits in _unsigned_parts(values, kind):
            index, used = divmod(offset, 64)
            overhang = used + bits - 64
            if overhang > 0:
                _merge(words, index, part >> np.uint64(overhang))
                _merge(words, index + 1, part << np.uint64(64 - overhang))
            else:
                _merge(words, index, part << np.uint64(-overhang) if overhang else part)
            offset += bits
    return EncodedKeys.from_words(width, [word for word in words if word is not None])


def _merge(
    words: list[npt.NDArray[np.uint64] | None], index: int, part: npt.NDArray[np.uint64]
) -> None:
    present = words[index]
    if present is None:
        words[index] = part
    else:
        present |= part


def _unsigned_parts(values: pa.Array, kind: DataType) -> list[tuple[npt.NDArray[np.uint64], int]]:
    """A column's order-preserving unsigned values and their bits; 16 bytes are two parts."""
    stored = fixed_view(values, kind)
    if kind.width == 16:
        return [(stored[:, 1] ^ np.uint64(1 << 63), 64), (stored[:, 0].copy(), 64)]
    unsigned = _UNSIGNED[kind.width]
    flipped = stored.view(unsigned) ^ unsigned(1 << (8 * kind.width - 1))
    return [(flipped.astype(np.uint64, copy=False), 8 * kind.width)]


def _encode_variable(arrays: Sequence[tuple[pa.Array, DataType]]) -> pa.LargeBinaryArray:
    last = len(arrays) - 1
    parts = [_variable_part(values, kind, i == last) for i, (values, kind) in enumerate(arrays)]
    keys = parts[0]
    if last:
        keys = pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))
    return keys


def _variable_part(values: pa.Array, kind: DataType, last: bool) -> pa.LargeBinaryArray:
    if pa.types.is_dictionary(values.type):
        words = _variable_part(values.dictionary, kind, last)
        return words.take(values.indices)
    if not kind.is_variable:
        return _big_endian(values, kind)
    raw = values.cast(pa.large_binary())
    if last:
        return raw
    mark = pa.scalar(b"\0\0", pa.large_binary())
    escaped = pc.replace_substring(raw, b"\0", b"\0\1") if _has_nul(raw) else raw
    return pc.binary_join_element_wise(escaped, mark, pa.scalar(b"", pa.large_binary()))


def _has_nul(raw: pa.LargeBinaryArray) -> bool:
    return bool(pc.any(pc.match_substring(raw, b"\0")).as_py())


def _big_endian(values: pa.Array, kind: DataType) -> pa.LargeBinaryArray:
    """Fixed-width values as the byte strings they encode to."""
    parts = [part for part, _ in _unsigned_parts(values, kind)]
    big = np.stack(parts, axis=1).astype(">u8").view(np.uint8)
    big = big.reshape(len(values), 8 * len(parts))
    data = np.ascontiguousarray(big[:, -kind.width :])
    offsets = np.arange(0, (len(values) + 1) * kind.width, kind.width, dtype=np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)
