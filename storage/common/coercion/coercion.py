"""Arrow values of a user or an engine as a column's own type, checked: nothing wraps around."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.coercion.rounded_decimals import rounded
from pykudu_sql.storage.common.coercion.text_arrays import read_texts
from pykudu_sql.storage.common.coercion.time_arrays import to_micros
from pykudu_sql.storage.common.coercion.written_texts import written_texts
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types import from_buffers
from pykudu_sql.storage.common.types.arrays import (
    CHUNK_ROWS,
    combine,
    from_fixed,
    large_chunks,
    stored_numbers,
    validity,
)
from pykudu_sql.storage.common.types.cells import from_cell, to_cell
from pykudu_sql.storage.common.types.stored_form import stored_type, stored_values
from pykudu_sql.storage.common.types.type_names import format_arrow_type
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.value_text import quote_value
from pykudu_sql.storage.errors import (
    DataError,
    InvalidValueError,
    ValueOutOfRangeError,
)

_DIGITS_OF_DOUBLES = 18
_OF_PARTS = (list, dict, pa.MonthDayNano)
# Below the first a double has 12 bits or more behind the point: a product's error and that of the
# shortest text together are less than the second.
_MOST_CLEAR, _LEAST_FROM_HALF = 2.0**40, 2.0**-10


def coerce(values: pa.Array | pa.ChunkedArray, column_type: DataType, name: str) -> pa.Array:
    """Any Arrow values as the column's own Arrow type; strings may stay a dictionary.

    Casts are checked: nothing is wrapped, and nothing rounded but to what a single value would be
    (`to_cell`): VARCHAR is cut to its length, as Kudu's clients do, DECIMAL of larger scale is
    rounded half up, and a number that is to be a FLOAT or DOUBLE is the nearest one. `values`: what
    the user or the engine handed over. Raises ValueOutOfRangeError: a value outside the type's
    range; InvalidValueError: values that cannot be read as the type.
    """
    return combine(pa.chunked_array(coerce_chunks(values, column_type, name)))


def coerce_chunks(
    values: pa.Array | pa.ChunkedArray, column_type: DataType, name: str
) -> list[pa.Array]:
    """What `coerce` returns, in one or more pieces of one Arrow type."""
    values = stored_values(values)
    chunks = large_chunks(values)
    try:
        if _is_wider_decimal(values.type, column_type):
            return [_narrow_decimal(chunks, column_type)]
        return [_coerce(chunk, column_type) for chunk in chunks]
    except (pa.ArrowException, ValueOutOfRangeError, InvalidValueError) as error:
        raise _refusal(values, column_type, name, error) from error


def _refusal(
    values: pa.Array | pa.ChunkedArray,
    column_type: DataType,
    name: str,
    error: pa.ArrowException | DataError,
) -> DataError:
    """What to raise for values that do not fit: of the first of them what it alone would raise."""
    start, stop = 0, len(values)
    while stop - start > 1:
        middle = (start + stop) // 2
        if _casts(values.slice(start, middle - start), column_type):
            start = middle
        else:
            stop = middle
    value = _python_value(values[start]) if len(values) else None
    if value is not None and not isinstance(value, _OF_PARTS):
        try:
            to_cell(value, column_type)
        except DataError as own:
            error = own
    if isinstance(error, DataError):
        message = f"column '{name}': {error.message}"
        return type(error)(message, hint=error.hint, sqlstate=error.sqlstate)
    if isinstance(error, pa.ArrowInvalid):
        return InvalidValueError(
            f"column '{name}': cannot read {quote_value(value)} as {column_type}"
        )
    type_text = format_arrow_type(values.type)
    is_shown = value is not None and type_text != "STRUCT" and not pa.types.is_interval(values.type)
    example = f", such as {quote_value(value)}" if is_shown else ""
    return InvalidValueError(
        f"column '{name}' of type {column_type} cannot take values of type {type_text}{example}"
    )


def _python_value(scalar: pa.Scalar) -> Any:
    """A value as `to_cell` takes it; None if Python has none, as of a time beyond its calendar."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError):
        return None
    kind = stored_type(scalar.type)
    is_short = pa.types.is_float32(kind) or pa.types.is_float16(kind)
    return np.float32(value) if is_short and value is not None else value


def _casts(values: pa.Array | pa.ChunkedArray, column_type: DataType) -> bool:
    try:
        for chunk in large_chunks(values):
            _coerce(chunk, column_type)
    except (pa.ArrowException, DataError):
        return False
    return True


def _coerce(array: pa.Array, column_type: DataType) -> pa.Array:
    target = column_type.arrow
    if array.type == target and column_type.kind is not Kind.VARCHAR:
        return _check_decimals(_check_dates(array, column_type), column_type)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if pa.types.is_dictionary(array.type):
        if not column_type.is_variable:
            return _coerce(array.dictionary_decode(), column_type)
        words = _coerce(array.dictionary, column_type)
        return pa.DictionaryArray.from_arrays(array.indices, words)
    if pa.types.is_string_view(array.type) and not column_type.is_variable:
        array = array.cast(pa.large_string())  # Arrow reads no time in a view
    if _is_text(array.type) and not column_type.is_variable:
        array = read_texts(array, column_type)
    if not _may_become(array.type, column_type):
        raise pa.ArrowTypeError(f"{array.type} is no {column_type}")
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if column_type.kind is Kind.DECIMAL:
        return _coerce_decimal(array, column_type)
    if column_type.is_text:
        array = written_texts(array)
    if column_type.kind is Kind.VARCHAR:
        text = array if pa.types.is_string(array.type) else array.cast(pa.string())
        longest = pc.max(pc.utf8_length(text)).as_py()
        if longest is None or longest <= column_type.length:
            return text
        return pc.utf8_slice_codeunits(text, 0, column_type.length)
    if pa.types.is_timestamp(array.type) and column_type.kind is Kind.UNIXTIME_MICROS:
        return to_micros(array)
    if column_type.kind is Kind.DATE and pa.types.is_timestamp(array.type):
        array = to_micros(array)  # which is what the engine's cast makes of it first
    if column_type.is_floating:
        array = _nearest_doubles(array)
    if column_type.kind is Kind.FLOAT and pa.types.is_floating(array.type):
        return _single(array)
    if not _may_cast(array, column_type.kind):
        raise pa.ArrowTypeError(f"{array.type} is no {column_type}")
    return _check_dates(array.cast(target), column_type)


def _may_become(kind: pa.DataType, column_type: DataType) -> bool:
    """Whether Arrow's cast of a type is one that a single value would have.

    19000 is no day and no time, a time not the number that it is stored as, b'5' no number.
    """
    if pa.types.is_boolean(kind):
        return not column_type.is_floating
    if pa.types.is_duration(kind):
        return False
    if pa.types.is_temporal(kind):
        return not column_type.is_integer
    if is_bytes(kind):
        return column_type.is_variable
    if pa.types.is_floating(kind) and column_type.kind is Kind.BOOL:
        return False
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return not is_number or column_type.kind not in (Kind.DATE, Kind.UNIXTIME_MICROS)


def _may_cast(array: pa.Array, kind: Kind) -> bool:
    """Whether integers that are to be BOOLEANs are: 2 is not true."""
    if kind is Kind.BOOL and pa.types.is_integer(array.type):
        return not pc.any(pc.invert(pc.is_in(array, pa.array([0, 1, None], array.type)))).as_py()
    return True


def _nearest_doubles(numbers: pa.Array) -> pa.Array:
    """Integers and decimals as the doubles next to them; others as they are."""
    if pa.types.is_decimal(numbers.type):
        # Arrow's own cast multiplies by a power of ten that is no double: 1.005 misses its double.
        numbers = numbers.cast(pa.string())
    elif not pa.types.is_integer(numbers.type):
        return numbers
    return numbers.cast(pa.float64(), safe=False)


def _single(array: pa.Array) -> pa.Array:
    """Doubles as FLOATs; none of them becomes infinite."""
    single = array.cast(pa.float32())
    grown = pc.and_(pc.is_inf(single), pc.invert(pc.is_inf(array)))
    if pc.any(grown).as_py():
        value = array.filter(grown)[0].as_py()
        raise ValueOutOfRangeError(f"value {value} is out of range for FLOAT")
    return single


def _check_dates(array: pa.Array, column_type: DataType) -> pa.Array:
    if column_type.kind is Kind.DATE and len(array) > array.null_count:
        low, high = column_type.integer_range or (0, 0)
        extremes = pc.min_max(array.view(pa.int32()))
        for day in (extremes["min"].as_py(), extremes["max"].as_py()):
            if not low <= day <= high:
                raise ValueOutOfRangeError(f"date of day {day} is outside the years 1 to 9999")
    return array


def is_bytes(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of the binary types."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _coerce_decimal(array: pa.Array, column_type: DataType) -> pa.Array:
    if pa.types.is_floating(array.type):
        array = _written_decimals(array, column_type)
    kind = array.type
    if pa.types.is_decimal(kind) and kind.scale > column_type.scale:
        array = rounded(array, column_type.scale)
    elif pa.types.is_integer(kind):
        array = array.cast(pa.decimal128(20, 0)).cast(pa.decimal256(76, column_type.scale))
    elif pa.types.is_decimal(kind):
        array = array.cast(pa.decimal256(76, column_type.scale))
    wide = array.cast(pa.decimal128(38, column_type.scale)) if column_type.width < 16 else array
    if column_type.width < 16:
        return _narrow_decimal([wide], column_type)
    return _check_decimals(wide.cast(column_type.arrow), column_type)


def _written_decimals(numbers: pa.Array, column_type: DataType) -> pa.Array:
    """Doubles as the decimals that they are written as, rounded: 1.005 is 1.01."""
    scale = column_type.scale
    if not pa.types.is_float64(numbers.type):
        return _read_written(numbers, scale)
    values = from_buffers.numbers_of(numbers)
    with np.errstate(all="ignore"):
        scaled = values * 10.0**scale
        # Both the product and the number as it is written are next to the double: what is not as
        # near to a half is rounded alike.
        is_clear = np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) > _LEAST_FROM_HALF
        is_clear &= np.abs(scaled) < _MOST_CLEAR
        nearest = np.where(is_clear, np.rint(scaled), 0).astype(np.int64)
    kind = pa.decimal128(38, scale)
    decimals = from_buffers.integers(nearest).cast(pa.decimal128(19, 0)).view(kind)
    is_valid = numbers.is_valid()
    is_other = pc.and_(from_buffers.flags(~is_clear), is_valid)
    decimals = pc.if_else(is_valid, decimals, pa.scalar(None, kind))
    if not pc.any(is_other).as_py():
        return decimals
    others = _read_written(numbers.filter(is_other), scale)
    return pc.replace_with_mask(decimals, is_other, others.cast(kind))


def _read_written(numbers: pa.Array, scale: int) -> pa.Array:
    """`_written_decimals` by the texts that Arrow writes."""
    # Of what is not written as zero the digits, 17 at most, begin at the one behind the scale.
    least = 10.0 ** -(scale + 1)
    is_zero = pc.less(pc.abs(numbers), pa.scalar(least, numbers.type))
    numbers = pc.if_else(is_zero, pa.scalar(0, numbers.type), numbers)
    decimals = numbers.cast(pa.string()).cast(pa.decimal256(76, scale + _DIGITS_OF_DOUBLES))
    return rounded(decimals, scale)


def _check_decimals(array: pa.Array, column_type: DataType) -> pa.Array:
    """Refuse decimals of more digits than their type has; Arrow and engines may hold them."""
    if column_type.kind is not Kind.DECIMAL or len(array) == array.null_count:
        return array
    low: int | Decimal
    high: int | Decimal
    nines = (9,) * column_type.precision
    if column_type.width < 16:
        extremes = pc.min_max(stored_numbers(array, column_type))
        low, high = column_type.integer_range or (0, 0)
    else:
        extremes = pc.min_max(array)
        low, high = (Decimal((sign, nines, -column_type.scale)) for sign in (1, 0))
    for value in (extremes["min"].as_py(), extremes["max"].as_py()):
        if not low <= value <= high:
            value_text = value if isinstance(value, Decimal) else from_cell(value, column_type)
            raise ValueOutOfRangeError(f"value {value_text} is out of range for {column_type}")
    return array


def _is_wider_decimal(kind: pa.DataType, column_type: DataType) -> bool:
    """Whether values only have to be made narrower."""
    return (
        column_type.kind is Kind.DECIMAL
        and column_type.width < 16
        and pa.types.is_decimal128(kind)
        and kind.scale == column_type.scale
    )


def _narrow_decimal(chunks: Sequence[pa.Array], column_type: DataType) -> pa.Array:
    """decimal128 of the same scale as 4- or 8-byte values: the low words, range checked."""
    stored = np.empty(sum(len(chunk) for chunk in chunks), column_type.numpy)
    valid = np.ones(len(stored), np.bool_) if any(chunk.null_count for chunk in chunks) else None
    first = 0
    for chunk in chunks:
        part = slice(first, first + len(chunk))
        present = validity(chunk)
        if valid is not None and present is not None:
            valid[part] = present
        _narrow_into(stored[part], chunk, present, column_type)
        first = part.stop
    return from_fixed(stored, column_type, valid)


def _narrow_into(
    out: npt.NDArray[Any],
    array: pa.Array,
    valid: npt.NDArray[np.bool_] | None,
    column_type: DataType,
) -> None:
    words = np.frombuffer(array.buffers()[1], "<i8", 2 * len(array), 16 * array.offset)
    words = words.reshape(-1, 2)
    top = 10**column_type.precision - 1
    for start in range(0, len(array), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        low = words[part, 0].copy()
        fits = (low >> 63) == words[part, 1]
        fits &= low >= -top
        fits &= low <= top
        if valid is not None:
            fits |= ~valid[part]
        if not fits.all():
            bad = array[start + int(np.argmin(fits))].as_py()
            raise ValueOutOfRangeError(f"value {bad} is out of range for {column_type}")
        out[part] = low
