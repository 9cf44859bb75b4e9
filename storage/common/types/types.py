"""The type table: the one place that maps a type to Arrow, numpy and SQL.

The thirteen types of Kudu (`common/types.h`), under SQL names and under Kudu's own. A value has
three faces; `cells` converts single ones between them, `arrays` batches:

- the *Arrow* face, in batches: decimals as decimal32/64/128 by precision, timestamps as
  microseconds without zone, strings as utf8 or as a dictionary of utf8;
- the *cell*, in single-row paths and statistics: the stored form as a plain Python value (int for
  integers, days for DATE, microseconds for TIMESTAMP, the unscaled int for DECIMAL, float, bool,
  str, bytes, None for NULL);
- the *Python* face, which users hand in and get back (`datetime.date`, `Decimal`, ...).

Compressions are named here too, and the default of encodings.
"""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NewType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import InvalidSchemaError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

# The name of a column encoding; `cfile/encoding/type_encodings` has those there are, by type.
Encoding = NewType("Encoding", str)
AUTO_ENCODING = Encoding("AUTO_ENCODING")

Cell = bool | int | float | str | bytes | None

MAX_CELL_BYTES = 64 * 1024
_WORD_BYTES = 8
EPOCH = dt.datetime(1970, 1, 1)
EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
MIN_DATE = dt.date.min.toordinal() - EPOCH_DAY
MAX_DATE = dt.date.max.toordinal() - EPOCH_DAY
MIN_MICROS = (dt.datetime.min - EPOCH) // dt.timedelta(microseconds=1)
MAX_MICROS = (dt.datetime.max - EPOCH) // dt.timedelta(microseconds=1)


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


class Compression(StrEnum):
    """Block compressions; DEFAULT_COMPRESSION is none, as in Kudu."""

    DEFAULT_COMPRESSION = "DEFAULT_COMPRESSION"
    NO_COMPRESSION = "NO_COMPRESSION"
    LZ4 = "LZ4"
    SNAPPY = "SNAPPY"
    ZLIB = "ZLIB"
    ZSTD = "ZSTD"


_INTEGER_BITS = MappingProxyType({Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64})
INTEGER_RANGES = MappingProxyType(
    {kind: (-(1 << bits - 1), (1 << bits - 1) - 1) for kind, bits in _INTEGER_BITS.items()}
    | {Kind.DATE: (MIN_DATE, MAX_DATE), Kind.UNIXTIME_MICROS: (-(1 << 63), (1 << 63) - 1)}
)
_TEXT = frozenset({Kind.VARCHAR, Kind.STRING})
_VARIABLE = frozenset({Kind.VARCHAR, Kind.STRING, Kind.BINARY})
_NOT_IN_KEY = frozenset({Kind.BOOL, Kind.FLOAT, Kind.DOUBLE})

# What a kind is called in SQL, without parameters.
SQL_NAMES: Mapping[Kind, str] = {
        Kind.BOOL: "BOOLEAN", Kind.INT8: "TINYINT", Kind.INT16: "SMALLINT", Kind.INT32: "INT",
        Kind.INT64: "BIGINT", Kind.DATE: "DATE", Kind.UNIXTIME_MICROS: "TIMESTAMP",
        Kind.FLOAT: "FLOAT", Kind.DOUBLE: "DOUBLE", Kind.DECIMAL: "DECIMAL",
        Kind.VARCHAR: "VARCHAR", Kind.STRING: "STRING", Kind.BINARY: "BINARY",
    }  # fmt: skip

_WIDTHS: Mapping[Kind, int] = {
        Kind.BOOL: 1, Kind.INT8: 1, Kind.INT16: 2, Kind.INT32: 4, Kind.INT64: 8, Kind.DATE: 4,
        Kind.UNIXTIME_MICROS: 8, Kind.FLOAT: 4, Kind.DOUBLE: 8,
    }  # fmt: skip


@cache
def _arrow_types() -> "Mapping[Kind, pa.DataType]":
    """The Arrow types of all kinds but DECIMAL."""
    import pyarrow as pa

    return {
        Kind.BOOL: pa.bool_(), Kind.INT8: pa.int8(), Kind.INT16: pa.int16(),
        Kind.INT32: pa.int32(), Kind.INT64: pa.int64(), Kind.DATE: pa.date32(),
        Kind.UNIXTIME_MICROS: pa.timestamp("us"), Kind.FLOAT: pa.float32(),
        Kind.DOUBLE: pa.float64(), Kind.VARCHAR: pa.string(), Kind.STRING: pa.string(),
        Kind.BINARY: pa.binary(),
    }  # fmt: skip


@cache
def _numpy_type(kind: Kind, width: int) -> "np.dtype[Any] | None":
    """The numpy type of values of a kind, which are so many bytes wide."""
    import numpy as np

    if kind is Kind.BOOL:
        return np.dtype(np.bool_)
    letter = "f" if kind in (Kind.FLOAT, Kind.DOUBLE) else "i"
    return np.dtype(f"<{letter}{width}") if 0 < width <= _WORD_BYTES else None


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
    def arrow(self) -> "pa.DataType":
        """The Arrow type that batches carry."""
        if self.kind is Kind.DECIMAL:
            import pyarrow as pa

            make = {4: pa.decimal32, 8: pa.decimal64, 16: pa.decimal128}[self.width]
            return make(self.precision, self.scale)
        return _arrow_types()[self.kind]

    @property
    def width(self) -> int:
        """Bytes of a fixed-width value (1 for BOOL); 0 for strings and binaries."""
        if self.kind is Kind.DECIMAL:
            return 4 if self.precision <= 9 else 8 if self.precision <= 18 else 16
        return _WIDTHS.get(self.kind, 0)

    @property
    def numpy(self) -> "np.dtype[Any] | None":
        """The numpy type of the stored values; None for variable-length and 16-byte values."""
        return _numpy_type(self.kind, self.width)

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
    def has_one_word(self) -> bool:
        """Whether values are kept as integers of 64 bits at most: numbers, decimals and times."""
        return self.integer_range is not None and self.width <= _WORD_BYTES

    @property
    def integer_range(self) -> tuple[int, int] | None:
        """Smallest and largest stored value of a type kept as an integer, else None."""
        if self.kind is Kind.DECIMAL:
            top = 10**self.precision - 1
            return -top, top
        return INTEGER_RANGES.get(self.kind)


def decimal_type(precision: int, scale: int) -> DataType:
    """DECIMAL(precision, scale).

    Raises InvalidSchemaError: precision outside 1..38, or scale outside 0..precision.
    """
    if not 1 <= precision <= 38 or not 0 <= scale <= precision:
        raise InvalidSchemaError(
            f"DECIMAL({precision},{scale}) is out of range",
            hint="precision is 1 to 38, scale 0 to precision",
        )
    return DataType(Kind.DECIMAL, precision=precision, scale=scale)
