"""Values of parameters that a statement is planned with: PostgreSQL's custom plan.

Most parameters stay open in a plan, which is cached and run with other values: a generic plan. A
moment to read at, a bound of a partition, a default and the values of a list cannot stay open: such
a statement is planned with the values of one execution, and its plan is run once. The numbers of
LIMIT and OFFSET could stay open, but then decide nothing of what is read.
"""

from collections.abc import Iterable
from dataclasses import field
from functools import cache
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.parameter_types import PLAIN
from pykudu_sql.planner.operands.value import ParameterKey, ParameterValues, parameter_value

_MOST_ROWS = (1 << 63) - 1
_LISTS = (list, tuple, set, frozenset, range)


@dataclass(frozen=True, slots=True)
class BoundParameters:
    """The parameter values of one execution, and which of them the plan depends on.

    Attributes:
        text: of the statement.
        values: of its parameters.
        used: the keys of those that the plan depends on.
        counts: the keys of those that are numbers of rows. The plan depends on them too, and is
            kept for them: a text is run with few of them.
    """

    text: str
    values: ParameterValues
    used: set[ParameterKey] = field(default_factory=set)
    counts: set[ParameterKey] = field(default_factory=set)

    def value(self, key: ParameterKey, clause: str) -> Any:
        """The value of a parameter, as a plain Python value, on which the plan depends from now on.

        `clause`: where it stands. Raises InterfaceError: none was given, or SQL has no value for
        it.
        """
        value = parameter_value(self.values, key, clause)
        self.used.add(key)
        return value

    def count_of(self, key: ParameterKey) -> int | None:
        """The value of a parameter that is a number of rows, on which the plan depends then."""
        value = row_count(self.values, key)
        if value is not None:
            self.counts.add(key)
        return value

    def list_of(self, key: ParameterKey) -> list[Any] | None:
        """The values of a parameter that is a list, on which the plan depends then; else None."""
        if isinstance(key, int):
            at_hand = not isinstance(self.values, dict) and key < len(self.values)
        else:
            at_hand = isinstance(self.values, dict) and key in self.values
        value: Any = self.values[key] if at_hand else None  # type: ignore[index]
        if not _is_list(value):
            return None
        self.used.add(key)
        if _is_series(value):
            return _series_values(value)
        return list(value.to_pylist() if hasattr(value, "to_pylist") else value)


def row_count(values: ParameterValues, key: ParameterKey) -> int | None:
    """The value of a parameter if it is an integer of 64 bits that is not negative."""
    try:
        value = values[key]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return None
    return value if type(value) is int and 0 <= value <= _MOST_ROWS else None


def _is_list(value: object) -> bool:
    is_single = getattr(value, "ndim", 1) == 0  # an array of numpy without dimensions
    return not is_single and (isinstance(value, (*_LISTS, *_array_types())) or _is_series(value))


def _is_series(value: object) -> bool:
    """Whether a value is a Series, Index or array of pandas, or a Series of polars.

    Neither library is loaded to find that out.
    """
    if isinstance(value, type):
        return False
    is_of_pandas = hasattr(value, "isna") and hasattr(value, "tolist")
    return is_of_pandas or (hasattr(value, "null_count") and hasattr(value, "to_list"))


def _series_values(series: Any) -> list[Any]:
    """The values of a Series; what pandas counts as missing is NULL, as in its frames."""
    if hasattr(series, "null_count"):
        return list(series.to_list())
    values = list(series.tolist())
    try:
        missing = series.isna()
    except NotImplementedError:  # rows of an index of several columns
        return values
    return [None if is_null else each for each, is_null in zip(values, missing, strict=True)]


@cache
def _array_types() -> tuple[type, ...]:
    """The arrays of numpy and Arrow, which are lists of values too."""
    import numpy as np
    import pyarrow as pa

    return np.ndarray, pa.Array, pa.ChunkedArray


def has_list(parameters: ParameterValues) -> bool:
    """Whether one of some parameters is a list, so that no plan can be kept for it."""
    if type(parameters) is tuple or type(parameters) is list:
        values: Iterable[Any] = parameters
    elif type(parameters) is dict:
        values = parameters.values()
    else:
        return False
    return not PLAIN.issuperset(map(type, values)) and any(map(_is_list, values))


def can_bind(parameters: ParameterValues | None) -> bool:
    """Whether a statement can be planned with these: some, in a container of Python's own."""
    return type(parameters) in (tuple, list, dict) and len(parameters) > 0  # type: ignore[arg-type]
