"""Numbers and times of arrays as texts: as Python and the engine write them."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.coercion.written_texts import written_texts


@given(st.lists(st.none() | st.floats()))
def test_doubles_are_written_as_python_writes_them(numbers: list[float | None]) -> None:
    texts = written_texts(pa.array(numbers, pa.float64())).to_pylist()

    assert texts == [None if number is None else repr(number) for number in numbers]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([0.1, 1e-5, 16777216, None], pa.float32()), ["0.1", "1e-05", "16777216.0", None]),
        (
            pa.array([1e10, 1.5e15, 12345678900.0], pa.float32()),
            ["10000000000.0", "1500000000000000.0", "12345679000.0"],
        ),
        (
            pa.array([dt.datetime(2024, 1, 1, 5), None], pa.timestamp("s", "+02:00")),
            ["2024-01-01 05:00:00", None],
        ),
        (
            pa.array([1500, 1499, None], pa.timestamp("ns")),
            ["1970-01-01 00:00:00.000002", "1970-01-01 00:00:00.000001", None],
        ),
        (pa.array([Decimal("0.0000001"), None]), ["0.0000001", None]),
        (pa.array([dt.datetime(2024, 1, 1), None]), ["2024-01-01 00:00:00", None]),
        (pa.array([dt.datetime(2024, 1, 1, 10, 20, 30, 40)]), ["2024-01-01 10:20:30.00004"]),
        (pa.array([1, None]), [1, None]),
    ],
)
def test_values_are_written_as_cast_writes_them(values: pa.Array, texts: list[Any]) -> None:
    assert written_texts(values).to_pylist() == texts
