"""numpy's scalars among Python values, recognized without loading numpy.

A value can be a scalar of numpy only in a process that has loaded numpy; before, none is.
"""

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import numpy as np

_DAY = 86400.0
_DOUBLE_BYTES = 8
# Of numpy's units; the finer ones do not reach so far.
_SECONDS: Mapping[str, float] = MappingProxyType(
    {"Y": 365.2425 * _DAY, "M": 30.436875 * _DAY, "W": 7 * _DAY, "D": _DAY}
    | {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
)
_FINER = frozenset({"ns", "ps", "fs", "as"})
_MOST_SECONDS = 9.2e12  # 2**63 microseconds are a few more


def is_numpy_bool(value: object) -> "TypeGuard[np.bool_]":
    """Whether a value is a truth value of numpy."""
    return _is_of_class(value, "bool_")


def is_numpy_integer(value: object) -> "TypeGuard[np.integer[Any]]":
    """Whether a value is an integer of numpy, of any size."""
    return _is_of_class(value, "integer")


def is_numpy_float(value: object) -> "TypeGuard[np.floating[Any]]":
    """Whether a value is a floating-point number of numpy, of any size."""
    return _is_of_class(value, "floating")


def is_short_float(value: object) -> "TypeGuard[np.floating[Any]]":
    """Whether a value is a floating-point number of numpy with fewer bits than a double."""
    return is_numpy_float(value) and value.itemsize < _DOUBLE_BYTES


def is_numpy_number(value: object) -> "TypeGuard[np.number[Any]]":
    """Whether a value is a real number of numpy; its truth values are none."""
    return is_numpy_integer(value) or is_numpy_float(value)


def is_numpy_datetime(value: object) -> "TypeGuard[np.datetime64]":
    """Whether a value is a date or time of numpy."""
    return _is_of_class(value, "datetime64")


def is_numpy_day(value: "np.datetime64") -> bool:
    """Whether a time of numpy has the unit of days."""
    import numpy as np

    return np.datetime_data(value.dtype)[0] == "D"


def is_numpy_scalar(value: object) -> "TypeGuard[np.generic]":
    """Whether a value is a scalar of numpy."""
    return _is_of_class(value, "generic")


def _is_of_class(value: object, name: str) -> bool:
    # Another thread may be loading numpy, which has not all of its classes then.
    return isinstance(value, getattr(sys.modules.get("numpy"), name, ()))


def is_beyond_micros(value: "np.datetime64 | np.timedelta64") -> bool:
    """Whether a time is so far that numpy would wrap it around as 64 bits of microseconds.

    `value`: not NaT.
    """
    import numpy as np

    unit, count = np.datetime_data(value.dtype)
    seconds = abs(float(value.astype("int64"))) * count * _SECONDS.get(unit, 0.0)
    return seconds > _MOST_SECONDS


def micros_of(value: "np.datetime64") -> int:
    """A time as microseconds since 1970; finer ones are rounded, halves up, as Arrow does.

    `value`: not NaT and not `is_beyond_micros`.
    """
    import numpy as np

    if np.datetime_data(value.dtype)[0] in _FINER:
        return (int(value.astype("datetime64[ns]").astype("int64")) + 500) // 1000
    return int(value.astype("datetime64[us]").astype("int64"))


def shortest_double(number: Any) -> Any:
    """The double that is written like a shorter float of numpy; others as they are.

    A float of 16 bits counts as the FLOAT that it equals, which is what Arrow's become.
    """
    return float(str(number.astype("f4"))) if is_short_float(number) else number
