"""Texts that are moments told from the present, and their expressions."""

import pytest

from pykudu_sql.planner.constant_folding.relative_moment import is_relative, relative_moment
from pykudu_sql.storage.errors import InvalidValueError


@pytest.mark.parametrize("text", ["10 min ago", "3days AGO", " now ", "1 h 30 min ago", "5 x ago"])
def test_a_number_with_ago_behind_it_is_told_from_the_present(text: str) -> None:
    assert is_relative(text)


@pytest.mark.parametrize("text", ["2026-01-31", "10 min", "long ago", "santiago", "nowhere", ""])
def test_other_texts_are_not(text: str) -> None:
    assert not is_relative(text)


def test_the_expression_takes_the_interval_from_the_present() -> None:
    sql = relative_moment("1 hr 30 mins ago", None).sql()
    assert sql == "CURRENT_TIMESTAMP() + INTERVAL '-1 hour -30 minute'"


def test_a_unit_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'minits' is no unit of time"):
        relative_moment("5 minits ago", None)
