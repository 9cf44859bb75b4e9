"""Arrays hold what their values alone would be: `coerce` and `to_cell` agree, errors included."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pykudu_sql.storage.common.coercion.coercion import coerce
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.types import DataType, Kind, decimal_type
from pykudu_sql.storage.errors import DataError

TYPES = [
    *(DataType(kind) for kind in Kind if kind not in (Kind.DECIMAL, Kind.VARCHAR)),
    DataType(Kind.VARCHAR, length=5),
    decimal_type(9, 2),
    decimal_type(18, 4),
    decimal_type(38, 0),
    decimal_type(38, 38),
]
WORDS = [
    *("0x10", "+5", "1_000", " 5 ", "", " ", "-", "5.", ".5", ".", "1e3", "1E+3", "1e", "5\x00"),
    *("\u0663", "\uff15", "\u00a05", "\x1c5", "nan", "NaN(1)", "-inf", "+Infinity", "1e400"),
    *("1e39", "t", "F", "true", "TRUE ", "1", "0", "yes", "1e-400", "1e-99", "-0", "1e76", "2E48"),
    *("9" * 39, "1" + "0" * 77, "1" + "0" * 400, "1" * 38 + "." + "1" * 39),
    *("99999999.995", "9999999.995", "-0.005", "2026-01-31", "2026-1-31", "2026-01-31 12"),
    *("2026-01-31T12:00", "2026-01-31 12:00:00.1234567", "2026-01-31 12:00:00.", "20260131"),
    *("2026-01-31 12:00:00,5", "2026-01-31 24:00:00", "2026-02-30", "0000-01-01", "0001-01-01"),
    *("9999-12-31", "10000-01-01", "9999-12-31 23:59:59-02:00", "0001-01-01 00:00+02:00"),
    *("2026-01-31 12:00:00Z", "2026-01-31 12:00:00 +02", "2026-01-31 12:00-0230", "2026-W05-6"),
    *("2026-01-31 12+02:00", "2026-01-31+02:00", "2026-01-31 12:00:00 Z", "2026-01-31x12:00:00"),
    *("2026-01-31 12:00:00+02:00:30", "2026-01-31 12:00:00+24:00", "1969-12-31 23:59:59.9999999"),
]
NUMBERS = st.from_regex(r"[+-]?[0-9]{0,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,3})?", fullmatch=True)
TIMES = st.builds(
    lambda moment, separator, cut, zone: moment.isoformat(separator)[:cut] + zone,
    st.datetimes(),
    st.sampled_from(" T"),
    st.sampled_from([10, 13, 16, 19, 22, 26]),
    st.sampled_from(["", "Z", "+02:00", "-0130", " +05", "0"]),
)
TEXTS = st.sampled_from(WORDS) | NUMBERS | TIMES | st.text(max_size=8)


def _alone(value: Any, column_type: DataType) -> object:
    """The cell of a value, as text since NaN equals nothing, or what refuses it."""
    try:
        return repr(to_cell(value, column_type))
    except DataError as error:
        return type(error), error.sqlstate, error.message


def _in_array(values: pa.Array, column_type: DataType) -> object:
    """The same of the first value of an array."""
    try:
        return repr(array_to_cells(coerce(values, column_type, "c"), column_type)[0])
    except DataError as error:
        return type(error), error.sqlstate, error.message.removeprefix("column 'c': ")


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@given(TEXTS, st.sampled_from([pa.string(), pa.large_string()]))
def test_texts(column_type: DataType, text: str, kind: pa.DataType) -> None:
    values = pa.array([text, None, text], kind)

    assert _in_array(values, column_type) == _alone(text, column_type)
    assert _in_array(values.dictionary_encode(), column_type) == _alone(text, column_type)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
def test_texts_in_rare_words(column_type: DataType) -> None:
    for word in WORDS:
        alone = _alone(word, column_type)
        assert (word, _in_array(pa.array([word, None]), column_type)) == (word, alone)


@pytest.mark.parametrize("kind", [Kind.INT32, Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DOUBLE])
def test_rare_words_among_others(kind: Kind) -> None:
    """They are read alone, and the others at once."""
    column_type = DataType(kind)
    fitting = [word for word in WORDS if not isinstance(_alone(word, column_type), tuple)]
    values = [*fitting, None, *reversed(fitting)]

    cells = array_to_cells(coerce(pa.array(values), column_type, "c"), column_type)

    assert repr(cells) == repr([to_cell(word, column_type) for word in values])


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@given(st.floats(), st.floats(width=32))
@example(1.005, 16777216.0)
@example(1e15, 1e10)
@example(12345678901.5, 3e38)
@example(0.00001234, 1e-45)
def test_floats(column_type: DataType, double: float, single: float) -> None:
    assert _in_array(pa.array([double, None]), column_type) == _alone(double, column_type)
    singles = pa.array([single, None], pa.float32())
    assert _in_array(singles, column_type) == _alone(np.float32(single), column_type)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@given(st.floats(width=16))
def test_floats_of_16_bits(column_type: DataType, number: float) -> None:
    values = pa.array([np.float16(number)], pa.float16())
    assert _in_array(values, column_type) == _alone(np.float16(number), column_type)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@given(st.integers(-(2**63), 2**64 - 1) | st.integers(-300, 300))
def test_integers(column_type: DataType, number: int) -> None:
    values = pa.array([number, None], pa.uint64() if number >= 2**63 else pa.int64())
    assert _in_array(values, column_type) == _alone(number, column_type)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**20)))
def test_decimals(column_type: DataType, number: Decimal) -> None:
    values = pa.array([number, None])
    assert _in_array(values, column_type) == _alone(number, column_type)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@given(
    st.datetimes() | st.sampled_from([dt.datetime.min, dt.datetime.max, dt.datetime(2026, 1, 31)]),
    st.sampled_from(["us", "ms", "s"]),
    st.sampled_from([None, "UTC", "+02:00", "-11:30"]),
)
def test_times(column_type: DataType, moment: dt.datetime, unit: str, zone: str | None) -> None:
    micros = pa.array([moment]).cast(pa.timestamp(unit), safe=False).cast(pa.int64())
    values = micros.cast(pa.timestamp(unit, zone))
    try:
        plain = values[0].as_py()
    except (ValueError, OverflowError):
        return  # a time that Python has not
    assert _in_array(values, column_type) == _alone(plain, column_type)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
@pytest.mark.parametrize(
    "value",
    [
        *(True, False, b"5", b"", b"\xff", b"true", dt.date(1, 1, 1), dt.date(9999, 12, 31)),
        *(dt.time(1), dt.time(1, 2, 3, 500_000), dt.timedelta(seconds=5)),
    ],
)
def test_other_values(column_type: DataType, value: Any) -> None:
    assert _in_array(pa.array([value, None]), column_type) == _alone(value, column_type)
