"""Values beside number columns: a substitute compares as the value itself does."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.functions.decimal_values import (
    MAX_DIGITS,
    Digits,
    comparable,
    digits_of,
    digits_of_number,
    exact_number,
    is_wide,
    sort_key,
    unitable,
)
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError

NARROW = parse_type("DECIMAL(6,2)")
WIDE = parse_type("DECIMAL(38,2)")
NUMBERS = st.decimals(allow_nan=False, allow_infinity=False)
CELLS = st.decimals(Decimal("-9999.99"), Decimal("9999.99"), places=2)


def order(left: Decimal | int, right: Decimal | int) -> int:
    return (left > right) - (left < right)


@given(NUMBERS, CELLS)
def test_a_substitute_compares_with_every_value_of_the_column_as_the_number_does(
    number: Decimal, cell: Decimal
) -> None:
    substitute = comparable(number, NARROW)
    assert order(substitute, cell) == order(number, cell)
    column = digits_of(NARROW)
    assert column is not None
    assert digits_of_number(substitute).is_within(column.with_neighbours())


@given(NUMBERS, st.integers(-(10**38) + 1, 10**38 - 1))
def test_keys_of_a_wide_column_are_integers_in_the_order_of_the_numbers(
    number: Decimal, unscaled: int
) -> None:
    cell = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -2))
    assert order(int(sort_key(number)), int(sort_key(cell))) == order(number, cell)


def test_a_value_that_fits_and_one_that_is_no_number_stay_as_they_are() -> None:
    for value in (5, Decimal("1.25"), True, None, 1.5, "x", Decimal("NaN")):
        assert comparable(value, NARROW) is value
    assert comparable(Decimal("1.255"), NARROW) == Decimal("1.255")
    assert comparable(10**50, NARROW) == Decimal("10000.00")


def test_a_wide_column_takes_numbers_of_all_kinds_and_texts_that_are_numbers() -> None:
    assert is_wide(WIDE) and not is_wide(NARROW)
    keys = {comparable(value, WIDE) for value in (1, True, 1.0, " 1 ", Decimal("1.00"))}
    assert keys == {str(10 ** (MAX_DIGITS + 1))}
    beyond = int(comparable(10**38, WIDE))
    assert int(comparable(float("nan"), WIDE)) >= beyond
    assert int(comparable(float("-inf"), WIDE)) <= -beyond
    assert comparable(None, WIDE) is None
    with pytest.raises(InvalidValueError, match="cannot read 'one' as DECIMAL"):
        comparable("one", WIDE)


def test_values_that_need_a_common_type_keep_all_digits_or_are_refused() -> None:
    others = Digits(20, 10)
    assert unitable([1, None, "x"], others) == [1, None, "x"]
    (shifted,) = unitable([10**19], Digits(20, 15))
    assert (shifted, shifted.as_tuple().exponent) == (10**19, -15)
    with pytest.raises(ValueOutOfRangeError, match="no type of 38 digits in common"):
        unitable([Decimal("1E-30")], others)
    with pytest.raises(ValueOutOfRangeError):
        unitable([10**30], others)


@pytest.mark.parametrize(
    ("number", "digits"),
    [("0", (1, 0)), ("0.05", (0, 2)), ("-120.50", (3, 2)), ("1E+3", (4, 0)), ("1E-3", (0, 3))],
)
def test_digits_are_counted_as_they_are_written(number: str, digits: tuple[int, int]) -> None:
    assert digits_of_number(Decimal(number)) == Digits(*digits)


def test_only_integers_and_finite_decimals_are_exact() -> None:
    assert exact_number(3) == Decimal(3)
    for value in (True, 1.0, "1", Decimal("Infinity"), None):
        assert exact_number(value) is None
    assert digits_of(parse_type("DOUBLE")) is None
    assert digits_of(parse_type("BIGINT")) == Digits(19, 0)
