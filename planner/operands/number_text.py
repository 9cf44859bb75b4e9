"""The text of a number, read exactly as it is written."""

import re
from decimal import Decimal

_MOST_DIGITS = 80  # more than any type of numbers has, before and behind the point
_NUMBER = re.compile(
    r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)[ \t\n\v\f\r]*"
)


def exact_number_text(text: str) -> Decimal | None:
    """The number that a text is; None of what is none, or is of very many digits.

    Blanks around it do not count. Nothing is rounded.
    """
    match = _NUMBER.fullmatch(text) if len(text) <= 2 * _MOST_DIGITS else None
    if match is None:
        return None
    number = Decimal(match[1])
    exponent = number.as_tuple().exponent
    is_small = isinstance(exponent, int) and exponent >= -_MOST_DIGITS
    return number if is_small and number.adjusted() < _MOST_DIGITS else None
