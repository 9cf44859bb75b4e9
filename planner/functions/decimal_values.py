"""Values compared with a number column, written so that the engine compares them exactly.

The engine compares decimals in a common type of at most 38 digits, and fails or takes doubles where
that is too narrow. Where a column leaves room for it, a parameter that would need more is replaced
by a neighbour: the half between the column's two nearest values, or one just beyond its range,
compares with all of them alike. Else both sides are compared as integers of any length.
"""

import math
import struct
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.cells import from_cell, to_cell
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError

MAX_DIGITS = 38
_ROOM = 2  # digits that a neighbour needs beyond those of the column
FEWER_DIGITS = (
    "CAST one to fewer digits behind the point, as CAST(x AS DECIMAL(38,20)), or to DOUBLE"
)
BEYOND = 10**MAX_DIGITS
KEY_SCALE = MAX_DIGITS + 1  # digits behind the point in a key: one more than any DECIMAL has
_EXACTLY = Context(prec=1000, Emax=MAX_EMAX, Emin=MIN_EMIN)
_MOST_EXPONENT = 100  # beyond it a value is as far out, or as near to zero, as any


@dataclass(frozen=True, slots=True)
class Digits:
    """The digits of a number's type, before the point and behind it."""

    whole: int
    scale: int

    def fits_beside(self, other: "Digits") -> bool:
        """Whether one type of the engine has all values of both."""
        return max(self.whole, other.whole) + max(self.scale, other.scale) <= MAX_DIGITS

    def is_within(self, other: "Digits") -> bool:
        """Whether the other type has all values of this."""
        return self.whole <= other.whole and self.scale <= other.scale

    def with_neighbours(self) -> "Digits":
        """The type of its values and of their substitutes."""
        return Digits(self.whole + 1, self.scale + 1)


def digits_of(data_type: DataType) -> Digits | None:
    """The digits of a stored type; None if it is no exact number."""
    if data_type.kind is Kind.DECIMAL:
        return Digits(data_type.precision - data_type.scale, data_type.scale)
    limits = data_type.integer_range if data_type.is_integer else None
    return None if limits is None else Digits(len(str(limits[1])), 0)


def is_wide(data_type: DataType) -> bool:
    """Whether a column leaves no room for neighbours of its values in the engine's types."""
    return data_type.precision > MAX_DIGITS - _ROOM


def exact_number(value: object) -> Decimal | None:
    """An integer or a decimal as a decimal; None for what is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    return value if isinstance(value, Decimal) and value.is_finite() else None


def digits_of_number(value: Decimal) -> Digits:
    """The digits that a number is written with."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    return Digits(max(0, len(digits) + exponent), max(0, -exponent))


def comparable(value: Any, data_type: DataType) -> Any:
    """A parameter's value in place of which it is compared with a column.

    `value`: of the caller; `data_type`: of the column, a number, or TIMESTAMP for a text that is to
    be read as one. Raises InvalidValueError: a text is compared with a wide column, and is no
    number, or is no time.
    """
    if data_type.kind is Kind.UNIXTIME_MICROS:
        return from_cell(to_cell(value, data_type), data_type) if isinstance(value, str) else value
    if data_type.kind is Kind.FLOAT and isinstance(value, float):
        nearest = nearest_float(value)
        return value if nearest is None else nearest
    if is_wide(data_type):
        return _key_of(value, data_type)
    number = exact_number(value)
    column = digits_of(data_type)
    if number is None or column is None or digits_of_number(number).is_within(column):
        return value
    return _neighbour(number, column)


def nearest_float(value: float) -> float | None:
    """The FLOAT nearest to a number; None if it is beyond them all."""
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return None
    return nearest


def unitable(values: Sequence[Any], others: Digits) -> list[Any]:
    """The values of parameters that become one column, list or value with decimals.

    The engine finds a type of 38 digits for what is handed over and the others, with all digits of
    both. `values`: of the caller; `others`: the digits that the others have together. Raises
    ValueOutOfRangeError: there is none, and the engine would round.
    """
    numbers = [exact_number(value) for value in values]
    digits = [
        _digits_handed_over(value, number)
        for value, number in zip(values, numbers, strict=True)
        if number is not None
    ]
    together = Digits(
        max([others.whole, *(each.whole for each in digits)]),
        max([others.scale, *(each.scale for each in digits)]),
    )
    if together.fits_beside(together):
        return list(values)
    return [
        value if number is None else _with_scale(number, others)
        for value, number in zip(values, numbers, strict=True)
    ]


def _digits_handed_over(value: Any, number: Decimal) -> Digits:
    """The digits of the type as which the engine takes a number."""
    if isinstance(value, Decimal):
        return digits_of_number(number)
    bits = number.copy_abs() >= 1 << 31, number.copy_abs() >= 1 << 63
    return Digits((10, 19, MAX_DIGITS + 1)[sum(bits)], 0)


def _with_scale(number: Decimal, others: Digits) -> Decimal:
    """A number with as many digits behind the point as others have."""
    least = digits_of_number(number.normalize(_EXACTLY)) if number else Digits(0, 0)
    if least.scale > others.scale or least.whole > MAX_DIGITS - others.scale:
        raise ValueOutOfRangeError(
            f"parameter {number} and DECIMAL({MAX_DIGITS},{others.scale}) have no type of "
            f"{MAX_DIGITS} digits in common",
            hint=FEWER_DIGITS,
        )
    return number.quantize(Decimal((0, (1,), -others.scale)), context=_EXACTLY)


def sort_key(value: Decimal) -> str:
    """The integer that compares with those of other numbers as a number does with them, as text.

    It is the number in units of 10 to the power of -`KEY_SCALE`. One that has more digits is put
    halfway between two that have not.
    """
    if value.adjusted() > _MOST_EXPONENT:
        return str((-1 if value < 0 else 1) * BEYOND * BEYOND * BEYOND)
    if value and value.adjusted() < -_MOST_EXPONENT:
        return "-5" if value < 0 else "5"
    exact = Fraction(value) * 10**MAX_DIGITS
    floor = math.floor(exact)
    return str(10 * floor + 5 * (exact != floor))


def _key_of(value: Any, data_type: DataType) -> Any:
    if isinstance(value, str):
        try:
            value = Decimal(value.strip())
        except InvalidOperation as error:
            raise InvalidValueError(f"cannot read {value!r} as {data_type}") from error
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, Decimal) and not value.is_finite():
        # NaN is beyond all numbers, as in the engine.
        value = -BEYOND if value.is_infinite() and value < 0 else BEYOND
    number = exact_number(value)
    return value if number is None else sort_key(number)


def _neighbour(value: Decimal, column: Digits) -> Decimal:
    """A number that compares with every value of a column as another does, in few digits."""
    limit = 10 ** (column.whole + column.scale)
    if value.adjusted() > _MOST_EXPONENT:
        halves = -2 * limit if value < 0 else 2 * limit
    elif value and value.adjusted() < -_MOST_EXPONENT:
        halves = -1 if value < 0 else 1
    else:
        exact = Fraction(value) * 10**column.scale
        floor = math.floor(exact)
        halves = 2 * floor + (exact != floor)
        halves = max(-2 * limit, min(2 * limit, halves))
    digits = tuple(map(int, str(abs(halves) * 5)))
    return Decimal((int(halves < 0), digits, -column.scale - 1))
