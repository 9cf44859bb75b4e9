"""The values of a query's parameters, as the engine takes them."""

import datetime as dt
from decimal import Decimal
from itertools import zip_longest
from math import inf
from types import NoneType
from typing import Any
from uuid import UUID

import numpy as np

from pykudu_sql.planner.functions.decimal_values import comparable
from pykudu_sql.planner.functions.zoned_text import in_utc
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.value import ParameterValues, parameter_value
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import InterfaceError, ValueOutOfRangeError

_SCALARS = frozenset(
    {NoneType, bool, int, float, str, bytes, Decimal}
    | {dt.date, dt.datetime, dt.time, dt.timedelta, UUID}
)
_HUGE = 1 << 127
_BEYOND_DOUBLES = 10**308


def parameter_values(query: Query, parameters: ParameterValues) -> list[Any]:
    """The values of a query's `$1`, `$2`, ...

    Raises:
        InterfaceError: one was not given, or is no value of SQL.
        UnicodeEncodeError: a text has half of a surrogate pair.
    """
    values = []
    for key, met in zip_longest(query.parameters, query.met):
        given = parameter_value(parameters, key)
        value = _scalar(given) if met is None else _compared(given, met)
        is_text = isinstance(value, str) and key in query.moments
        values.append(in_utc(value) if is_text else value)
    return values


def _compared(value: Any, met: DataType) -> Any:
    """A value for the engine to compare with a number; an integer beyond its own is a double."""
    if isinstance(value, np.generic):
        value = value.item()
    compared = comparable(value, met)
    if isinstance(compared, int) and not -_HUGE <= compared < _HUGE:
        return float(compared) if abs(compared) < _BEYOND_DOUBLES else inf if compared > 0 else -inf
    return _scalar(compared)


def _scalar(value: Any) -> Any:
    if isinstance(value, int) and not -_HUGE <= value < _HUGE:  # the engine would wrap some around
        raise ValueOutOfRangeError("an integer parameter does not fit into 128 bits")
    if isinstance(value, str) and not value.isascii():
        value.encode()  # A surrogate alone is no text; see `parameter_values`.
    if type(value) in _SCALARS:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, int | float | str | Decimal | dt.date):
        return value
    raise InterfaceError(
        f"a value of type {type(value).__name__} cannot be a parameter",
        hint="pass a number, text, bytes, Decimal, date, datetime or None; IN takes one ? a value",
        sqlstate="07006",
    )
