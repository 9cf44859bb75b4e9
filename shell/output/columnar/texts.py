"""A column as texts: what `to_text` and `to_json` give for each of its values.

Numbers, dates, times and strings are turned by Arrow's kernels; values of other types, and the
numbers that Arrow writes in another way than Python, one by one. A column of Python values, which
a result that is held has, is turned one by one too. NULL stays NULL.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql import DataError
from pykudu_sql.shell.output.columnar.literals import EMPTY, TEXT, flags, number, text, text_array
from pykudu_sql.shell.output.values import to_text

Column: TypeAlias = pa.Array | Sequence[Any]
ColumnBatches: TypeAlias = Iterable[Sequence[Column]]

_MIN_DATE, _MAX_DATE = -719_162, 2_932_896
_MICROS_A_DAY = 86_400_000_000
_BARE, _UTC = text(".0"), text("+00:00")
_ZERO, _SECOND = number(0.0), number(1_000_000)
# Arrow writes 1E-7 where Python's `f` writes 0.0000001, which needs more than 6 digits behind.
_MOST_DECIMAL_SCALE = 6
# Between these Arrow and Python write no exponent.
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e10


def is_text(column: Column) -> bool:
    """Whether the values of a column are strings."""
    if isinstance(column, pa.Array):
        return _is_string(column.type)
    return any(isinstance(value, str) for value in column)


def texts_of(column: Column) -> pa.Array:
    """Each value as `to_text` gives it."""
    column = _plain(column)
    if isinstance(column, pa.Array):
        kernel = _kernel(column.type)
        if kernel is not None:
            return kernel(column)
    return texts_one_by_one(column, to_text)


def texts_one_by_one(column: Column, to: Callable[[Any], str]) -> pa.Array:
    """Each value but NULL by a function."""
    values = column.to_pylist() if isinstance(column, pa.Array) else column
    return text_array([None if value is None else to(value) for value in values])


def replace_some(
    texts: pa.Array, mask: pa.Array | np.ndarray[Any, Any], replacements: Sequence[str]
) -> pa.Array:
    """Texts with others in the places of a mask without NULL."""
    return pc.replace_with_mask(texts, mask, text_array(replacements))


def content(texts: pa.Array) -> bytes:
    """All texts, one behind the other, as UTF-8."""
    if not len(texts):
        return b""
    offsets = np.frombuffer(texts.buffers()[1], np.int64)
    start, stop = offsets[texts.offset], offsets[texts.offset + len(texts)]
    data = texts.buffers()[2]
    return b"" if data is None else data.slice(int(start), int(stop - start)).to_pybytes()


def _is_string(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in tests)


def _plain(column: Column) -> Column:
    """A column whose Arrow type is one of those that Python values are made of."""
    if not isinstance(column, pa.Array):
        return column
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        _check_range(column.cast(pa.int64()), _MICROS_A_DAY, "timestamp", "microsecond")
    elif pa.types.is_date32(column.type):
        _check_range(column.cast(pa.int32()), 1, "date", "day")
    return column


def _check_range(counts: pa.Array, a_day: int, what: str, unit: str) -> None:
    """Arrow has texts such as `<value out of range>` for what lies outside Python's calendar."""
    extremes = pc.min_max(counts).as_py()
    for value in (extremes["min"], extremes["max"]):
        if value is not None and not _MIN_DATE * a_day <= value < (_MAX_DATE + 1) * a_day:
            raise DataError(
                f"{what} of {unit} {value} is outside the years 1 to 9999",
                hint="CAST it to text",
                sqlstate="22003",
            )


def _kernel(kind: pa.DataType) -> Callable[[pa.Array], pa.Array] | None:
    return next((kernel for test, kernel in _KERNELS if test(kind)), None)


def _cast(column: pa.Array) -> pa.Array:
    return pc.cast(column, TEXT)


def _floats(column: pa.Array) -> pa.Array:
    """As Python's `repr`: the fewest digits that read as the same number, `.0` if there are none.

    Arrow finds the same digits, but begins exponents elsewhere and leaves `.0` away.
    """
    doubles = pc.cast(column, pa.float64())
    texts = _cast(doubles)
    filled = pc.if_else(pc.is_null(doubles), _ZERO, doubles)
    values = np.frombuffer(filled.buffers()[1], np.float64, len(filled), 8 * filled.offset)
    sizes = np.abs(values)
    whole = (np.floor(values) == values) & (sizes < _MOST_PLAIN)
    if whole.any():
        bare = pc.if_else(flags(whole), _BARE, EMPTY)
        texts = pc.binary_join_element_wise(texts, bare, EMPTY)
    differing = np.isfinite(values) & (sizes != 0)
    differing &= (sizes < _LEAST_PLAIN) | (sizes >= _MOST_PLAIN)
    if differing.any():
        texts = replace_some(texts, flags(differing), list(map(repr, values[differing].tolist())))
    return texts


def _moments(column: pa.Array) -> pa.Array:
    """Timestamps and times of the day; microseconds only where there are any."""
    counts = column.cast(pa.int64())
    seconds = pc.divide(counts, _SECOND)
    has_fraction = pc.not_equal(pc.multiply(seconds, _SECOND), counts)
    fine = _cast(column)
    # What stands before `.000000`.
    coarse = pc.utf8_slice_codeunits(fine, 0, -7)
    return pc.if_else(has_fraction, fine, coarse)


def _utc_moments(column: pa.Array) -> pa.Array:
    texts = _moments(column.cast(pa.timestamp("us")))
    return pc.binary_join_element_wise(texts, _UTC, EMPTY)


def _is_short_decimal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal128(kind) and 0 <= kind.scale <= _MOST_DECIMAL_SCALE)


_KERNELS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array]], ...] = (
    (_is_string, _cast),
    (pa.types.is_integer, _cast),
    (pa.types.is_floating, _floats),
    (pa.types.is_boolean, _cast),
    (pa.types.is_date32, _cast),
    (_is_short_decimal, _cast),
    (lambda kind: kind == pa.timestamp("us"), _moments),
    (lambda kind: kind == pa.timestamp("us", "UTC"), _utc_moments),
    (lambda kind: kind == pa.time64("us"), _moments),
    (pa.types.is_null, _cast),
)
