"""Types that hold all values of another in the same cells, and arrays of one read as the other.

ALTER TABLE gives a column such a type. What was written before keeps the width that it was written
with (CFiles, deltas, rows in memory, records of the log), and whoever reads it asks for the type
that the column has in its schema. A snapshot from before the change asks for the narrower one: the
cells that it sees fit, others, of rows or changes that it does not see, are cut off and never seen.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.types.arrays import pack_validity, validity
from pykudu_sql.storage.common.types.types import DataType, Kind

_WIDE_BYTES = 16


def widens(old: DataType, new: DataType) -> bool:
    """Whether a type has every value of another, as the same cell."""
    if old == new:
        return True
    if old.is_integer and new.is_integer:
        return old.width <= new.width
    if old.kind is Kind.DECIMAL and new.kind is Kind.DECIMAL:
        return old.scale == new.scale and old.precision <= new.precision
    if old.kind is Kind.VARCHAR:
        longer = new.kind is Kind.VARCHAR and old.length <= new.length
        return longer or new.kind is Kind.STRING
    return old.kind is Kind.FLOAT and new.kind is Kind.DOUBLE


def wider_types(old: DataType) -> str:
    """The types that widen one, in words."""
    if old.is_integer:
        kinds = (Kind.INT16, Kind.INT32, Kind.INT64)
        names = [str(new) for new in map(DataType, kinds) if new.width > old.width]
        return " or ".join(names) or "no other type"
    match old.kind:
        case Kind.DECIMAL:
            return f"DECIMAL(p,{old.scale}) of more digits p, up to 38"
        case Kind.VARCHAR:
            return "a longer VARCHAR or STRING"
        case Kind.FLOAT:
            return "DOUBLE"
    return "no other type"


def is_related(left: DataType, right: DataType) -> bool:
    """Whether one of two types widens the other."""
    return left is right or widens(left, right) or widens(right, left)


def holds_all_of(column_type: DataType, arrow_type: pa.DataType) -> bool:
    """Whether arrays of an Arrow type are of a column's type, or of one that it widens."""
    wide = column_type.arrow
    if arrow_type == wide:
        return True
    if column_type.is_integer:
        is_integer = pa.types.is_signed_integer(arrow_type)
        return bool(is_integer and arrow_type.bit_width <= wide.bit_width)
    if column_type.kind is Kind.DECIMAL and pa.types.is_decimal(arrow_type):
        return bool(arrow_type.scale == wide.scale and arrow_type.precision <= wide.precision)
    return column_type.kind is Kind.DOUBLE and bool(pa.types.is_float32(arrow_type))


def in_type(values: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    """An array of a column as one of another type that the column has or had.

    Texts are returned as they are, perhaps a dictionary. Numbers that the type does not have are
    cut off: none that a snapshot shows.
    """
    if values.type == arrow_type or pa.types.is_dictionary(values.type):
        return values
    if values.type.bit_width == arrow_type.bit_width:  # decimals of more digits in the same bytes
        return values.view(arrow_type)
    numbers = _numbers(values, arrow_type.bit_width // 8)
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(arrow_type, len(values), [pack_validity(validity(values)), data])


def in_one_type(arrays: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Arrays of one column, none a dictionary, in the widest of their types."""
    first = arrays[0].type
    if all(array.type == first for array in arrays):
        return arrays
    widest = max((array.type for array in arrays), key=_breadth)
    return [in_type(array, widest) for array in arrays]


def _breadth(arrow_type: pa.DataType) -> tuple[int, int]:
    digits = arrow_type.precision if pa.types.is_decimal(arrow_type) else 0
    return arrow_type.bit_width, digits


def _numbers(values: pa.Array, width: int) -> npt.NDArray[Any]:
    """The stored numbers of an array in so many bytes, shape (n,), or (n, 2) words for 16."""
    letter = "f" if pa.types.is_floating(values.type) else "i"
    old = values.type.bit_width // 8
    data = values.buffers()[1]
    if not len(values) or data is None:
        return np.empty(0, np.uint8)
    if old == _WIDE_BYTES:
        words = np.frombuffer(data, "<i8", 2 * len(values), 16 * values.offset)
        return words[::2].astype(f"<i{width}")
    stored = np.frombuffer(data, f"<{letter}{old}", len(values), old * values.offset)
    if width == _WIDE_BYTES:
        low = stored.astype("<i8")
        return np.column_stack((low, low >> 63))
    with np.errstate(over="ignore", invalid="ignore"):
        return stored.astype(f"<{letter}{width}")
