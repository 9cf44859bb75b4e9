"""Units of intervals and parts of times are closed lists."""

import pytest

from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS, check_part, interval_unit
from pykudu_sql.storage.errors import InvalidValueError


@pytest.mark.parametrize(
    ("written", "unit"),
    [("day", "DAY"), ("Days", "DAYS"), ("qtr", "QUARTER"), ("us", "MICROSECOND")],
)
def test_a_unit_may_be_written_in_full_in_the_plural_or_short(written: str, unit: str) -> None:
    assert interval_unit(written, None) == unit


@pytest.mark.parametrize("name", ["fortnight", "", "day;", "x" * 500])
def test_what_is_no_unit_is_refused_with_those_that_are(name: str) -> None:
    for refuse in (interval_unit, check_part):
        with pytest.raises(InvalidValueError, match="is no unit of time") as caught:
            refuse(name, None)
        assert caught.value.sqlstate == "22023"
        assert "millisecond" in (caught.value.hint or "")


def test_a_unit_finer_than_what_is_stored_says_so() -> None:
    with pytest.raises(InvalidValueError, match="finer than a time is stored"):
        interval_unit("nanoseconds", None)


def test_every_unit_but_those_of_quarters_for_short_is_a_part_of_a_time() -> None:
    for unit in set(ENGINE_UNITS) - {"Q", "QTR", "QTRS"}:
        check_part(unit, None)
    check_part("isodow", None)
