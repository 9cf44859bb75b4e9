"""Which values a scan compares with a column just as the engine does."""

import datetime as dt
from decimal import Decimal

import pytest

from pykudu_sql.planner.operands.exact_comparison import compares_exactly, is_date, is_timestamp
from pykudu_sql.storage.common.types.type_names import parse_type

DAY, MOMENT = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12)


@pytest.mark.parametrize(
    ("column_type", "value"),
    [
        ("INT", 5), ("TINYINT", 5000), ("BIGINT", -(1 << 63)), ("STRING", "ä"),
        ("VARCHAR(2)", "abc"),
        ("DATE", DAY), ("DATE", "2020-02-29"), ("TIMESTAMP", MOMENT), ("TIMESTAMP", DAY),
        ("TIMESTAMP", "2020-02-29"), ("TIMESTAMP", "2020-02-29T12:00:00.25"), ("BOOLEAN", True),
        ("DOUBLE", None),
    ],
)  # fmt: skip
def test_values_of_the_columns_own_kind_compare_exactly(column_type: str, value: object) -> None:
    assert compares_exactly(parse_type(column_type), value)


@pytest.mark.parametrize(
    ("column_type", "value"),
    [
        ("INT", True), ("INT", 1.0), ("INT", "1"), ("INT", Decimal(1)), ("BIGINT", 1 << 63),
        ("STRING", "\ud800"), ("STRING", 5), ("DATE", MOMENT), ("DATE", " 2020-02-29"),
        ("DATE", "2020-02-30"), ("DATE", "20200229"), ("TIMESTAMP", MOMENT.replace(tzinfo=dt.UTC)),
        ("TIMESTAMP", "2020-02-29 12:00:00Z"), ("TIMESTAMP", "2020-02-29 12:00:00.1234567"),
        ("BOOLEAN", 1), ("DOUBLE", 1.0), ("DECIMAL(5,2)", 1), ("BINARY", b"x"),
    ],
)  # fmt: skip
def test_all_others_are_left_to_the_engine(column_type: str, value: object) -> None:
    assert not compares_exactly(parse_type(column_type), value)


def test_only_one_form_of_a_text_is_a_date_or_a_timestamp() -> None:
    assert is_date("0001-01-01") and not is_date("0000-01-01") and not is_date("2020-1-1")
    assert is_timestamp("2020-01-01 10:00") and not is_timestamp("2020-01-01 25:00")
