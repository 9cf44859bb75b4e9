"""Texts of intervals in the one form that the engine reads whole."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.planner.vocabulary.interval_text import interval_text, is_number
from pykudu_sql.planner.vocabulary.time_units import INTERVAL_UNITS
from pykudu_sql.storage.errors import InvalidValueError, SourceSpan, ValueOutOfRangeError


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1 day", "1 day"),
        (" +1 DAYS ", "1 days"),
        ("-1 day +2 hours", "-1 day 2 hours"),
        ("- 1 day", "-1 day"),
        ("1day2hours", "1 day 2 hours"),
        ("3 days ago", "-3 days"),
        ("1 day -2 hours AGO", "-1 day 2 hours"),
        ("@ .5 mins", "0.5 minute"),
        ("1 day 12:30", "1 day 12 hours 30 minutes 0 seconds"),
        ("-02:30:01.5 ago", "02 hours 30 minutes 01.5 seconds"),
        ("+5", "5"),
        ("-.5", "-0.5"),
    ],
)
def test_a_text_becomes_numbers_with_a_unit_each(text: str, plain: str) -> None:
    assert interval_text(text, None) == plain


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [
        ("", "22018"),
        ("ago", "22018"),
        ("1 day, 2 hours", "22018"),
        ("1 day 2", "22023"),
        ("1 day ago ago", "22018"),
        ("1 day ago 2 hours", "22018"),
        ("12:75:00", "22018"),
        ("P3D", "22018"),
        ("+-5", "22018"),
        ("\u0663 days", "22018"),
        ("3 daysago", "22023"),
        ("3 fortnights", "22023"),
    ],
)
def test_what_is_no_interval_is_refused_at_its_place(text: str, sqlstate: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        interval_text(text, SourceSpan(7, 3))
    assert (caught.value.sqlstate, caught.value.span) == (sqlstate, SourceSpan(7, 3))


def test_a_number_has_no_unit_of_its_own() -> None:
    assert [is_number(text) for text in ("5", " -1.5 ", "5 days", "")] == [True, True, False, False]


_QUANTITIES = st.lists(
    st.tuples(st.integers(-99, 99), st.sampled_from(INTERVAL_UNITS)), min_size=1, max_size=4
)


@given(_QUANTITIES, st.booleans())
def test_a_text_is_the_sum_of_its_quantities(pieces: list[tuple[int, str]], is_ago: bool) -> None:
    text = " ".join(f"{count:+d} {unit}" for count, unit in pieces) + " ago" * is_ago
    total = " + ".join(f"INTERVAL ({count}) {unit}" for count, unit in pieces)
    sign = "-" if is_ago else ""
    with duckdb.connect() as engine:
        query = f"SELECT CAST('{interval_text(text, None)}' AS INTERVAL) = {sign}({total})"
        assert engine.execute(query).fetchone() == (True,)


@pytest.mark.parametrize("text", ["{}", "{} days", "1.{} days", "{}:10", "1 day {} hours ago"])
def test_a_number_of_very_many_digits_is_refused_and_not_tried_in_pieces(text: str) -> None:
    with pytest.raises(ValueOutOfRangeError, match="is too long for an interval"):
        interval_text(text.format("1" * 1_000_000), SourceSpan(0))


def test_many_digits_before_what_is_no_unit_are_read_once() -> None:
    with pytest.raises(InvalidValueError):
        interval_text("1" * 1_000_000 + "_", SourceSpan(0))
