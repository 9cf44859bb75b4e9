"""Texts of files as values: what is written is what is stored, or it is refused."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.files.reading.text_values import read_texts
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind, decimal_type
from pykudu_sql.storage.errors import DataError

NOON = dt.datetime(2026, 1, 31, 12)


def column(column_type: DataType) -> ColumnSchema:
    return ColumnSchema(1, "c", column_type)


def read(texts: list[str | None], column_type: DataType) -> list[object]:
    array = pa.array(texts, pa.string())
    return list(read_texts(array, column(column_type), blank_is_null=True).to_pylist())


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind.INT32, " +5 ", 5),
        (Kind.INT64, "9223372036854775807", 2**63 - 1),
        (Kind.INT8, "-128", -128),
        (Kind.BOOL, "TRUE", True),
        (Kind.BOOL, "f", False),
        (Kind.DATE, "2026-01-31", dt.date(2026, 1, 31)),
        (Kind.DATE, "2026-01-31 00:00:00", dt.date(2026, 1, 31)),
        (Kind.UNIXTIME_MICROS, "2026-01-31T14:00:00+02:00", NOON),
        (Kind.UNIXTIME_MICROS, "2026-01-31 12:00:00.0000000", NOON),
        (Kind.DOUBLE, "-Infinity", float("-inf")),
        (Kind.DOUBLE, "1e3", 1000.0),
        (Kind.BINARY, "\\x00fF", b"\x00\xff"),
        (Kind.BINARY, "\\x0", b"\\x0"),
        (Kind.BINARY, "text", b"text"),
        (Kind.STRING, "  ", "  "),
        (Kind.INT32, "  ", None),
        (Kind.DATE, "", None),
    ],
)
def test_a_text_is_the_value_that_it_writes(kind: Kind, text: str, value: object) -> None:
    assert read([text, None], DataType(kind)) == [value, None]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.INT32, "0x10"), (Kind.INT32, "1_0"), (Kind.INT32, "1.0"), (Kind.INT8, "128"),
        (Kind.BOOL, "2"), (Kind.DATE, "2026-01-31 12:00"), (Kind.DATE, "31.1.2026"),
        (Kind.UNIXTIME_MICROS, "2026-01-31 12:00:00.1234567"), (Kind.DOUBLE, "1e400"),
        (Kind.DOUBLE, "1_0"), (Kind.FLOAT, "1e39"), (Kind.DOUBLE, "ten"),
    ],
)  # fmt: skip
def test_a_text_that_is_more_or_less_than_the_value_is_refused(kind: Kind, text: str) -> None:
    for texts in ([text], ["", text, None]):
        with pytest.raises(DataError, match="column 'c'"):
            read([*texts], DataType(kind))


@given(
    st.lists(st.decimals(-(10**19), 10**19, places=3) | st.none()),
    st.sampled_from(["{}", " {}", "{:e}"]),
)
def test_a_decimal_is_stored_exactly_or_refused(values: list[Decimal | None], form: str) -> None:
    target = decimal_type(20, 2)
    texts = [None if value is None else form.format(value) for value in values]
    if all(v is None or (v == round(v, 2) and abs(v) < Decimal(10) ** 18) for v in values):
        assert read(texts, target) == values
    else:
        with pytest.raises(DataError):
            read(texts, target)


@given(st.lists(st.binary() | st.none()), st.integers(0, 3))
def test_bytes_come_back_from_their_digits(values: list[bytes | None], start: int) -> None:
    texts = [None if value is None else "\\x" + value.hex() for value in values]
    array = pa.array(texts, pa.string()).slice(min(start, len(texts)))
    target = column(DataType(Kind.BINARY))
    assert read_texts(array, target, blank_is_null=False).to_pylist() == values[start:]


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(DataError, match="UTF-8") as raised:
        read_texts(pa.array([b"\xff"]), column(DataType(Kind.STRING)), blank_is_null=True)
    assert raised.value.sqlstate == "22021"
