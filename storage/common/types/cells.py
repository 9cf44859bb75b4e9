"""Cells and the Python values that users hand in and get back: the crossing of single rows.

A cell is the stored form of one value as a plain Python value (see `types`). Strings are read as
SQL would cast them; times with a zone become UTC. Batches cross by `arrays` instead.
"""

import datetime as dt
import math
import re
import struct
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from pykudu_sql.storage.common.types.numpy_scalars import (
    is_beyond_micros,
    is_numpy_bool,
    is_numpy_datetime,
    is_numpy_day,
    is_numpy_float,
    is_numpy_integer,
    is_numpy_number,
    micros_of,
    shortest_double,
)
from pykudu_sql.storage.common.types.text_forms import (
    MOMENT,
    NO_NUMBER,
    NUMBER,
    WHOLE,
    ZONED_MOMENT,
)
from pykudu_sql.storage.common.types.types import (
    EPOCH,
    EPOCH_DAY,
    INTEGER_RANGES,
    Cell,
    DataType,
    Kind,
)
from pykudu_sql.storage.common.types.value_text import WRITTEN_BITS, number_text, quote_value
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError

if TYPE_CHECKING:
    import numpy as np

_WIDE = Context(prec=80)
_SINGLE = struct.Struct("<f")
_NO_EXACT_NUMBERS = frozenset({"inf", "infinity", "nan"})
_MOST_INTEGER_DIGITS = 40  # more than any integer type has


def _in_range(value: int, column_type: DataType) -> int:
    low, high = column_type.integer_range or (value, value)
    if not low <= value <= high:
        raise _out_of_range(value, column_type)
    return value


def _out_of_range(
    value: "int | float | str | Decimal", column_type: DataType
) -> ValueOutOfRangeError:
    text = value if isinstance(value, str) else number_text(shortest_double(value))
    return ValueOutOfRangeError(f"value {text} is out of range for {column_type}")


_INTEGERS = (Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64)
_EXACT = frozenset({*_INTEGERS, Kind.DECIMAL})
_MOMENTS = frozenset({Kind.DATE, Kind.UNIXTIME_MICROS})
_WHOLE = re.compile(WHOLE)
_NUMBER = re.compile(f"{NUMBER}|{NO_NUMBER}")
_MOMENT = re.compile(f"{MOMENT}|{ZONED_MOMENT}")
_FIELDS = re.compile(
    r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.[0-9]*)?)?)?\s*"
)
_DAY_MICROS = 86_400_000_000
# How values are written that people often write otherwise.
_READ_AS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.DATE: "a date is written '2026-01-31'",
        Kind.UNIXTIME_MICROS: "a time is written '2026-01-31 12:00:00'",
        Kind.BOOL: "write true or false",
    }
    | dict.fromkeys(_INTEGERS, "it takes whole numbers")
)


def _bool_cell(value: object, column_type: DataType) -> bool:
    if isinstance(value, bool) or is_numpy_bool(value):
        return bool(value)
    if (isinstance(value, int) or is_numpy_integer(value)) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in ("true", "false", "t", "f", "1", "0"):
        return value.strip().lower() in ("true", "t", "1")
    raise ValueError(value)


def _int_cell(value: object, column_type: DataType) -> int:
    if type(value) is int:
        low, high = INTEGER_RANGES[column_type.kind]
        if low <= value <= high:
            return value
        raise _out_of_range(value, column_type)
    if isinstance(value, int) or is_numpy_integer(value):
        return _in_range(int(value), column_type)
    if isinstance(value, float | Decimal) or is_numpy_float(value):
        if isinstance(value, Decimal) and _is_huge(value):
            raise _out_of_range(value, column_type)
        if value != int(value):  # a fraction would be lost
            raise ValueError(value)
        return _in_range(int(value), column_type)
    if isinstance(value, str):
        return _in_range(int(_written(value, _WHOLE)), column_type)
    raise TypeError(value)


def _written(text: str, form: "re.Pattern[str]") -> str:
    """A text without blanks around it, which has to be of a form."""
    text = text.strip()
    if form.fullmatch(text) is None:
        raise ValueError(text)
    return text


def _is_huge(value: Decimal) -> bool:
    """Whether a number is so large that its digits are not to be written out as an integer's."""
    return value.is_finite() and value.adjusted() > _MOST_INTEGER_DIGITS


def _float_cell(value: object, column_type: DataType) -> float:
    if type(value) is float and column_type.kind is Kind.DOUBLE:
        return value
    if isinstance(value, bool) or not _is_number_or_text(value):
        raise TypeError(value)
    if isinstance(value, str):
        value = _written(value, _NUMBER)
    try:
        number = float(value)
    except OverflowError:
        raise _out_of_range(value, column_type) from None
    if math.isinf(number) and isinstance(value, Decimal) and value.is_finite():
        raise _out_of_range(value, column_type)
    return number if column_type.kind is not Kind.FLOAT else _single(number, column_type)


def _single(number: float, column_type: DataType) -> float:
    """The nearest number of 32 bits."""
    try:
        nearest: float = _SINGLE.unpack(_SINGLE.pack(number))[0]
    except OverflowError:
        raise _out_of_range(number, column_type) from None
    return nearest


def _is_number_or_text(value: object) -> "TypeGuard[int | float | str | Decimal]":
    return isinstance(value, int | float | str | Decimal) or is_numpy_number(value)


def _decimal_cell(value: object, column_type: DataType) -> int:
    if isinstance(value, bool) or not _is_number_or_text(value):
        raise TypeError(value)
    if isinstance(value, int) and value.bit_length() > WRITTEN_BITS:
        raise _out_of_range(value, column_type)
    text = _written(value, _NUMBER) if isinstance(value, str) else str(shortest_double(value))
    number = value if isinstance(value, Decimal) else Decimal(text)
    if not number.is_finite():
        raise InvalidOperation(value)
    scaled = number.scaleb(column_type.scale, _WIDE).to_integral_value(ROUND_HALF_UP, _WIDE)
    low, high = column_type.integer_range or (0, 0)
    if not low <= scaled <= high:
        raise _out_of_range(number, column_type)
    return int(scaled)


def _date_cell(value: object, column_type: DataType) -> int:
    value = _checked_time(value, column_type)
    if isinstance(value, dt.datetime):
        value = _in_utc(in_micros(value)).date()
    if isinstance(value, dt.date):
        return value.toordinal() - EPOCH_DAY
    if is_numpy_datetime(value):
        return _in_range(micros_of(value) // _DAY_MICROS, column_type)
    raise TypeError(value)


def _checked_time(value: object, column_type: DataType) -> object:
    """A value, of a text its time. Raises ValueError, ValueOutOfRangeError: it can be no time."""
    _refuse_not_a_time(value)
    if isinstance(value, str):
        return moment_of(value)
    if is_numpy_datetime(value) and is_beyond_micros(value):
        raise ValueOutOfRangeError(f"{value} is out of range for {column_type}")
    return value


def moment_of(text: str) -> dt.datetime:
    """The time that a text says, without zone. Raises ValueError: it says none."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return _in_utc(dt.datetime.fromisoformat("".join(filter(None, match.groups()))))


def _refuse_not_a_time(value: object) -> None:
    """NaT of numpy and pandas, a datetime by its class, is unequal to itself."""
    if value != value:
        raise ValueError(value)


def in_micros(value: dt.datetime) -> dt.datetime:
    """A time of Python's own, in microseconds, halves up; pandas' have nanoseconds besides."""
    nanoseconds = getattr(value, "nanosecond", None)
    if nanoseconds is None:
        return value
    plain: dt.datetime = value.to_pydatetime(warn=False)  # type: ignore[attr-defined]
    return plain + dt.timedelta(microseconds=1) if nanoseconds >= 500 else plain


def _in_utc(value: dt.datetime) -> dt.datetime:
    """A time without zone."""
    return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)


def _timestamp_cell(value: object, column_type: DataType) -> int:
    value = _checked_time(value, column_type)
    if isinstance(value, dt.datetime):
        return (_in_utc(in_micros(value)) - EPOCH) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value.toordinal() - EPOCH_DAY) * _DAY_MICROS
    if is_numpy_datetime(value):
        return micros_of(value)
    raise TypeError(value)


def _text_cell(value: object, column_type: DataType) -> str:
    text = value if type(value) is str else _text_of(value)
    if not text.isascii():
        text.encode("utf-8")  # lone surrogates cannot be stored
    return text[: column_type.length] if column_type.kind is Kind.VARCHAR else text


def _text_of(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8")
    if isinstance(value, bool) or is_numpy_bool(value):
        value = "true" if value else "false"
    elif isinstance(value, dt.date | dt.time) or is_numpy_datetime(value):
        value = _time_text(value)
    elif isinstance(value, Decimal):
        value = f"{value:f}" if abs(value.adjusted()) < _MOST_INTEGER_DIGITS else str(value)
    elif isinstance(value, int | float) or is_numpy_number(value):
        value = str(shortest_double(value))
    if not isinstance(value, str):
        raise TypeError(value)
    return str.__str__(value)  # of a subclass, the text alone


def _time_text(value: "dt.date | dt.time | np.datetime64") -> str:
    """A day, a time of day or, in UTC, a time as CAST writes it."""
    _refuse_not_a_time(value)
    if is_numpy_datetime(value):
        if is_beyond_micros(value):
            raise ValueError(value)
        micros = dt.timedelta(microseconds=micros_of(value))
        value = EPOCH.date() + micros if is_numpy_day(value) else EPOCH + micros
    if isinstance(value, dt.datetime):
        value = _in_utc(in_micros(value))
    if isinstance(value, dt.time) and value.tzinfo is not None:
        raise ValueError(value)
    return str(value).rstrip("0") if getattr(value, "microsecond", 0) else str(value)


def _binary_cell(value: object, column_type: DataType) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(value)


_TO_CELL: Mapping[Kind, Callable[[object, DataType], Cell]] = {
        Kind.BOOL: _bool_cell,
        Kind.INT8: _int_cell, Kind.INT16: _int_cell, Kind.INT32: _int_cell, Kind.INT64: _int_cell,
        Kind.DATE: _date_cell, Kind.UNIXTIME_MICROS: _timestamp_cell,
        Kind.FLOAT: _float_cell, Kind.DOUBLE: _float_cell, Kind.DECIMAL: _decimal_cell,
        Kind.VARCHAR: _text_cell, Kind.STRING: _text_cell, Kind.BINARY: _binary_cell,
    }  # fmt: skip


def _date_value(cell: Any, column_type: DataType) -> dt.date:
    return dt.date.fromordinal(cell + EPOCH_DAY)


def _timestamp_value(cell: Any, column_type: DataType) -> dt.datetime:
    try:
        return EPOCH + dt.timedelta(microseconds=cell)
    except OverflowError as error:
        raise ValueOutOfRangeError(
            f"timestamp {cell} microseconds is outside the years 1 to 9999 of Python's datetime",
            hint="fetch it as Arrow, or CAST it to BIGINT",
        ) from error


def _decimal_value(cell: Any, column_type: DataType) -> Decimal:
    return Decimal(cell).scaleb(-column_type.scale, _WIDE)


_FROM_CELL: Mapping[Kind, Callable[[Any, DataType], Any]] = {
    Kind.DATE: _date_value,
    Kind.UNIXTIME_MICROS: _timestamp_value,
    Kind.DECIMAL: _decimal_value,
}


def to_cell(value: object, column_type: DataType) -> Cell:
    """Read a user's Python value as a cell.

    Strings are read as SQL would cast them. VARCHAR is cut to its length in characters, as Kudu's
    clients do. Timestamps with a zone become UTC. Raises InvalidValueError: the value cannot be
    read as this type; ValueOutOfRangeError: it can, and lies outside the type's range (22003), or
    outside the calendar (22008).
    """
    if value is None:
        return None
    try:
        return _TO_CELL[column_type.kind](value, column_type)
    except ValueOutOfRangeError:
        raise
    except UnicodeError as error:
        raise InvalidValueError(
            f"{value!r:.80} is not valid Unicode text", sqlstate="22021"
        ) from error
    except (ValueError, TypeError, ArithmeticError) as error:
        if isinstance(error, OverflowError) and column_type.kind in _MOMENTS:
            raise ValueOutOfRangeError(
                f"value {quote_value(value)} is out of range for {column_type}"
            ) from error
        if column_type.kind in _EXACT and _is_no_exact_number(value):
            raise ValueOutOfRangeError(
                f"value {value} is out of range for {column_type}"
            ) from error
        if column_type.kind in _MOMENTS and _is_beyond_calendar(value):
            raise ValueOutOfRangeError(
                f"{quote_value(value)} is no date or time of the calendar",
                hint=_READ_AS[column_type.kind],
                sqlstate="22008",
            ) from error
        raise InvalidValueError(
            f"cannot read {quote_value(value)} as {column_type}",
            hint=_READ_AS.get(column_type.kind),
        ) from error


def _is_beyond_calendar(value: object) -> bool:
    """Whether a text is written as a date or a time whose month, day or hour there is not."""
    match = _FIELDS.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return False
    year, month, day, hour, minute, second = map(int, match.groups(default="0"))
    try:
        dt.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return True
    return False


def _is_no_exact_number(value: object) -> bool:
    """Whether a value is infinity or NaN, or the text of it."""
    is_number = isinstance(value, str | float | Decimal) or is_numpy_float(value)
    return is_number and str(value).strip().lower().lstrip("+-") in _NO_EXACT_NUMBERS


def from_cell(cell: Cell, column_type: DataType) -> Any:
    """The Python value of a cell.

    Raises ValueOutOfRangeError: a time outside the years of Python's datetime.
    """
    convert = _FROM_CELL.get(column_type.kind)
    if cell is None or convert is None:
        return cell
    return convert(cell, column_type)


def cell_to_json(cell: Cell) -> Any:
    """A cell as JSON; bytes become an object of hexadecimal, non-finite floats their name."""
    if isinstance(cell, bytes):
        return {"hex": cell.hex()}
    if isinstance(cell, float):
        return {"float": cell.hex()}
    return cell


def cell_from_json(value: Any) -> Cell:
    """The inverse of `cell_to_json`."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"]) if "hex" in value else float.fromhex(value["float"])
    cell: Cell = value
    return cell
