"""Values as messages quote them: short, and with their type where SQL has no literal for them."""

import datetime as dt
import math
from decimal import Decimal

from pykudu_sql.storage.common.types.numpy_scalars import is_numpy_scalar, shortest_double

WRITTEN_BITS = 2000  # of integers that Python writes out under every limit of digits


def number_text(number: "int | float | Decimal") -> str:
    """A number as a message quotes it, of at most 80 characters.

    Of an integer that Python does not write out it is the power of ten below it.
    """
    if isinstance(number, int) and number.bit_length() > WRITTEN_BITS:
        power = int((number.bit_length() - 1) * math.log10(2))
        return f"about {'-' if number < 0 else ''}1e{power}"
    return f"{number!s:.80}"


def quote_value(value: object) -> str:
    """A value as a message quotes it; one of a type without literals with its type."""
    import pyarrow as pa

    value = shortest_double(value)
    if is_numpy_scalar(value) or isinstance(
        value, Decimal | dt.date | dt.time | dt.timedelta | list | dict
    ):
        return f"{value!s:.80}"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, str | bytes | bytearray):
        return f"{value!r:.80}"
    if isinstance(value, pa.MonthDayNano):
        return "an interval"
    try:
        return f"{with_article(type(value).__name__)}, {str(value)!r:.80},"
    except Exception:  # of the value's own code
        return with_article(type(value).__name__)


def with_article(noun: str) -> str:
    """A noun behind `a` or `an`: a name of a type, such as `int`, `UUID` or `ndarray`."""
    begins_with_vowel = noun[:1].lower() in "aeio" or noun == "ndarray"
    return f"{'an' if begins_with_vowel else 'a'} {noun}"
