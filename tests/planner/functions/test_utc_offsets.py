"""Texts that say their offset from UTC, as the moment they name."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from pykudu_sql.planner.functions.utc_offsets import in_utc, utc_cast
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import ValueOutOfRangeError

OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(
    lambda minutes: dt.timezone(dt.timedelta(minutes=minutes))
)


@given(st.datetimes(dt.datetime(2, 1, 1), dt.datetime(9998, 1, 1)), OFFSETS)
def test_a_moment_is_the_same_in_utc(moment: dt.datetime, zone: dt.timezone) -> None:
    written = moment.replace(tzinfo=zone)
    expected = written.astimezone(dt.UTC).replace(tzinfo=None)
    assert dt.datetime.fromisoformat(in_utc(written.isoformat())) == expected


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-01-31T12:00:00+02:00", "2026-01-31 10:00:00"),
        ("2026-01-31 12:00Z", "2026-01-31 12:00:00"),
        (" 2026-01-31 12:00:00.5 -05:30 ", "2026-01-31 17:30:00.500000"),
        ("2026-01-01 00:30:00 +01", "2025-12-31 23:30:00"),
    ],
)
def test_an_offset_may_be_written_in_several_ways(text: str, utc: str) -> None:
    assert in_utc(text) == utc


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31 12:00:00",
        "no time at all, +02:00",
    ],
)
def test_text_without_an_offset_or_that_names_no_moment_stays(text: str) -> None:
    assert in_utc(text) == text


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+10:00", "9999-12-31 23:59:59-02:00"])
def test_a_moment_outside_the_years_of_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueOutOfRangeError, match="is out of range for TIMESTAMP"):
        in_utc(text)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("TIMESTAMP", "2026-01-31 10:00:00"),
        ("TIMESTAMPTZ", "2026-01-31T12:00:00+02:00"),
        ("TEXT", "2026-01-31T12:00:00+02:00"),
    ],
)
def test_only_a_cast_to_timestamp_changes_its_literal(target: str, text: str) -> None:
    cast = parse(f"SELECT CAST('2026-01-31T12:00:00+02:00' AS {target})").expressions[0]
    assert isinstance(cast, exp.Cast)
    assert utc_cast(cast).this.name == text
