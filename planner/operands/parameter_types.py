"""Which Python values may be parameters, and which columns each may be compared with.

A value of numpy is converted to the Python value. A value without a type in SQL is refused where a
statement takes its parameters; one that no column of a type can be compared with, before a row is
read, so that the answer does not depend on the rows.
"""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pykudu_sql.storage.common.types.cells import in_micros
from pykudu_sql.storage.common.types.numpy_scalars import is_beyond_micros, micros_of
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.common.types.value_text import number_text
from pykudu_sql.storage.errors import InterfaceError, InvalidValueError

if TYPE_CHECKING:
    import numpy as np

PLAIN = frozenset(
    {NoneType, bool, int, float, str, bytes, Decimal}
    | {dt.date, dt.datetime, dt.time, dt.timedelta, UUID}
)
PASSED_UNCHANGED = PLAIN - {dt.datetime, Decimal}  # the others have values that SQL has not
_BASES = tuple(PLAIN - {NoneType, bool})
_NUMBERS: tuple[type, ...] = (int, float, Decimal, str)  # a bool is an int
_MOMENTS: tuple[type, ...] = (dt.date, str)  # a datetime is a date
_COMPARED_WITH: Mapping[Kind, tuple[type, ...]] = MappingProxyType(
    dict.fromkeys(Kind, _NUMBERS)
    | dict.fromkeys((Kind.DATE, Kind.UNIXTIME_MICROS), _MOMENTS)
    | dict.fromkeys((Kind.STRING, Kind.VARCHAR), (str,))
    | {Kind.BINARY: (bytes, str)}
)
_INSTEAD: Mapping[Kind, str] = MappingProxyType(
    dict.fromkeys(Kind, "pass a number, or text that is one")
    | dict.fromkeys((Kind.DATE, Kind.UNIXTIME_MICROS), "pass a date, a datetime or ISO text")
    | dict.fromkeys((Kind.STRING, Kind.VARCHAR), "pass text, as str(value) makes it")
    | {Kind.BINARY: "pass bytes", Kind.BOOL: "pass True or False"}
)


def parameter_name(key: int | str) -> str:
    """A parameter as messages name it."""
    return f"parameter :{key}" if isinstance(key, str) else f"parameter number {key + 1}"


def sql_value(value: object, key: int | str, column: str) -> Any:
    """The plain Python value of a parameter.

    `value`: of the caller; `column`: that receives or meets it; empty if that is none. Raises
    InterfaceError: SQL has no value for it; InvalidValueError: it is numpy's or pandas' NaT, a
    time beyond those of Python, or a signalling NaN.
    """
    import numpy as np

    if type(value) in PASSED_UNCHANGED:
        return value
    if isinstance(value, np.generic):
        return _numpy_value(value, key, column)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, _BASES):
        if isinstance(value, Decimal) and value.is_snan():
            raise _no_number(key, column)
        if isinstance(value, dt.date) and not _is_time(value):
            raise _no_time(value, key, column)
        return in_micros(value) if isinstance(value, dt.datetime) else value
    target = f" for column '{column}'" if column else ""
    raise InterfaceError(
        f"{parameter_name(key)}{target}: a value of type {type(value).__name__} "
        "cannot be a parameter",
        hint="pass a number, text, bytes, Decimal, date, datetime or None; IN (?) takes a list",
        sqlstate="07006",
    )


def check_comparable(value: object, column_type: DataType, key: int | str, column: str) -> None:
    """Refuse a value that no cell of a column's type is compared with.

    `value`: as `sql_value` gives it; `column`: that it is compared with; empty if that is computed.
    Raises InterfaceError: it is such a value.
    """
    kind = column_type.kind
    if value is None or isinstance(value, _COMPARED_WITH[kind]):
        return
    target = f"column '{column}'" if column else "a value"
    name = type(value).__name__
    text = number_text(value) if isinstance(value, int) else str(value)
    value_type = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    raise InterfaceError(
        f"{parameter_name(key)} is {value_type}, {text!r:.80}, which cannot be "
        f"compared with {target} of type {column_type}",
        hint=_INSTEAD[kind],
        sqlstate="07006",
    )


def incomparable_list(key: int | str, type_text: str) -> InterfaceError:
    """The error for a parameter whose list meets a single value of a type."""
    return InterfaceError(
        f"{parameter_name(key)} is a list, which cannot be compared with a value of type "
        f"{type_text}",
        hint="IN (?) takes a list",
        sqlstate="07006",
    )


def _numpy_value(value: "np.generic", key: int | str, column: str) -> Any:
    """A scalar of numpy; times to the microsecond, since finer ones are integers to Python."""
    import numpy as np

    if isinstance(value, np.datetime64 | np.timedelta64):
        if np.isnat(value) or is_beyond_micros(value):
            raise _no_time(value, key, column)
        if isinstance(value, np.datetime64):
            plain = np.datetime64(micros_of(value), "us").item()
        else:
            plain = value.astype("timedelta64[us]").item()
        if not isinstance(plain, dt.date | dt.timedelta):
            raise _no_time(value, key, column)
        return plain
    if isinstance(value, np.longdouble):
        return float(value)
    return sql_value(value.item(), key, column)


def _is_time(value: dt.date) -> bool:
    """Whether a date or time is one in UTC, of the years that Python has."""
    if value != value:
        return False  # NaT of pandas is unequal to itself
    if not isinstance(value, dt.datetime) or value.tzinfo is None:
        return True
    try:
        value.astimezone(dt.UTC)
    except OverflowError:
        return False
    return True


def _no_number(key: int | str, column: str) -> InvalidValueError:
    target = f" for column '{column}'" if column else ""
    return InvalidValueError(
        f"{parameter_name(key)}{target}: a signalling NaN is no value of SQL",
        hint="pass Decimal('NaN') where it meets a DOUBLE, None for NULL",
    )


def _no_time(value: object, key: int | str, column: str) -> InvalidValueError:
    target = f" for column '{column}'" if column else ""
    return InvalidValueError(
        f"{parameter_name(key)}{target}: {str(value)!r:.80} is no time of the years 1 to 9999",
        hint="pass None for NULL",
    )
