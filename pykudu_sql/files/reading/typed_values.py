"""Values of files that have types, as those of columns; none loses a part.

A type of another family is refused before a row is read: a bool is no number, a number no text. Of
the same family a value goes in if it stays what it is: a DOUBLE of 2.0 into an INT, not one of 2.5;
a moment into a DATE, if it is a whole day; a DECIMAL with no more digits than the column has.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

import pyarrow as pa

from pykudu_sql.storage.common.coercion.coercion import coerce, is_bytes
from pykudu_sql.storage.common.coercion.rounded_decimals import rounded
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.stored_form import stored_type, stored_values
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.errors import InvalidSchemaError, InvalidValueError

_Test = Callable[[pa.DataType], bool]


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


_FAMILIES: Mapping[Kind, _Test] = MappingProxyType(
    {
        Kind.BOOL: pa.types.is_boolean,
        Kind.DATE: _is_time,
        Kind.UNIXTIME_MICROS: _is_time,
        Kind.VARCHAR: _is_text,
        Kind.STRING: _is_text,
        Kind.BINARY: is_bytes,
    }
)


def check_family(column: ColumnSchema, kind: pa.DataType, path: str) -> None:
    """See that values of a type may be values of a column.

    `path`: of the file that has them. Raises InvalidSchemaError: it is of another family.
    """
    value_type = stored_type(kind)
    in_family = _FAMILIES.get(column.type.kind, _is_number)
    if not in_family(value_type) and not pa.types.is_null(value_type):
        raise InvalidSchemaError(
            f"column '{column.name}' is {column.type}, and in '{path}' it is {kind!s:.80}",
            hint="write the file with that type, or name the columns to be read: COPY t (a, b)",
        )


def loses_digits(kind: pa.DataType, column: ColumnSchema) -> bool:
    """Whether values of a type may have more digits behind the point than a column."""
    return (
        column.type.kind is Kind.DECIMAL
        and pa.types.is_decimal(kind)
        and kind.scale > column.type.scale
    )


def read_values(values: pa.Array, column: ColumnSchema) -> pa.Array:
    """Values of a type that `check_family` takes, as those of a column.

    Raises InvalidValueError: one of them would lose a part; ValueOutOfRangeError: one of them is
    out of the range of the column.
    """
    values = stored_values(values)
    if not column.type.is_variable:
        values = plain(values)
    if loses_digits(values.type, column):
        check_digits(values, column)
    if column.type.kind is Kind.DATE and pa.types.is_timestamp(values.type):
        check_days(values, column)
    if column.type.kind is Kind.UNIXTIME_MICROS and pa.types.is_timestamp(values.type):
        _check_micros(values, column)
    if column.type.is_floating:
        check_whole_numbers(values, column)
    return coerce(values, column.type, column.name)


def check_digits(
    values: pa.Array | pa.ChunkedArray, column: ColumnSchema, hint: str | None = None
) -> None:
    """See that decimals have no more digits behind the point than a column.

    Raises InvalidValueError: one has.
    """
    wide = pa.decimal256(76, values.type.scale)
    is_exact = pc.equal(rounded(values, column.type.scale).cast(wide), values.cast(wide))
    _check_all(is_exact, values, f"has more digits than {column.type}", column, hint)


def check_whole_numbers(
    values: pa.Array | pa.ChunkedArray, column: ColumnSchema, hint: str | None = None
) -> None:
    """See that integers are not beyond those that FLOAT and DOUBLE all have.

    `column`: of one of these types. Raises InvalidValueError: one is.
    """
    if not pa.types.is_integer(values.type):
        return
    try:
        values.cast(column.type.arrow)
    except pa.ArrowInvalid:
        last = Decimal(2 ** (24 if column.type.kind is Kind.FLOAT else 53))
        is_exact = pc.less_equal(pc.abs(values.cast(pa.decimal128(20, 0))), last)
        _check_all(is_exact, values, f"has more digits than {column.type}", column, hint)


def check_days(
    values: pa.Array | pa.ChunkedArray, column: ColumnSchema, hint: str | None = None
) -> None:
    """See that timestamps are beginnings of days. Raises InvalidValueError: one is not."""
    zoneless = pa.timestamp(values.type.unit)
    days = values.cast(pa.date32(), safe=False).cast(zoneless)
    is_day = pc.equal(days, values.cast(zoneless))
    _check_all(is_day, values, "is more than a day, and it is DATE", column, hint)


def _check_micros(values: pa.Array, column: ColumnSchema) -> None:
    if values.type.unit == "ns":
        nanos = values.cast(pa.int64())
        whole = pc.equal(pc.multiply(pc.divide(nanos, 1000), 1000), nanos)
        _check_all(whole, nanos, "nanoseconds are no whole microseconds", column)


def _check_all(
    fits: pa.Array | pa.ChunkedArray,
    values: pa.Array | pa.ChunkedArray,
    problem: str,
    column: ColumnSchema,
    hint: str | None = None,
) -> None:
    if not pc.all(fits, min_count=0).as_py():
        wrong = values.filter(pc.invert(fits))[0]
        raise InvalidValueError(f"column '{column.name}': {wrong.as_py()} {problem}", hint=hint)
