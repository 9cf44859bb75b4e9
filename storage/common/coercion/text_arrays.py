"""Arrays of texts as the values of columns that hold no texts: each as `to_cell` reads it.

Arrow reads nearly all of them at once. Those in other words, a few among many, are read one by one:
each word once, however many rows have it.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.coercion.time_arrays import MICROS
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.from_buffers import FALSE
from pykudu_sql.storage.common.types.text_forms import (
    DAY,
    MOMENT,
    NO_NUMBER,
    NUMBER,
)
from pykudu_sql.storage.common.types.types import (
    MAX_DATE,
    MAX_MICROS,
    MIN_DATE,
    MIN_MICROS,
    DataType,
    Kind,
)

_Read = Callable[[pa.Array], pa.Array]

_DIGITS = 38
_DECIMALS = pa.decimal256(76, _DIGITS)
_DIGITS_MORE = 10
_NARROW_DIGITS = 37  # of 128 bits, and one for rounding
# Written in ways that Arrow reads as `to_cell` does.
_WHOLE = r"[+-]?[0-9]{1,18}"
_DECIMAL = (
    rf"[+-]?(?:[0-9]{{1,{_DIGITS}}}(?:\.[0-9]{{0,{_DIGITS}}})?|\.[0-9]{{1,{_DIGITS}}})"
    r"|[+-]?[0-9]{1,18}(?:\.[0-9]{0,18})?[eE][+-]?[0-9]"
)
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
_MOMENT = rf"{MOMENT}|{DAY}[ T]{_CLOCK} ?(?:Z|[+-][0-9]{{2}}(?::?[0-9]{{2}})?)"
_BEHIND_TIME = r":[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)$"
_TRUTH = r"(?i:true|false|t|f)|0|1"


def read_texts(texts: pa.Array, column_type: DataType) -> pa.Array:
    """Texts as values of a type, blanks around them ignored; decimals are still to be rounded.

    `column_type`: no text and no BINARY. Raises ArrowInvalid: one of them is no such value or out
    of range; DataError: the same, where it was read alone.
    """
    match column_type.kind:
        case Kind.BOOL:
            return _read(texts, column_type, _truths, _TRUTH)
        case Kind.FLOAT | Kind.DOUBLE:
            read = _read_words if _has(texts, "(") else _read
            return read(texts, column_type, _doubles, f"{NUMBER}|{NO_NUMBER}")
        case Kind.DECIMAL:
            read = _read_words if _may_wrap(texts) else _read
            return read(texts, column_type, _decimals(column_type), _DECIMAL)
        case Kind.DATE:
            return _read_dates(texts, column_type)
        case Kind.UNIXTIME_MICROS:
            return _read_times(texts, column_type)
        case _:
            read = _read_words if _has(texts, "x", "X") else _read
            return read(texts, column_type, _integers(column_type), _WHOLE)


def _read(texts: pa.Array, column_type: DataType, read: _Read, plain: str) -> pa.Array:
    """All at once, if Arrow takes them; else so those that match a pattern."""
    try:
        return read(pc.utf8_trim_whitespace(texts))
    except pa.ArrowInvalid:
        return _read_words(texts, column_type, read, plain)


def _read_moments(texts: pa.Array, column_type: DataType) -> pa.Array:
    try:
        return _usual_moments(pc.utf8_trim_whitespace(texts))
    except pa.ArrowInvalid:
        return _read_words(texts, column_type, _rare_moments, _MOMENT)


def _read_words(texts: pa.Array, column_type: DataType, read: _Read, plain: str) -> pa.Array:
    """Those that match a pattern at once, each other word as a value alone."""
    trimmed = pc.utf8_trim_whitespace(texts)
    is_plain = pc.match_substring_regex(trimmed, f"^(?:{plain})$")
    is_other = pc.fill_null(pc.invert(is_plain), FALSE)
    values = read(pc.if_else(is_plain, trimmed, pa.scalar(None, texts.type)))
    others = texts.filter(is_other)
    if not len(others):
        return values
    words = others.unique()
    cells = cells_to_array([to_cell(word, column_type) for word in words.to_pylist()], column_type)
    places = pc.index_in(others, words)
    return pc.replace_with_mask(values, is_other, cells.cast(values.type).take(places))


def _has(texts: pa.Array, *letters: str) -> bool:
    """Whether one of some ASCII letters may be in the texts: a look at all their bytes at once."""
    data = texts.buffers()[2]
    if data is None:
        return False
    offsets = np.frombuffer(texts.buffers()[1], "i8" if _is_large(texts) else "i4")
    first, last = offsets[texts.offset], offsets[texts.offset + len(texts)]
    written = np.frombuffer(data, np.uint8)[first:last]
    return any(bool((written == ord(letter)).any()) for letter in letters)


def _is_large(texts: pa.Array) -> bool:
    return bool(pa.types.is_large_string(texts.type))


def _may_wrap(texts: pa.Array) -> bool:
    """Whether there may be a number so large that Arrow's decimals wrap around: 2e48, 10**80."""
    longest = pc.max(pc.binary_length(texts)).as_py()
    return longest is not None and (longest > _DIGITS or _has(texts, "e", "E"))


def _decimals(column_type: DataType) -> _Read:
    """Texts as decimals, with few more digits than the column has if that is enough for them.

    To round decimals of 256 bits takes ten times as long as those of 128.
    """
    few = pa.decimal128(_NARROW_DIGITS, min(column_type.scale + _DIGITS_MORE, _NARROW_DIGITS))

    def read(texts: pa.Array) -> pa.Array:
        if _are_short(texts, _NARROW_DIGITS - few.scale):
            try:
                return texts.cast(few)
            except pa.ArrowInvalid:  # one has more digits behind the point, or is no decimal
                pass
        return texts.cast(_DECIMALS)

    return read


def _are_short(texts: pa.Array, most: int) -> bool:
    """Whether no text has more than so many digits before the point."""
    longest = pc.max(pc.binary_length(texts)).as_py()
    return longest is not None and longest <= most and not _has(texts, "e", "E")


def _integers(column_type: DataType) -> _Read:
    target = column_type.arrow

    def read(texts: pa.Array) -> pa.Array:
        try:
            return texts.cast(target)
        except pa.ArrowInvalid:
            return pc.replace_substring_regex(texts, r"^\+([0-9])", r"\1").cast(target)

    return read


def _doubles(texts: pa.Array) -> pa.Array:
    return texts.cast(pa.float64())


def _truths(texts: pa.Array) -> pa.Array:
    try:
        return texts.cast(pa.bool_())
    except pa.ArrowInvalid:
        for letter, word in (("t", "true"), ("f", "false")):
            texts = pc.replace_substring_regex(texts, f"^(?i:{letter})$", word)
        return texts.cast(pa.bool_())


def _read_dates(texts: pa.Array, column_type: DataType) -> pa.Array:
    """Days, and the days in UTC of times."""
    try:
        days = pc.utf8_trim_whitespace(texts).cast(pa.date32())
    except pa.ArrowInvalid:
        moments = _read_moments(texts, column_type)
        days = _within(moments, MIN_MICROS, MAX_MICROS).cast(pa.date32())
    return _within(days, MIN_DATE, MAX_DATE)


def _read_times(texts: pa.Array, column_type: DataType) -> pa.Array:
    """Times; one that says its offset from UTC is turned to UTC."""
    moments = _read_moments(texts, column_type)
    return _within(moments, MIN_MICROS, MAX_MICROS)


def _within(moments: pa.Array, least: int, most: int) -> pa.Array:
    """Refuse days or times outside of the calendar, where an offset from UTC may bring them."""
    number_type = pa.int32() if pa.types.is_date32(moments.type) else pa.int64()
    extremes = pc.min_max(moments.view(number_type))
    low, high = extremes["min"].as_py(), extremes["max"].as_py()
    if low is not None and not least <= low <= high <= most:
        raise pa.ArrowInvalid
    return moments


def _usual_moments(texts: pa.Array) -> pa.Array:
    """Texts of which those with an offset from UTC are turned to UTC."""
    zoned = pc.match_substring_regex(texts, _BEHIND_TIME)
    if not pc.any(zoned).as_py():
        return texts.cast(MICROS)
    nothing = pa.scalar(None, texts.type)
    in_utc = pc.if_else(zoned, texts, nothing).cast(pa.timestamp("us", "UTC"))
    plain = pc.if_else(zoned, nothing, texts).cast(MICROS)
    return pc.coalesce(in_utc.view(pa.int64()).view(MICROS), plain)


def _rare_moments(texts: pa.Array) -> pa.Array:
    """Texts that match `_MOMENT`; what is finer than a microsecond is cut."""
    texts = pc.replace_substring_regex(texts, r"(\.[0-9]{6})[0-9]+", r"\1")
    return _usual_moments(pc.replace_substring_regex(texts, r" (Z|[+-])", r"\1"))
