"""Units of intervals and parts of times become words of closed lists, or are refused."""

import pytest

from pykudu_sql.planner.parse.normalization.unit_normalizers import UNIT_NORMALIZERS
from pykudu_sql.storage.errors import InvalidValueError
from tests.planner.parse.normalization.statements import assert_refused, normalized


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("interval 5 mins", "INTERVAL '5' MINUTE"),
        ("interval '1.5' hours", "INTERVAL '1.5 hours'"),
        ("interval '3 days 2 hours'", "INTERVAL '3 days 2 hours'"),
        ("time_bucket(d, x, '2020-01-01')", "TIME_BUCKET(d, x, CAST('2020-01-01' AS TIMESTAMP))"),
    ],
)
def test_a_unit_is_spelt_as_its_list_has_it(written: str, normal: str) -> None:
    assert normalized(written, UNIT_NORMALIZERS) == normal


@pytest.mark.parametrize(
    ("written", "sqlstate", "message", "under"),
    [
        ("interval 5 bananas", "22023", "'BANANAS' is no unit of time", "bananas"),
        ("cast('1 fortnight' as interval)", "22023", "'fortnight' is no unit", "1 fortnight"),
        ("interval '1' year to month", "0A000", "from one unit to another", "to month"),
        ("extract(bananas from x)", "22023", "'BANANAS' is no unit of time", "bananas"),
    ],
)
def test_a_unit_of_no_list_is_refused_with_its_place(
    written: str, sqlstate: str, message: str, under: str
) -> None:
    assert_refused(written, UNIT_NORMALIZERS, sqlstate, message, under)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("date_trunc(x, 'hour')", "the unit is the first argument: ('hour', ..)"),
        ("date_diff(x, y, 'day')", "the unit is the first argument: ('day', ..)"),
        ("date_trunc(x, 'fortnight')", "there are microsecond, "),
        ("extract(bananas from 'hour')", "there are microsecond, "),
    ],
)
def test_a_unit_in_the_place_of_a_time_is_told_where_it_stands(written: str, hint: str) -> None:
    with pytest.raises(InvalidValueError, match="is no unit of time") as caught:
        normalized(written, UNIT_NORMALIZERS)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)
