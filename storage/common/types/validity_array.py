"""Where cells are NULL, as an array of its own that takes a bit a row.

`count(c)` and `c IS NULL` ask nothing else of a column, and the engine reads booleans faster than
texts. An array of validity is TRUE where a cell is not NULL, and NULL where it is, so both its
bitmaps are one.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types.from_buffers import flags_of


def validity_array(values: pa.Array) -> pa.BooleanArray:
    """The validity of an array of any type, zero-copy unless a word of its dictionary is NULL."""
    if pa.types.is_dictionary(values.type) and values.dictionary.null_count:
        return validity_of_mask(flags_of(values.is_valid()))
    if not values.null_count:
        return all_valid(len(values))
    bitmap = values.buffers()[0]
    return pa.Array.from_buffers(pa.bool_(), len(values), [bitmap, bitmap], offset=values.offset)


def all_valid(rows: int) -> pa.BooleanArray:
    """The validity of cells of which none is NULL."""
    return pa.Array.from_buffers(pa.bool_(), rows, [None, pa.py_buffer(b"\xff" * -(-rows // 8))])


def validity_of_bitmap(rows: int, bitmap: pa.Buffer) -> pa.BooleanArray:
    """The validity of a bitmap of so many bits, lowest first, 1 = not NULL."""
    return pa.Array.from_buffers(pa.bool_(), rows, [bitmap, bitmap])


def validity_of_mask(valid: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """The validity of a mask that is False where a cell is NULL."""
    return validity_of_bitmap(len(valid), pa.py_buffer(np.packbits(valid, bitorder="little")))


def mask_of(valid: pa.BooleanArray) -> npt.NDArray[np.bool_] | None:
    """The inverse, in new memory; None where no cell is NULL."""
    return flags_of(valid) if valid.null_count else None
