"""Bytes of arrays, by arithmetic where that is exact.

Arrow's `nbytes` walks the buffers without the interpreter's lock. Beside a thread that computes, to
get it back takes longer than to count the bytes of ten columns.
"""

import pyarrow as pa


def all_bytes(array: pa.Array) -> int:
    """`array.nbytes`."""
    kind = array.type
    if pa.types.is_dictionary(kind) or array.null_count or not _has_one_width(kind):
        return int(array.nbytes)
    return len(array) * int(kind.bit_width) // 8


def own_bytes(array: pa.Array) -> int:
    """The same without a dictionary, which other arrays share."""
    return all_bytes(array.indices if pa.types.is_dictionary(array.type) else array)


def _has_one_width(kind: pa.DataType) -> bool:
    """Whether all values have as many whole bytes."""
    fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    return bool(fixed and kind.bit_width % 8 == 0)
