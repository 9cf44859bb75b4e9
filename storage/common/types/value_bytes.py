"""Bytes that values take, told without giving other threads the interpreter where that can be.

`nbytes` of Arrow releases the interpreter's lock; beside a thread that computes, a short read then
waits for that thread's switch interval. The size of columns of a fixed width is their length's.
"""

import pyarrow as pa


def value_bytes(column: pa.Array) -> int:
    """Bytes of the values, with offsets and dictionary; without the NULLs of a fixed width."""
    kind = column.type
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return len(column) * int(kind.bit_width) // 8
    return int(column.nbytes)


def table_bytes(table: pa.Table) -> int:
    """Bytes of the values of all columns."""
    return sum(value_bytes(chunk) for column in table.columns for chunk in column.chunks)
