"""The type table: the one place that maps a type to Arrow, numpy, SQL, Python and Spark.

The thirteen types of Kudu (`common/types.h`), under SQL names and under Kudu's own. A value has
three faces, and only this file converts between them:

- the *Arrow* face, in batches: decimals as decimal32/64/128 by precision, timestamps as
  microseconds without zone, strings as utf8 or as a dictionary of utf8;
- the *cell*, in single-row paths and statistics: the stored form as a plain Python value (int for
  integers, days for DATE, microseconds for TIMESTAMP, the unscaled int for DECIMAL, float, bool,
  str, bytes, None for NULL);
- the *Python* face, which users hand in and get back (`datetime.date`, `Decimal`, ...).

Encodings and compressions are named here too, since which of them fit is a fact about a type
(`cfile/type_encodings.cc`).
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    InvalidValueError,
    ValueOutOfRangeError,
)

Cell = bool | int | float | str | bytes | None

MAX_CELL_BYTES = 64 * 1024
EPOCH = dt.datetime(1970, 1, 1)
EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
MIN_DATE = dt.date.min.toordinal() - EPOCH_DAY
MAX_DATE = dt.date.max.toordinal() - EPOCH_DAY
_WIDE = Context(prec=80)


class Kind(StrEnum):
    """The physical kinds, by Kudu's names."""

    BOOL = "BOOL"
    INT8 = "INT8"
    INT16 = "INT16"
    INT32 = "INT32"
    INT64 = "INT64"
    DATE = "DATE"
    UNIXTIME_MICROS = "UNIXTIME_MICROS"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL"
    VARCHAR = "VARCHAR"
    STRING = "STRING"
    BINARY = "BINARY"


class Encoding(StrEnum):
    """Column encodings of Kudu; AUTO_ENCODING is the default of the column's type."""

    AUTO_ENCODING = "AUTO_ENCODING"
    PLAIN_ENCODING = "PLAIN_ENCODING"
    BIT_SHUFFLE = "BIT_SHUFFLE"
    RLE = "RLE"
    DICT_ENCODING = "DICT_ENCODING"
    PREFIX_ENCODING = "PREFIX_ENCODING"


class Compression(StrEnum):
    """Block compressions; DEFAULT_COMPRESSION is none, as in Kudu."""

    DEFAULT_COMPRESSION = "DEFAULT_COMPRESSION"
    NO_COMPRESSION = "NO_COMPRESSION"
    LZ4 = "LZ4"
    SNAPPY = "SNAPPY"
    ZLIB = "ZLIB"
    ZSTD = "ZSTD"


_INTEGER_BITS = MappingProxyType({Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64})
_TEXT = frozenset({Kind.VARCHAR, Kind.STRING})
_VARIABLE = frozenset({Kind.VARCHAR, Kind.STRING, Kind.BINARY})
_NOT_IN_KEY = frozenset({Kind.BOOL, Kind.FLOAT, Kind.DOUBLE})

# What a kind is called in SQL, without parameters.
SQL_NAMES: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.BOOL: "BOOLEAN", Kind.INT8: "TINYINT", Kind.INT16: "SMALLINT", Kind.INT32: "INT",
        Kind.INT64: "BIGINT", Kind.DATE: "DATE", Kind.UNIXTIME_MICROS: "TIMESTAMP",
        Kind.FLOAT: "FLOAT", Kind.DOUBLE: "DOUBLE", Kind.DECIMAL: "DECIMAL",
        Kind.VARCHAR: "VARCHAR", Kind.STRING: "STRING", Kind.BINARY: "BINARY",
    }
)  # fmt: skip

_ARROW: Mapping[Kind, pa.DataType] = MappingProxyType(
    {
        Kind.BOOL: pa.bool_(), Kind.INT8: pa.int8(), Kind.INT16: pa.int16(),
        Kind.INT32: pa.int32(), Kind.INT64: pa.int64(), Kind.DATE: pa.date32(),
        Kind.UNIXTIME_MICROS: pa.timestamp("us"), Kind.FLOAT: pa.float32(),
        Kind.DOUBLE: pa.float64(), Kind.VARCHAR: pa.string(), Kind.STRING: pa.string(),
        Kind.BINARY: pa.binary(),
    }
)  # fmt: skip

_NUMPY: Mapping[Kind, np.dtype[Any]] = MappingProxyType(
    {
        Kind.BOOL: np.dtype(np.bool_), Kind.INT8: np.dtype("<i1"), Kind.INT16: np.dtype("<i2"),
        Kind.INT32: np.dtype("<i4"), Kind.INT64: np.dtype("<i8"), Kind.DATE: np.dtype("<i4"),
        Kind.UNIXTIME_MICROS: np.dtype("<i8"), Kind.FLOAT: np.dtype("<f4"),
        Kind.DOUBLE: np.dtype("<f8"),
    }
)  # fmt: skip

_DECIMAL_NUMPY: Mapping[int, np.dtype[Any]] = MappingProxyType(
    {4: np.dtype("<i4"), 8: np.dtype("<i8")}
)

_NUMERIC_ENCODINGS = (Encoding.BIT_SHUFFLE, Encoding.PLAIN_ENCODING, Encoding.RLE)
_FLOATING_ENCODINGS = (Encoding.BIT_SHUFFLE, Encoding.PLAIN_ENCODING)
_BINARY_ENCODINGS = (
    Encoding.DICT_ENCODING,
    Encoding.PLAIN_ENCODING,
    Encoding.PREFIX_ENCODING,
)


@dataclass(frozen=True, slots=True)
class DataType:
    """A column's type.

    Attributes:
        kind: the physical kind.
        precision, scale: of a DECIMAL, 1..38 and 0..precision; else 0.
        length: of a VARCHAR, 1..65535 characters; else 0.
    """

    kind: Kind
    precision: int = 0
    scale: int = 0
    length: int = 0

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"DECIMAL({self.precision},{self.scale})"
        if self.kind is Kind.VARCHAR:
            return f"VARCHAR({self.length})"
        return SQL_NAMES[self.kind]

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that batches carry."""
        if self.kind is Kind.DECIMAL:
            make = {4: pa.decimal32, 8: pa.decimal64, 16: pa.decimal128}[self.width]
            return make(self.precision, self.scale)
        return _ARROW[self.kind]

    @property
    def width(self) -> int:
        """Bytes of a fixed-width value (1 for BOOL); 0 for strings and binaries."""
        if self.kind is Kind.DECIMAL:
            return 4 if self.precision <= 9 else 8 if self.precision <= 18 else 16
        if self.kind in _VARIABLE:
            return 0
        return _NUMPY[self.kind].itemsize

    @property
    def numpy(self) -> np.dtype[Any] | None:
        """The numpy type of the stored values; None for variable-length and 16-byte values."""
        if self.kind is Kind.DECIMAL:
            return _DECIMAL_NUMPY.get(self.width)
        return _NUMPY.get(self.kind)

    @property
    def is_variable(self) -> bool:
        """Whether values differ in length."""
        return self.kind in _VARIABLE

    @property
    def is_text(self) -> bool:
        """Whether values are UTF-8 text."""
        return self.kind in _TEXT

    @property
    def is_integer(self) -> bool:
        """Whether values are plain integers."""
        return self.kind in _INTEGER_BITS

    @property
    def is_floating(self) -> bool:
        """Whether values are binary floating point."""
        return self.kind is Kind.FLOAT or self.kind is Kind.DOUBLE

    @property
    def allowed_in_key(self) -> bool:
        """Whether a primary key may hold a column of this type."""
        return self.kind not in _NOT_IN_KEY

    @property
    def integer_range(self) -> tuple[int, int] | None:
        """Smallest and largest stored value of a type kept as an integer, else None."""
        if self.kind in _INTEGER_BITS:
            top = 1 << (_INTEGER_BITS[self.kind] - 1)
            return -top, top - 1
        if self.kind is Kind.DATE:
            return MIN_DATE, MAX_DATE
        if self.kind is Kind.UNIXTIME_MICROS:
            return -(1 << 63), (1 << 63) - 1
        if self.kind is Kind.DECIMAL:
            top = 10**self.precision - 1
            return -top, top
        return None

    def encodings(self) -> tuple[Encoding, ...]:
        """The encodings that fit this type, the default first."""
        if self.kind is Kind.BOOL:
            return (Encoding.RLE, Encoding.PLAIN_ENCODING)
        if self.is_floating or self.width == 16:
            return _FLOATING_ENCODINGS
        return _BINARY_ENCODINGS if self.is_variable else _NUMERIC_ENCODINGS

    def resolve_encoding(self, encoding: Encoding) -> Encoding:
        """The encoding that AUTO_ENCODING stands for, or the one given.

        Raises:
            InvalidSchemaError: the encoding does not fit the type.
        """
        fitting = self.encodings()
        if encoding is Encoding.AUTO_ENCODING:
            return fitting[0]
        if encoding not in fitting:
            raise InvalidSchemaError(
                f"encoding {encoding} not supported for type {self}",
                hint=f"use one of {', '.join(fitting)}",
            )
        return encoding

    def to_cell(self, value: object) -> Cell:
        """Read a user's Python value as a cell.

        Strings are read as SQL would cast them. VARCHAR is cut to its length in characters, as
        Kudu's clients do. Timestamps with a zone become UTC.

        Raises:
            InvalidValueError: the value cannot be read as this type.
            ValueOutOfRangeError: it can, and lies outside the type's range.
        """
        if value is None:
            return None
        try:
            return _TO_CELL[self.kind](value, self)
        except ValueOutOfRangeError:
            raise
        except (ValueError, TypeError, ArithmeticError, UnicodeError) as error:
            shown = str(value) if isinstance(value, Decimal | dt.date | np.generic) else repr(value)
            raise InvalidValueError(
                f"cannot read {shown:.80} as {self}", hint=_READ_AS.get(self.kind)
            ) from error

    def from_cell(self, cell: Cell) -> Any:
        """The Python value of a cell."""
        convert = _FROM_CELL.get(self.kind)
        if cell is None or convert is None:
            return cell
        return convert(cell, self)


def decimal_type(precision: int, scale: int) -> DataType:
    """DECIMAL(precision, scale).

    Raises:
        InvalidSchemaError: precision outside 1..38, or scale outside 0..precision.
    """
    if not 1 <= precision <= 38 or not 0 <= scale <= precision:
        raise InvalidSchemaError(
            f"DECIMAL({precision},{scale}) is out of range",
            hint="precision is 1 to 38, scale 0 to precision",
        )
    return DataType(Kind.DECIMAL, precision=precision, scale=scale)


def _in_range(value: int, column_type: DataType) -> int:
    low, high = column_type.integer_range or (value, value)
    if not low <= value <= high:
        raise ValueOutOfRangeError(f"value {value} is out of range for {column_type}")
    return value


# How values are written that people often write otherwise.
_READ_AS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.DATE: "a date is written '2026-01-31'",
        Kind.UNIXTIME_MICROS: "a time is written '2026-01-31 12:00:00'",
        Kind.BOOL: "write true or false",
    }
    | dict.fromkeys((Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64), "it takes whole numbers")
)


def _bool_cell(value: object, column_type: DataType) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in (
        "true",
        "false",
        "t",
        "f",
        "1",
        "0",
    ):
        return value.strip().lower() in ("true", "t", "1")
    raise ValueError(value)


def _int_cell(value: object, column_type: DataType) -> int:
    if isinstance(value, int | np.integer):
        return _in_range(int(value), column_type)
    if isinstance(value, float | np.floating | Decimal):
        if value != int(value):  # a fraction would be lost
            raise ValueError(value)
        return _in_range(int(value), column_type)
    if isinstance(value, str):
        return _in_range(int(value), column_type)
    raise TypeError(value)


def _float_cell(value: object, column_type: DataType) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | np.number):
        raise TypeError(value)
    number = float(value)
    if math.isinf(number) and isinstance(value, Decimal) and value.is_finite():
        raise ValueOutOfRangeError(f"value {value} is out of range for {column_type}")
    if column_type.kind is not Kind.FLOAT:
        return number
    with np.errstate(over="ignore"):
        rounded = float(np.float32(number))
    if math.isinf(rounded) and not math.isinf(number):
        raise ValueOutOfRangeError(f"value {number} is out of range for {column_type}")
    return rounded


def _decimal_cell(value: object, column_type: DataType) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | np.number):
        raise TypeError(value)
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        raise InvalidOperation(value)
    scaled = number.scaleb(column_type.scale, _WIDE).to_integral_value(ROUND_HALF_UP, _WIDE)
    low, high = column_type.integer_range or (0, 0)
    if not low <= scaled <= high:
        raise ValueOutOfRangeError(f"value {number} is out of range for {column_type}")
    return int(scaled)


def _date_cell(value: object, column_type: DataType) -> int:
    _refuse_not_a_time(value)
    if isinstance(value, str):
        text = value.strip()
        value = dt.date.fromisoformat(text) if len(text) == 10 else dt.datetime.fromisoformat(text)
    if isinstance(value, np.datetime64):
        return _in_range(int(value.astype("datetime64[D]").astype(np.int64)), column_type)
    if isinstance(value, dt.datetime):
        value = _in_utc(value).date()
    if isinstance(value, dt.date):
        return value.toordinal() - EPOCH_DAY
    raise TypeError(value)


def _refuse_not_a_time(value: object) -> None:
    """NaT of numpy and pandas, a datetime by its class, is unequal to itself."""
    if value != value:
        raise ValueError(value)


def _in_utc(value: dt.datetime) -> dt.datetime:
    """A time without zone."""
    return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)


def _timestamp_cell(value: object, column_type: DataType) -> int:
    _refuse_not_a_time(value)
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value.strip())
    if isinstance(value, np.datetime64):
        return int(value.astype("datetime64[us]").astype(np.int64))
    if isinstance(value, dt.datetime):
        return (_in_utc(value) - EPOCH) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value.toordinal() - EPOCH_DAY) * 86_400_000_000
    raise TypeError(value)


def _text_cell(value: object, column_type: DataType) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8")
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, int | float | Decimal | dt.date | dt.datetime | np.number):
        if isinstance(value, dt.date):
            _refuse_not_a_time(value)
        value = str(value)
    if not isinstance(value, str):
        raise TypeError(value)
    value.encode("utf-8")  # lone surrogates cannot be stored
    text = str.__str__(value)  # of a subclass, the text alone
    return text[: column_type.length] if column_type.kind is Kind.VARCHAR else text


def _binary_cell(value: object, column_type: DataType) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(value)


_TO_CELL: Mapping[Kind, Callable[[object, DataType], Cell]] = MappingProxyType(
    {
        Kind.BOOL: _bool_cell,
        Kind.INT8: _int_cell, Kind.INT16: _int_cell, Kind.INT32: _int_cell, Kind.INT64: _int_cell,
        Kind.DATE: _date_cell, Kind.UNIXTIME_MICROS: _timestamp_cell,
        Kind.FLOAT: _float_cell, Kind.DOUBLE: _float_cell, Kind.DECIMAL: _decimal_cell,
        Kind.VARCHAR: _text_cell, Kind.STRING: _text_cell, Kind.BINARY: _binary_cell,
    }
)  # fmt: skip


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


_FROM_CELL: Mapping[Kind, Callable[[Any, DataType], Any]] = MappingProxyType(
    {
        Kind.DATE: _date_value,
        Kind.UNIXTIME_MICROS: _timestamp_value,
        Kind.DECIMAL: _decimal_value,
    }
)
