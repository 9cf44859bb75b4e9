"""Bytes of arrays, told without giving other threads the interpreter where that can be.

`nbytes` of Arrow releases the interpreter's lock; beside a thread that computes, a short read then
waits for that thread's switch interval. The size of columns of a fixed width is their length's, and
that of texts follows from their offsets.
"""

import numpy as np
import pyarrow as pa


def value_bytes(column: pa.Array) -> int:
    """Bytes of the values, with offsets and dictionary; without the NULLs of a fixed width."""
    return _fixed_bytes(column) if _is_fixed(column.type) else all_bytes(column)


def table_bytes(table: pa.Table) -> int:
    """Bytes of the values of all columns."""
    return sum(value_bytes(chunk) for column in table.columns for chunk in column.chunks)


def all_bytes(array: pa.Array) -> int:
    """`array.nbytes`."""
    kind, rows = array.type, len(array)
    if pa.types.is_dictionary(kind):
        return all_bytes(array.indices) + all_bytes(array.dictionary)
    if array.null_count or not rows:
        return int(array.nbytes)
    if has_whole_bytes(kind):
        return _fixed_bytes(array)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        ends = np.frombuffer(array.buffers()[1], np.int32, rows + 1, 4 * array.offset)
        return 4 * rows + int(ends[-1] - ends[0])
    return int(array.nbytes)


def own_bytes(array: pa.Array) -> int:
    """The same without a dictionary, which other arrays share."""
    return all_bytes(array.indices if pa.types.is_dictionary(array.type) else array)


def has_whole_bytes(kind: pa.DataType) -> bool:
    """Whether all values of a type have as many whole bytes."""
    return _is_fixed(kind) and kind.bit_width % 8 == 0


def _is_fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _fixed_bytes(array: pa.Array) -> int:
    return len(array) * int(array.type.bit_width) // 8
