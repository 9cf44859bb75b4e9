"""A word of the grammar of intervals is never an alias behind one."""

import pytest
from sqlglot import TokenType

from pykudu_sql.planner.parse.dialect import Kudu
from pykudu_sql.planner.token_rewrites.intervals import with_plain_intervals
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS
from pykudu_sql.storage.errors import SyntaxError


def texts(sql: str) -> list[str]:
    tokens = with_plain_intervals(list(Kudu().tokenize(sql)))
    return [token.text for token in tokens if token.token_type is TokenType.STRING]


@pytest.mark.parametrize("word", [*ENGINE_UNITS, "AGO"])
@pytest.mark.parametrize(
    "interval",
    ["'1 day'", "'3' HOURS", "3 DAYS", "(1 + 2) DAYS", "f(x, 1) DAYS", "x.day DAYS", "3 D 2 H"],
)
def test_a_unit_behind_a_whole_interval_is_refused_at_its_place(interval: str, word: str) -> None:
    sql = f"SELECT now() - INTERVAL {interval} {word}"
    with pytest.raises(SyntaxError, match=f'near "{word}"') as caught:
        with_plain_intervals(list(Kudu().tokenize(sql)))
    assert caught.value.span is not None
    assert caught.value.span.start == len(sql) - len(word)


@pytest.mark.parametrize(
    "alias", ["AS ago", "AS day", '"day"', "day_", "x", ", day", "- INTERVAL 1 DAY", "+ 2 HOURS"]
)
def test_other_words_may_follow(alias: str) -> None:
    assert texts(f"SELECT INTERVAL '+1 day' {alias}") == ["1 day"]


@pytest.mark.parametrize(
    "sql",
    ["SELECT interval day FROM t", "SELECT year month FROM t", "SELECT x::INTERVAL d, day hour"],
)
def test_units_are_names_elsewhere(sql: str) -> None:
    assert texts(sql) == []


def test_texts_of_sums_are_plain_too() -> None:
    assert texts("SELECT INTERVAL '+1 day' + '2:00', '+1 day'") == [
        "1 day", "2 hours 00 minutes 0 seconds", "+1 day",
    ]  # fmt: skip
