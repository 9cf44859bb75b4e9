"""Arrow's arrays and scalars over numpy's memory, made without a look at pandas.

`pa.array`, `pa.scalar`, `np.asarray` of an array and kernels with an argument of Python's import
pandas where it is installed, to ask whether the value is one of its own. That takes a quarter of a
second, and no process that exports a table needs it.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def flags(values: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """Booleans, none NULL."""
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def flags_of(array: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """The booleans of an array without NULL."""
    end = array.offset + len(array)
    data = np.frombuffer(array.buffers()[1] or b"", np.uint8, (end + 7) // 8)
    return np.unpackbits(data, bitorder="little")[array.offset : end].view(np.bool_)


def integers(values: npt.NDArray[np.integer]) -> pa.Array:
    """Integers, none NULL; no copy of those that lie side by side."""
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, data])


def texts(values: list[str]) -> pa.StringArray:
    """Few strings, none NULL."""
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def text(value: str) -> pa.StringScalar:
    """A string for a kernel."""
    return texts([value])[0]


FALSE = flags(np.zeros(1, np.bool_))[0]
NO_TEXT = pa.nulls(1, pa.string())[0]
