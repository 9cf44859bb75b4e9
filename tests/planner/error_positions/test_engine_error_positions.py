"""The place in a statement of what an error of the engine quotes."""

import pytest

from pykudu_sql.planner.error_positions.engine_error_positions import locate_engine_error
from pykudu_sql.storage.errors import DataError, Error, ProgrammingError

NO_DATE = 'invalid date field format: "x", expected format is (YYYY-MM-DD)'
NO_GROUP = 'column "b" must appear in the GROUP BY clause or must be part of an aggregate function'


def shown(error: Error, statement: str) -> str | None:
    """What stands behind the carets' beginning."""
    locate_engine_error(error, statement)
    assert error.span is None
    if error.position is None:
        return None
    return error.position.text[error.position.column - 1 :][: error.position.length]


@pytest.mark.parametrize(
    ("statement", "literal"),
    [
        ("SELECT 1, DATE 'x'", "'x'"),
        ("SELECT CAST('x' AS DATE)", "'x'"),
        ("SELECT * FROM t WHERE d = 'x'", "'x'"),
        ("SELECT * FROM t\nWHERE s = 'y' AND d IN ('z', 'x')", "'x'"),
        ("INSERT INTO t SELECT 1, 'x'::DATE", "'x'"),
        ("EXPLAIN ANALYZE SELECT DATE 'x'", "'x'"),
        ("SELECT * FROM t WHERE s <> 'x' AND d = DATE 'x'", "'x'"),
        ("SELECT CAST(s AS DATE) FROM t WHERE s = 'x'", None),
        ("SELECT CAST(s AS DATE) FROM t", None),
        ("SELECT x FROM t", None),
        ("SELECT DATE", None),
        ("SHOW 'x", None),
    ],
)
def test_a_value_is_shown_where_it_is_certain_that_the_literal_is_meant(
    statement: str, literal: str | None
) -> None:
    assert shown(DataError(NO_DATE, sqlstate="22018"), statement) == literal


def test_of_several_literals_none_is_shown() -> None:
    error = DataError("could not convert string 'x' to INT, \"y\"", sqlstate="22018")
    assert shown(error, "SELECT 'x'::INT, 'y'::INT") is None


@pytest.mark.parametrize(
    ("statement", "before"),
    [
        ("SELECT a, b FROM t GROUP BY a", "SELECT a, "),
        ("SELECT a, max(b), upper(b) FROM t GROUP BY a", "SELECT a, max(b), upper("),
        ("SELECT b, count(*) FROM t", "SELECT "),
        ("SELECT b FROM (SELECT a, t.b FROM t GROUP BY a)", "SELECT b FROM (SELECT a, t."),
        ("SELECT a FROM t GROUP BY a HAVING b = 1", "SELECT a FROM t GROUP BY a HAVING "),
    ],
)
def test_a_column_is_shown_outside_of_groups_and_aggregates(statement: str, before: str) -> None:
    error = ProgrammingError(NO_GROUP, sqlstate="42803")
    assert shown(error, statement) == "b"
    assert error.position is not None and error.position.column - 1 == len(before)


@pytest.mark.parametrize(
    ("statement", "aggregate"),
    [
        ("SELECT a FROM t WHERE count(*) > 1", "count"),
        ("SELECT min(a), sum(max(b)) FROM t", "b"),
        ("SELECT 1 FROM t GROUP BY sum(a)", "sum"),
        ("SELECT * FROM t GROUP BY a", None),
    ],
)
def test_an_aggregate_is_shown_where_none_may_be(statement: str, aggregate: str | None) -> None:
    error = ProgrammingError("aggregates cannot stand here", sqlstate="42803")
    assert shown(error, statement) == aggregate


@pytest.mark.parametrize(
    ("statement", "window"),
    [
        ("SELECT a FROM t WHERE row_number() OVER () = 1", "row_number"),
        ("SELECT rank() OVER (ORDER BY a) FROM t GROUP BY lag(a) OVER ()", "lag"),
        ("SELECT a FROM t JOIN u ON t.a = sum(u.a) OVER ()", "sum"),
        ("SELECT a FROM t HAVING count(*) OVER () > 1", "count"),
        ("SELECT rank() OVER (ORDER BY ntile(2) OVER ()) FROM t", "ntile"),
        ("SELECT a FROM t WHERE a IN (SELECT rank() OVER () FROM u)", None),
    ],
)
def test_a_window_is_shown_where_none_may_be(statement: str, window: str | None) -> None:
    error = ProgrammingError("WHERE clause cannot contain window functions", sqlstate="42P20")
    assert shown(error, statement) == window


def test_a_window_in_an_aggregate_is_shown() -> None:
    error = ProgrammingError("aggregate function calls cannot contain windows", sqlstate="42803")
    assert shown(error, "SELECT sum(row_number() OVER ()) FROM t") == "row_number"


def test_an_error_that_has_a_place_or_another_cause_stays() -> None:
    for sqlstate in ("42804", "53200"):
        assert shown(ProgrammingError(NO_DATE, sqlstate=sqlstate), "SELECT DATE 'x'") is None
