"""A message quotes a value in at most 80 characters, and says what no literal does."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.types.value_text import number_text, quote_value, with_article


class Sulky:
    """A value whose own code fails."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (True, "True"),
        (2.5, "2.5"),
        (np.float32(0.1), "0.1"),
        (np.int8(-3), "-3"),
        (Decimal("1.50"), "1.50"),
        ("it's", '"it\'s"'),
        (b"\x00", "b'\\x00'"),
        (dt.date(2024, 2, 29), "2024-02-29"),
        ([1, 2], "[1, 2]"),
        (pa.MonthDayNano([1, 2, 3]), "an interval"),
        (uuid.UUID(int=1), "a UUID, '00000000-0000-0000-0000-000000000001',"),
        (Sulky(), "a Sulky"),
    ],
)
def test_a_value_is_quoted_as_its_literal_or_with_its_type(value: Any, text: str) -> None:
    assert quote_value(value) == text


@pytest.mark.parametrize("value", ["x" * 1000, b"x" * 1000, 10**500, [0] * 1000, {1: "x" * 1000}])
def test_a_long_value_is_cut(value: Any) -> None:
    assert len(quote_value(value)) <= 80


def test_a_number_is_written_out_while_python_does_so() -> None:
    assert number_text(2**64) == str(2**64)
    assert number_text(Decimal("-0.10")) == "-0.10"
    assert number_text(2 * 10**5000) == "about 1e5000"
    assert quote_value(-2 * 10**5000) == "about -1e5000"


@pytest.mark.parametrize(
    ("noun", "text"), [("int", "an int"), ("list", "a list"), ("ndarray", "an ndarray")]
)
def test_a_noun_gets_its_article(noun: str, text: str) -> None:
    assert with_article(noun) == text
