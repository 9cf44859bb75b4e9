"""Cells and Python values: the way of single values in and out."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.types.cells import from_cell, to_cell
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError
from tests.storage.common.strategies import ALL_TYPES, cells

_YEAR_10000 = 253402300800000000


@given(st.sampled_from(ALL_TYPES), st.data())
def test_a_cell_survives_the_way_to_python_and_back(kind: DataType, data: st.DataObject) -> None:
    cell = data.draw(cells(kind))
    if kind.kind is Kind.UNIXTIME_MICROS:
        assert isinstance(cell, int)
        cell %= _YEAR_10000
    back = to_cell(from_cell(cell, kind), kind)
    assert back == cell or (back != back and cell != cell)
    assert to_cell(None, kind) is None
    assert from_cell(None, kind) is None


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("TINYINT", "-128", -128),
        ("INT", 5.0, 5),
        ("INT", True, 1),
        ("BIGINT", np.int64(7), 7),
        ("BOOLEAN", "t", True),
        ("BOOLEAN", 0, False),
        ("FLOAT", 0.1, 0.10000000149011612),
        ("DOUBLE", "1e3", 1000.0),
        ("DECIMAL(5,2)", "1.005", 101),
        ("DECIMAL(5,2)", -1.5, -150),
        ("DECIMAL(38,0)", Decimal("9" * 38), int("9" * 38)),
        ("DATE", "1970-01-02", 1),
        ("DATE", dt.datetime(1970, 1, 2, 23), 1),
        ("DATE", np.datetime64("1969-12-31"), -1),
        ("TIMESTAMP", "1970-01-01 00:00:01", 1_000_000),
        ("TIMESTAMP", dt.datetime(1970, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))), 0),
        ("TIMESTAMP", dt.date(1970, 1, 2), 86_400_000_000),
        ("TIMESTAMP", np.datetime64("1970-01-01T00:00:00.000001999"), 2),
        ("TIMESTAMP", np.datetime64("1970-01-01T00:00:00.000001499"), 1),
        ("TIMESTAMP", np.datetime64("1969-12-31T23:59:59.999998500"), -1),
        ("DATE", np.datetime64("1969-12-31T23:59:59.999999500"), 0),
        ("STRING", 5, "5"),
        ("STRING", b"ab", "ab"),
        ("VARCHAR(2)", "\U0001f600bc", "\U0001f600b"),
        ("BINARY", "é", b"\xc3\xa9"),
        ("BINARY", bytearray(b"x"), b"x"),
    ],
)
def test_values_are_read_as_sql_would_cast_them(name: str, value: object, expected: Cell) -> None:
    cell = to_cell(value, parse_type(name))
    assert cell == expected
    assert type(cell) is type(expected)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("TINYINT", 128, ValueOutOfRangeError),
        ("SMALLINT", "-40000", ValueOutOfRangeError),
        ("BIGINT", 1 << 63, ValueOutOfRangeError),
        ("INT", 1.5, InvalidValueError),
        ("INT", "x", InvalidValueError),
        *(("INT", value, ValueOutOfRangeError) for value in (math.inf, math.nan, "inf", " -NaN")),
        *(
            ("BIGINT", value, ValueOutOfRangeError)
            for value in (Decimal("NaN"), np.float32("-inf"))
        ),
        *(("DECIMAL(3,1)", value, ValueOutOfRangeError) for value in (math.inf, "Infinity")),
        ("DATE", "inf", InvalidValueError),
        ("BOOLEAN", math.inf, InvalidValueError),
        ("INT", b"1", InvalidValueError),
        ("BOOLEAN", 2, InvalidValueError),
        ("BOOLEAN", "maybe", InvalidValueError),
        ("FLOAT", 1e39, ValueOutOfRangeError),
        ("DOUBLE", "x", InvalidValueError),
        ("DOUBLE", True, InvalidValueError),
        ("DECIMAL(3,1)", 100, ValueOutOfRangeError),
        ("DECIMAL(3,1)", "99.95", ValueOutOfRangeError),
        ("DECIMAL(3,1)", math.nan, ValueOutOfRangeError),
        ("DATE", "2026-02-30", ValueOutOfRangeError),
        ("DATE", 5, InvalidValueError),
        ("DATE", np.datetime64("NaT"), InvalidValueError),
        ("TIMESTAMP", "noon", InvalidValueError),
        ("TIMESTAMP", np.datetime64("NaT"), InvalidValueError),
        ("DOUBLE", np.complex128(1 + 2j), InvalidValueError),
        ("DECIMAL(9,2)", np.complex64(1 + 2j), InvalidValueError),
        ("STRING", np.complex128(1 + 2j), InvalidValueError),
        ("STRING", b"\xff", InvalidValueError),
        ("STRING", "\ud800", InvalidValueError),
        ("BINARY", 5, InvalidValueError),
    ],
)
def test_values_that_do_not_fit_are_refused(
    name: str, value: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        to_cell(value, parse_type(name))


def test_a_time_beyond_pythons_calendar_says_so() -> None:
    with pytest.raises(ValueOutOfRangeError, match="outside the years 1 to 9999"):
        from_cell(_YEAR_10000, DataType(Kind.UNIXTIME_MICROS))


def test_a_text_of_a_subclass_is_stored_as_a_plain_text() -> None:
    class Word(str):
        __slots__ = ()

    for column_type in (DataType(Kind.STRING), DataType(Kind.VARCHAR, length=9)):
        cell = to_cell(Word("a"), column_type)
        assert (cell, type(cell)) == ("a", str)


def test_a_time_with_a_zone_is_the_day_it_is_in_utc() -> None:
    zone = dt.timezone(dt.timedelta(hours=5))
    cell = to_cell(dt.datetime(2020, 1, 1, 1, tzinfo=zone), DataType(Kind.DATE))
    assert from_cell(cell, DataType(Kind.DATE)) == dt.date(2019, 12, 31)


def test_what_no_float_reaches_is_out_of_range_and_not_infinite() -> None:
    for kind in (Kind.FLOAT, Kind.DOUBLE):
        with pytest.raises(ValueOutOfRangeError):
            to_cell(Decimal("1E+1000"), DataType(kind))
        assert to_cell(Decimal("Infinity"), DataType(kind)) == float("inf")


def test_a_time_that_is_none_is_no_text() -> None:
    with pytest.raises(InvalidValueError):
        to_cell(pd.NaT, DataType(Kind.STRING))
