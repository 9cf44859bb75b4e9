"""The line below a result says how many rows there are and how long they took."""

import pytest

from pykudu_sql.shell.output.summary import affected_rows, timed


@pytest.mark.parametrize(
    ("rows", "summary"),
    [(-1, "OK"), (0, "0 rows affected"), (1, "1 row affected"), (1200, "1,200 rows affected")],
)
def test_affected_rows_are_counted_where_the_statement_counts_them(rows: int, summary: str) -> None:
    assert affected_rows(rows) == summary


@pytest.mark.parametrize(
    ("seconds", "summary"),
    [
        (0.00042, "done in 0.4 ms"),
        (0.012, "done in 12 ms"),
        (1.234, "done in 1.23 s"),
        (125, "done in 2 min 5 s"),
    ],
)
def test_a_time_has_the_unit_that_suits_it(seconds: float, summary: str) -> None:
    assert timed("done.", seconds) == summary


def test_where_a_format_counts_the_rows_the_time_stands_alone() -> None:
    assert timed("", 0.012) == "Time: 12 ms"
