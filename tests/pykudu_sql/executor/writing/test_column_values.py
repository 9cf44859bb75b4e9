"""Python values of a column, by Arrow where that means the same and by cells where it does not."""

import datetime as dt
from typing import Any

import pytest

from pykudu_sql.executor.writing.column_values import array_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import DataError


def column(name: str) -> ColumnSchema:
    return ColumnSchema(1, "c", parse_type(name))


@pytest.mark.parametrize(
    ("name", "values", "stored"),
    [
        ("INT", [1, None], [1, None]),
        ("INT", [1, "2", None], [1, 2, None]),
        ("STRING", ["ä", None], ["ä", None]),
        ("VARCHAR(2)", ["äbc"], ["äb"]),
        ("DATE", [dt.date(2026, 1, 5), "2026-01-05"], [dt.date(2026, 1, 5)] * 2),
    ],
)
def test_values_become_an_array_of_the_columns_type(
    name: str, values: list[Any], stored: list[Any]
) -> None:
    array = array_of(values, column(name))
    assert array.type == parse_type(name).arrow
    assert array.to_pylist() == stored


@pytest.mark.parametrize(("name", "value"), [("INT", 1 << 40), ("INT", "x"), ("STRING", "\ud800")])
def test_a_value_that_does_not_fit_is_named_with_its_column_and_row(name: str, value: Any) -> None:
    with pytest.raises(DataError, match=r"^row 2, column 'c'"):
        array_of([None, value], column(name))
    with pytest.raises(DataError, match=r"^column 'c'"):
        array_of([value], column(name))
