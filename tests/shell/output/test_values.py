"""Values become text without losing a digit."""

import datetime
import json
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.output.values import is_number_type, to_json, to_text, unique_names


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as is", "as is"),
        (True, "true"),
        (2**70, "1180591620717411303424"),
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+3"), "1000"),
        (0.1, "0.1"),
        (b"\x00\xff", "00ff"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 6), "2026-01-02 03:04:05.000006"),
        ([1, None, "it's"], "[1, NULL, 'it''s']"),
        ({"a": 1}, "{a: 1}"),
        ([("k", 1), ("it's", None)], "{'k': 1, 'it''s': NULL}"),
        (datetime.timedelta(days=1, hours=1, minutes=30), "1 day 01:30:00"),
        (datetime.timedelta(hours=-1), "-01:00:00"),
        (datetime.timedelta(days=-2, microseconds=-5), "-2 days -00:00:00.000005"),
        (datetime.timedelta(0), "00:00:00"),
        (pa.MonthDayNano([14, 0, 0]), "1 year 2 months"),
        (pa.MonthDayNano([-14, 3, 1_000_000_000]), "-1 year -2 months 3 days 00:00:01"),
    ],
)
def test_a_value_reads_as_a_person_expects(value: object, text: str) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (False, "false"),
        (9007199254740993, "9007199254740993"),
        (Decimal("12345678901234567890.12"), "12345678901234567890.12"),
        (Decimal("NaN"), "null"),
        (math.nan, "null"),
        (-math.inf, "null"),
        ("\x1b\u2028", '"\\u001b\\u2028"'),
        ("a\x7f\x85\u202eb\u2066", '"a\\u007f\\u0085\\u202eb\\u2066"'),
        ("\xa0é\u0645\u200d\U0001f642", '"\xa0é\u0645\u200d\U0001f642"'),
        ({"\u202e": "\u200f"}, '{"\\u202e": "\\u200f"}'),
        (b"\x0a", '"0a"'),
        (datetime.datetime(2026, 1, 2, 3), '"2026-01-02T03:00:00"'),
        (datetime.date(2026, 1, 2), '"2026-01-02"'),
        ([1, {"k": None}], '[1, {"k": null}]'),
        ([("k", 1)], '{"k": 1}'),
        (pa.MonthDayNano([1, 0, 0]), '"1 month"'),
    ],
)
def test_json_is_exact(value: object, text: str) -> None:
    assert to_json(value) == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_reads_back_as_the_value(value: object) -> None:
    assert json.loads(to_json(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_json_keeps_every_bit_of_a_double(value: float) -> None:
    assert json.loads(to_json(value)) == value


def test_numbers_are_told_by_their_type() -> None:
    assert is_number_type("DECIMAL(15,2)") and is_number_type("bigint")
    assert not is_number_type("VARCHAR(10)") and not is_number_type("TIMESTAMP")


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        (["a", "b"], ["a", "b"]),
        (["id", "id", "id"], ["id", "id_1", "id_2"]),
        (["id", "id", "id_1"], ["id", "id_2", "id_1"]),
    ],
)
def test_repeated_column_names_are_numbered(names: list[str], unique: list[str]) -> None:
    assert unique_names(names) == unique
