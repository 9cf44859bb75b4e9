"""Values at positions that numpy computed; few, without giving other threads the interpreter.

Of numbers numpy copies many in four fifths of the time that Arrow takes. Where they are few, what
counts is who computes meanwhile: Arrow's kernels and `pa.array` release the interpreter's lock, and
beside a thread that computes each release hands it over for up to its switch interval of 5 ms, so a
read of a few hundred rows by eight short kernels waits eight times for what takes 1 ms alone.
numpy's indexing of so few values keeps the lock (measured: 0 of 60 calls were delayed beside a
spinning thread, 30 of Arrow's `take`) and costs the same.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.from_buffers import integers, sized_values

_TEXTS = frozenset({pa.lib.Type_STRING, pa.lib.Type_BINARY})
# Up to here a copy takes so short that no other thread should run meanwhile.
_FEW = 4096
_FEW_TEXTS = 32
_NUMBERS = frozenset(
    {
        pa.lib.Type_INT8, pa.lib.Type_INT16, pa.lib.Type_INT32, pa.lib.Type_INT64,
        pa.lib.Type_FLOAT, pa.lib.Type_DOUBLE, pa.lib.Type_DATE32, pa.lib.Type_TIMESTAMP,
        pa.lib.Type_DECIMAL32, pa.lib.Type_DECIMAL64,
    }
)  # fmt: skip


def take_ordinals(values: pa.Array, ordinals: npt.NDArray[np.int64]) -> pa.Array:
    """The values at some positions, all of which lie inside; no copy of the positions.

    Args:
        values: shape (n,), of any type, with or without NULL.
        ordinals: shape (m,), each at least 0 and below n, in any order.
    """
    kind = values.type.id
    if kind == pa.lib.Type_DICTIONARY and 0 < len(ordinals) <= _FEW:
        codes = take_ordinals(values.indices, ordinals)
        return pa.DictionaryArray.from_arrays(codes, values.dictionary, safe=False)
    if kind in _TEXTS and 0 < len(ordinals) <= _FEW_TEXTS and not values.null_count:
        return _take_texts(values, ordinals)
    if len(ordinals) and kind in _NUMBERS and not values.null_count:
        width = values.type.bit_width // 8
        data = np.frombuffer(values.buffers()[1], f"<i{width}", len(values), width * values.offset)
        # To clip is cheaper than to check.
        cells = data[ordinals] if len(ordinals) <= _FEW else data.take(ordinals, mode="clip")
        return pa.Array.from_buffers(values.type, len(ordinals), [None, pa.py_buffer(cells)])
    return pc.pick(values, integers(ordinals))


def ordinals_of_spans(
    starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The positions of spans, one span after the other, int64[sum of counts].

    Args:
        starts: the first position of each span, shape (n,).
        counts: how many positions it has, at least 0 each, shape (n,).
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - ends + counts, counts) + np.arange(total)


def _take_texts(values: pa.Array, ordinals: npt.NDArray[np.int64]) -> pa.Array:
    """The same of very few texts or binaries, none NULL."""
    _, offsets, data = values.buffers()
    edges = np.frombuffer(offsets, np.int32)[values.offset :]
    stored = memoryview(b"" if data is None else data)
    spans = zip(edges[ordinals].tolist(), edges[ordinals + 1].tolist(), strict=True)
    return sized_values([bytes(stored[begin:end]) for begin, end in spans], values.type)
