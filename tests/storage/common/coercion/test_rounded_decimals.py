"""Decimals are rounded as Python's are, whatever their size."""

from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.coercion.rounded_decimals import rounded
from pykudu_sql.storage.common.types.type_names import parse_type

CONTEXT = Context(prec=100)


def _near(base: int, power: int, distance: int, part: int, sign: int) -> Decimal:
    """A number near a power, with 12 digits behind the point."""
    unscaled = (base**power + distance) * 10**12 + part
    return CONTEXT.scaleb(Decimal(sign * unscaled), -12)


# Near powers of 2 and of 10 divisions of several words have their rare cases.
NUMBERS = st.builds(
    _near,
    st.sampled_from([2, 10]),
    st.integers(0, 36),
    st.integers(-3, 3),
    st.integers(0, 10**12 - 1) | st.just(5 * 10**11),
    st.sampled_from([1, -1]),
) | st.builds(
    _near,
    st.just(2),
    st.integers(0, 120),
    st.just(0),
    st.just(5 * 10**11),
    st.sampled_from([1, -1]),
)


def _expected(value: Decimal, scale: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, CONTEXT)


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.integers(12, 38), st.integers(0, 11))
def test_any_decimal_is_rounded_exactly(values: list[Decimal], digits: int, scale: int) -> None:
    fitting = [value for value in values if abs(value) < Decimal(10) ** (75 - digits)]
    array = pa.array(fitting, pa.decimal256(76, digits))
    result = rounded(array, scale)
    assert result.type.scale == scale
    assert result.to_pylist() == [_expected(value, scale) for value in fitting]


@given(st.lists(st.integers(-(10**37) + 1, 10**37 - 1), max_size=9), st.integers(1, 30))
def test_decimals_of_128_bits_are_rounded_exactly(unscaled: list[int], digits: int) -> None:
    values = [CONTEXT.scaleb(Decimal(number), -digits) for number in unscaled]
    for scale in (0, digits - 1):
        result = rounded(pa.array(values, pa.decimal128(37, digits)), scale)
        assert result.type.scale == scale
        assert result.to_pylist() == [_expected(value, scale) for value in values]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("18446744073709551615", "DECIMAL(38,2)"),
        ("18446744073709551615.60", "DECIMAL(38,2)"),
        ("9007199254740991.5", "DECIMAL(18,0)"),
        ("9223372036854775807.5", "DECIMAL(38,0)"),
        ("-39614081257132168796771975167.4", "DECIMAL(38,0)"),
        ("999999999999999999999999999999999999.5", "DECIMAL(38,0)"),
        ("9007199254740991.95", "DECIMAL(19,1)"),
        ("0.99999999999999999999999999999999999999", "DECIMAL(38,2)"),
    ],
)
def test_texts_and_wide_decimals_are_stored_exactly(text: str, kind: str) -> None:
    column_type = parse_type(kind)
    expected = [_expected(Decimal(text), column_type.scale), None]
    texts = pa.array([text, None])
    wide = pa.decimal256(76, column_type.scale)
    assert coerce(texts, column_type, "c").cast(wide).to_pylist() == expected
    for digits in (30, 37, 38):
        fits = len(text.partition(".")[2]) <= digits
        given = pa.array([Decimal(text), None], pa.decimal256(76, digits)) if fits else texts
        assert coerce(given, column_type, "c").cast(wide).to_pylist() == expected


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.sampled_from([0, 1, 2, 6]))
def test_texts_of_any_decimal_are_stored_exactly(values: list[Decimal], scale: int) -> None:
    limit = Decimal(10) ** (37 - scale)
    fitting = [value for value in values if abs(value) < limit]
    column_type = parse_type(f"DECIMAL(38,{scale})")
    texts = pa.array([format(value, "f") for value in fitting], pa.string())
    stored = coerce(texts, column_type, "c").to_pylist()
    assert stored == [_expected(value, scale) for value in fitting]
