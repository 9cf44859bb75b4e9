"""Texts of the program as Arrow has them, made without a look at pandas.

`pa.array`, `pa.scalar` and kernels with an argument of Python's import pandas where it is
installed, which takes as long as all else that `pykudu-sql --csv -c "SELECT 1"` does.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# Offsets of 64 bits: no batch is too large for them.
TEXT = pa.large_string()


def text_array(values: Sequence[str | None]) -> pa.Array:
    """Strings as an array, None as NULL."""
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    valid = _bits(np.array([value is not None for value in values], np.bool_))
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(TEXT, len(encoded), buffers)


def flags(values: npt.NDArray[np.bool_]) -> pa.Array:
    """Booleans, none NULL."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(values)])


def number(value: float) -> pa.Scalar:
    """A number for a kernel: an int as int64, a float as double."""
    data = np.array([value])
    return pa.Array.from_buffers(pa.from_numpy_dtype(data.dtype), 1, [None, pa.py_buffer(data)])[0]


def text(value: str) -> pa.Scalar:
    """A string for a kernel."""
    return text_array([value])[0]


def _bits(values: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


EMPTY = text("")
FALSE = flags(np.zeros(1, np.bool_))[0]
