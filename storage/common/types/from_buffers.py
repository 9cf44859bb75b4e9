"""Arrow's arrays and scalars over numpy's memory, made without a look at pandas.

`pa.array`, `pa.scalar`, `np.asarray` of an array and kernels with an argument of Python's import
pandas where it is installed, to ask whether the value is one of its own. That takes a quarter of a
second, and no process that exports a table needs it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc


def new_buffer(length: int) -> tuple[pa.Buffer, npt.NDArray[np.uint8]]:
    """Memory of Arrow's pool, which is aligned and given again without page faults."""
    buffer = pa.allocate_buffer(length)
    return buffer, np.frombuffer(buffer, np.uint8)


def flags(values: npt.NDArray[np.bool_], valid: pa.Buffer | None = None) -> pa.BooleanArray:
    """Booleans. `valid`: the bitmap of those that are not NULL."""
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [valid, bits])


def flags_of(array: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """The booleans of an array without NULL."""
    return bits_of(array.buffers()[1] or b"", array.offset, len(array))


def bits_of(bitmap: pa.Buffer | bytes, start: int, count: int) -> npt.NDArray[np.bool_]:
    """So many bits of a bitmap from one on, in new memory."""
    first, start = divmod(start, 8)
    end = start + count
    data = np.frombuffer(bitmap, np.uint8, (end + 7) // 8, first)
    return np.unpackbits(data, bitorder="little")[start:end].view(np.bool_)


def integers(values: npt.NDArray[np.integer]) -> pa.Array:
    """Integers, none NULL; no copy of those that lie side by side."""
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, data])


def numbers_of(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an array, in its type; no copy. Null slots hold what the buffer has."""
    return cells_as(array, np.dtype(array.type.to_pandas_dtype()))


def cells_as(array: pa.Array, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """What stands behind an array of a fixed width, as numbers of that width; no copy."""
    if len(array) == 0:
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), kind.itemsize * array.offset)


def texts(values: list[str]) -> pa.StringArray:
    """Few strings, none NULL."""
    return sized_values([value.encode() for value in values], pa.string())


def sized_values(
    values: Sequence[bytes], kind: pa.DataType, valid: pa.Buffer | None = None
) -> pa.Array:
    """Few values of any length as strings or binaries.

    `kind`: with offsets of 32 or 64 bits; `valid`: the bitmap of those that are not NULL.
    """
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    ends = np.cumsum([0, *map(len, values)], dtype=np.int64 if is_large else np.int32)
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def text(value: str) -> pa.StringScalar:
    """A string for a kernel."""
    return texts([value])[0]


def true_flags_of(mask: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """Which of an array are true; NULL is not."""
    return flags_of(pc.fill_null(mask, FALSE) if mask.null_count else mask)


FALSE = flags(np.zeros(1, np.bool_))[0]
NO_TEXT = pa.nulls(1, pa.string())[0]
