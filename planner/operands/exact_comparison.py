"""Which comparisons a scan decides exactly as the engine does.

A predicate of `comparison.compare` may be wider than the condition that it is made of, and the
engine filters again. Between a column and a value of its own kind it is not: both compare the same
integers, or the same bytes of text. Where that is so and no value is left to be converted, the
engine has nothing to add, not even an error.
"""

import datetime as dt

from pykudu_sql.planner.operands.comparison import DATE_TEXT, TIMESTAMP_TEXT
from pykudu_sql.storage.common.types.types import DataType, Kind

_BIGINT = range(-(1 << 63), 1 << 63)


def compares_exactly(column_type: DataType, value: object) -> bool:
    """Whether `column op value` holds for the very rows that `comparison.compare` keeps.

    `value`: a Python value as a literal or a parameter gives it; None is NULL.
    """
    kind = column_type.kind
    if value is None:
        return True
    if column_type.is_integer:
        return type(value) is int and value in _BIGINT
    if column_type.is_text:
        return type(value) is str and is_text(value)
    if kind is Kind.DATE:
        return type(value) is dt.date or (type(value) is str and is_date(value))
    if kind is Kind.UNIXTIME_MICROS:
        return _is_moment(value)
    return kind is Kind.BOOL and type(value) is bool


def _is_moment(value: object) -> bool:
    if type(value) is dt.datetime:
        return value.tzinfo is None
    return type(value) is dt.date or (type(value) is str and is_timestamp(value))


def is_text(value: str) -> bool:
    """Whether a text is valid Unicode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_date(text: str) -> bool:
    """Whether a text is a date in the one form that everybody reads alike."""
    return DATE_TEXT.fullmatch(text) is not None and _is_read(text)


def is_timestamp(text: str) -> bool:
    """Whether a text is a timestamp, without an offset, in a form that everybody reads alike."""
    return TIMESTAMP_TEXT.fullmatch(text) is not None and _is_read(text)


def _is_read(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
