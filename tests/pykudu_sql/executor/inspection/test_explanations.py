"""EXPLAIN as the executor completes it: tablets, rowsets, rows and engines."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.inspection.explanations import analyze_plan, explain_plan
from pykudu_sql.executor.plan_runners import prepare_plan
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.results.result import Outcome


@pytest.fixture
def table(connection: Connection) -> None:
    """One rowset on disk with the keys 1 to 3."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
    connection.execute("FLUSH TABLE t")


def lines(outcome: Outcome) -> str:
    assert outcome.result is not None
    assert outcome.result.names == ("plan",)
    return "\n".join(line for (line,) in outcome.result.fetch(1000))


def analyzed(state: SessionState, plan: Any, parameters: tuple[Any, ...] = ()) -> str:
    return lines(analyze_plan(state, plan, prepare_plan(state, plan.plan), parameters))


@pytest.mark.usefixtures("table")
def test_a_rowset_whose_keys_lie_elsewhere_is_not_counted(
    state: SessionState, planned: Callable[[str], Any]
) -> None:
    near = lines(explain_plan(state, planned("EXPLAIN SELECT * FROM t WHERE k < 2"), ()))
    below = lines(explain_plan(state, planned("EXPLAIN SELECT * FROM t WHERE k < 1"), ()))
    far = lines(explain_plan(state, planned("EXPLAIN SELECT * FROM t WHERE k > 100"), ()))
    assert "rowsets: 1 of 1" in near
    assert "rowsets: 0 of 1" in below
    assert "rowsets: 0 of 1" in far


@pytest.mark.usefixtures("table")
def test_a_rowset_in_memory_counts_where_its_keys_may_match(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute("INSERT INTO t VALUES (9, 90)")
    among = lines(explain_plan(state, planned("EXPLAIN SELECT * FROM t WHERE k > 8"), ()))
    beyond = lines(explain_plan(state, planned("EXPLAIN SELECT * FROM t WHERE k > 100"), ()))
    assert "rowsets: 1 of 2" in among
    assert "rowsets: 0 of 2" in beyond


@pytest.mark.usefixtures("table")
def test_without_its_parameters_a_plan_is_shown_without_facts_of_the_store(
    state: SessionState, planned: Callable[[str], Any]
) -> None:
    plan = planned("EXPLAIN SELECT * FROM t WHERE k > ?")
    assert "rowsets" not in lines(explain_plan(state, plan, ()))
    assert "rowsets: 0 of 1" in lines(explain_plan(state, plan, (5,)))


@pytest.mark.usefixtures("table")
def test_analyze_counts_the_rows_of_a_query(
    state: SessionState, planned: Callable[[str], Any]
) -> None:
    text = analyzed(state, planned("EXPLAIN ANALYZE SELECT v FROM t WHERE v >= ?"), (20,))
    assert "total: 2 rows in" in text


@pytest.mark.usefixtures("table")
def test_analyze_goes_further_where_a_scan_with_a_limit_gave_too_few_rows(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    sql = "SELECT k FROM t WHERE v % 3 = 0 LIMIT 1"
    text = analyzed(state, planned(f"EXPLAIN ANALYZE {sql}"))
    assert connection.execute(sql).fetchall() == [(3,)]
    assert "total: 1 row in" in text
    assert "limit: 1" in lines(explain_plan(state, planned(f"EXPLAIN {sql}"), ()))
    assert "limit:" not in text  # it was read again as a whole


@pytest.mark.usefixtures("table")
def test_analyze_runs_writes_and_explain_does_not(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    explain_plan(state, planned("EXPLAIN DELETE FROM t WHERE v > 10"), ())
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (3,)
    assert "total: 2 rows in" in analyzed(
        state, planned("EXPLAIN ANALYZE DELETE FROM t WHERE v > 10")
    )
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT v FROM t",
        "INSERT INTO t SELECT k + 10, v FROM t",
        "CREATE TABLE c PRIMARY KEY (k) AS SELECT * FROM t",
    ],
)
def test_a_session_that_uses_spark_is_shown_why_a_query_stays_here(
    state: SessionState, planned: Callable[[str], Any], statement: str
) -> None:
    plan = planned(f"EXPLAIN {statement}")
    assert "in memory" not in lines(explain_plan(state, plan, ()))
    on_spark = replace(state, settings=replace(state.settings, engine="spark"))
    assert "the database is in memory" in lines(explain_plan(on_spark, plan, ()))
