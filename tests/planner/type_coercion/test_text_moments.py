"""Parts of times are taken from texts, and only these are converted."""

import datetime as dt

import pytest

import pykudu_sql
from pykudu_sql.planner.type_coercion.text_moments import OF_MOMENTS


@pytest.mark.parametrize(
    ("call", "is_cast"),
    [
        ("year(v)", True),
        ("EXTRACT(month FROM v)", True),
        ("date_part('day', concat(v, ''))", True),
        ("EXTRACT(month FROM '2026-02-03')", True),
        ("century(v)", True),
        ("year(NULL)", True),
        ("year(at)", False),
        ("hour(at + INTERVAL 1 DAY)", False),
        ("year(DATE '2024-01-01')", False),
        ("concat(v, 'x')", False),
        ("date_trunc('hours', day)", True),
        ("date_trunc('ms', at::DATE)", True),
        ("date_trunc('month', day)", False),
        ("date_trunc('hour', at)", False),
    ],
)
def test_a_text_is_read_as_a_time_where_its_parts_are_asked_for(call: str, is_cast: bool) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING, at TIMESTAMP, day DATE)")
        plan = connection.execute(f"EXPLAIN SELECT {call} FROM t").fetchall()
    assert ("AS TIMESTAMP)" in str(plan)) is is_cast


@pytest.mark.parametrize(
    ("call", "value", "found"),
    [
        ("month(?)", "2026-02-03", 2),
        ("EXTRACT(hour FROM ?)", "2026-02-03 10:00:00+02:00", 8),
        ("EXTRACT(hour FROM '2026-02-03 10:00:00+02:00' || ?)", "", 10),
        ("EXTRACT(month FROM ?)", dt.date(2026, 2, 3), 2),
        ("EXTRACT(day FROM ?)", dt.timedelta(days=3), 3),
        ("date_part('hour', ?)", dt.time(3), 3),
    ],
)
def test_a_parameter_is_read_as_a_time_where_it_is_a_text(
    call: str, value: object, found: int
) -> None:
    with pykudu_sql.connect(":memory:") as connection:
        assert connection.execute(f"SELECT {call}", (value,)).fetchall() == [(found,)]


def test_kinds_of_calls_are_classes_that_the_parser_makes() -> None:
    assert len(set(OF_MOMENTS)) == len(OF_MOMENTS)
