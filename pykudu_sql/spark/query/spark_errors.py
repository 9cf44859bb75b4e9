"""Spark's errors as ours: by what the caller can do next, without the traces of two languages."""

import re
from collections.abc import Mapping

from pyspark.errors import PySparkException

from pykudu_sql.spark.failures import find_error, first_sentence
from pykudu_sql.storage.errors import (
    DataError,
    Error,
    InvalidValueError,
    OperationalError,
    QueryCancelledError,
    ValueOutOfRangeError,
)

_BY_CONDITION: Mapping[str, type[Error]] = {
    "ARITHMETIC_OVERFLOW": ValueOutOfRangeError,
    "BINARY_ARITHMETIC_OVERFLOW": ValueOutOfRangeError,
    "CAST_OVERFLOW": ValueOutOfRangeError,
    "DATETIME_OVERFLOW": ValueOutOfRangeError,
    "NUMERIC_OUT_OF_SUPPORTED_RANGE": ValueOutOfRangeError,
    "NUMERIC_VALUE_OUT_OF_RANGE": ValueOutOfRangeError,
    "CAST_INVALID_INPUT": InvalidValueError,
}
_SEVERAL_ROWS = "SCALAR_SUBQUERY_TOO_MANY_ROWS"
_CONDITION = re.compile(r"\[([A-Z_0-9]+)(?:\.[\w.]+)?\] ([^\n]*)")
_CANCELLED = re.compile(r"cancelled part of cancelled job group|Job \d+ cancelled")


def translate(error: Exception) -> Error:
    """The error to raise for one that came out of Spark; an error of ours stays what it is."""
    if isinstance(error, Error):
        return error
    text = str(error)
    own = find_error(text)
    if own is not None:
        return own
    if _CANCELLED.search(text):
        return QueryCancelledError("the statement was interrupted")
    match = _CONDITION.search(text)
    condition, message = match.groups() if match is not None else ("", first_sentence(text))
    if isinstance(error, PySparkException):
        condition = error.getCondition() or condition
    condition = condition.partition(".")[0]
    if condition == _SEVERAL_ROWS:
        return DataError("a subquery used as a value returned more than one row", sqlstate="21000")
    kind = _BY_CONDITION.get(condition)
    if kind is not None:
        # What follows is about Spark's settings and functions.
        return kind(message.partition(". ")[0])
    return OperationalError(f"the Spark job failed: {message}")
