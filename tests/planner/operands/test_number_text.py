"""Texts of numbers are read exactly, or not at all."""

from decimal import Decimal

import pytest

from pykudu_sql.planner.operands.number_text import exact_number_text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" 7\n", "7"),
        ("-0.10", "-0.10"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+12e-1", "1.2"),
        ("9" * 80, "9" * 80),
    ],
)
def test_a_number_keeps_all_its_digits(text: str, number: str) -> None:
    assert exact_number_text(text) == Decimal(number)


@pytest.mark.parametrize(
    "text", ["", "x", "inf", "nan", "1_0", "0x1", "1 2", "--1", "٣", "1e100", "9" * 81, "1e-81"]
)
def test_what_is_no_plain_number_of_a_moderate_length_is_left_to_others(text: str) -> None:
    assert exact_number_text(text) is None
