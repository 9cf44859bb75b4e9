"""Columns and stars outside of groups, and windows that are not there."""

import pytest

from pykudu_sql.planner.error_positions.group_positions import span_of_group, span_of_window
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.storage.errors import SourceSpan


def shown(span: SourceSpan | None, statement: str) -> str | None:
    return None if span is None else statement[span.start : span.start + span.length]


NO_AGGREGATES = "WHERE clause cannot contain aggregates"


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ('column "b" must appear in the GROUP BY clause', "SELECT * FROM t GROUP BY a", "*"),
        ('column "b" must appear in the GROUP BY clause', "SELECT t.* FROM t GROUP BY a", "*"),
        ('column "b" must appear in the GROUP BY clause', "SELECT *, b FROM t GROUP BY a", "b"),
        ('column "b" must appear in the GROUP BY clause', "SELECT *, count(*) FROM t", "*"),
        (
            'column "b" must appear in the GROUP BY clause',
            "SELECT * FROM (SELECT a FROM t HAVING b > 1)",
            "b",
        ),
        (NO_AGGREGATES, "SELECT a, sum(b) AS s FROM t WHERE s > 1 GROUP BY a", "s"),
        (NO_AGGREGATES, "SELECT a AS s, sum(b) FROM t WHERE s > 1 GROUP BY a", None),
        (NO_AGGREGATES, "SELECT sum(b) AS s FROM t WHERE t.s > 1", None),
        ("aggregate function calls cannot be nested", "SELECT sum(a) AS s, max(s) FROM t", "s"),
    ],
)
def test_what_is_outside_of_groups_is_shown(
    message: str, statement: str, place: str | None
) -> None:
    assert shown(span_of_group(message, parse(statement)), statement) == place


@pytest.mark.parametrize(
    ("message", "statement", "place"),
    [
        ("there is no window 'w'", "SELECT sum(w) OVER v, sum(w) OVER w FROM t", "w"),
        ("window functions are not supported here", "SELECT row_number() FROM t", "row_number"),
        (
            "WHERE clause cannot contain window functions",
            "SELECT a, rank() OVER (ORDER BY a) AS place FROM t WHERE place < 3",
            "place",
        ),
        ("at least one window function must appear", "SELECT a FROM t QUALIFY b", "b"),
    ],
)
def test_a_window_that_is_not_there_is_shown(message: str, statement: str, place: str) -> None:
    span = span_of_window(message, parse(statement))
    assert shown(span, statement) == place


@pytest.mark.parametrize(
    "message",
    ["frame start cannot be UNBOUNDED FOLLOWING", "RANGE frames must have only one ORDER BY"],
)
def test_the_one_window_with_a_frame_is_shown(message: str) -> None:
    statement = "SELECT rank() OVER (ORDER BY a), max(a) OVER (ORDER BY a ROWS 1 PRECEDING)"
    span = span_of_window(message, parse(statement))
    assert span is not None and statement[span.start :].startswith("a) OVER (ORDER BY a ROWS")
    assert span_of_window(message, parse("SELECT rank() OVER (ORDER BY a)")) is None
