"""Values of parameters as literals mean the same as the values."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql.planner.functions.parameter_literals import literal
from pykudu_sql.planner.parse.dialect import printed
from pykudu_sql.storage.errors import InterfaceError

VALUES: list[Any] = [
    None, True, 0, -5, 2**100, Decimal("-0.10"), 1.5, -2e300, "it's", b"\x00\xff", [[1], [2, None]],
    dt.date(2024, 2, 29), dt.datetime(2024, 1, 1, 10, 0, 0, 123456), dt.time(1, 2, 3),
    dt.timedelta(days=1, microseconds=-5),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_literal_is_read_back_as_its_value(value: Any) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        (row,) = connection.execute("SELECT unnest(?)", ([value],)).fetchall()
    assert row == (value,)


@given(st.one_of(st.integers(-(2**120), 2**120), st.text(alphabet="a'\\\";-/*é", max_size=9)))
def test_integers_and_texts_are_printed_as_they_are(value: int | str) -> None:
    written = f"'{value.replace(chr(39), chr(39) * 2)}'" if isinstance(value, str) else str(value)
    assert printed(literal(value, 0)) == written


def test_a_time_with_a_zone_is_that_moment() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    moment = dt.datetime(2024, 1, 1, 10, tzinfo=zone)
    assert "2024-01-01 08:00:00" in printed(literal(moment, 0))


def test_lists_are_not_nested_without_end() -> None:
    value: Any = 1
    for _ in range(20):
        value = [value]
    with pytest.raises(InterfaceError, match="deep"):
        literal(value, 0)
