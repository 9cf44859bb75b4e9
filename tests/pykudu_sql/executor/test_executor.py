"""From a plan to what runs it."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.executor import prepare
from pykudu_sql.executor.session_state import SessionState


@pytest.fixture(autouse=True)
def table(connection: Connection) -> None:
    """With the keys 1 and 2."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 20)")


@pytest.mark.parametrize(
    ("sql", "rowcount", "rows"),
    [
        ("SELECT 1", 1, [(1,)]),
        ("SELECT v FROM t WHERE k = 1", 1, [(10,)]),
        ("SELECT sum(v) FROM t", 1, [(30,)]),
        ("INSERT INTO t VALUES (3, 30)", 1, None),
        ("INSERT INTO t SELECT k + 2, v FROM t", 2, None),
        ("UPDATE t SET v = 0 WHERE k = 1", 1, None),
        ("DELETE FROM t WHERE v > 0", 2, None),
        ("INSERT INTO t VALUES (3, 30) RETURNING k", 1, [(3,)]),
        ("EXPLAIN ANALYZE DELETE FROM t", None, None),
        ("EXPLAIN DELETE FROM t", None, None),
        ("SHOW TABLES", 1, None),
    ],
)
def test_each_kind_of_plan_has_what_runs_it(
    state: SessionState,
    planned: Callable[[str], Any],
    sql: str,
    rowcount: int | None,
    rows: list[tuple[Any, ...]] | None,
) -> None:
    outcome = prepare(state, planned(sql))(())
    assert rowcount is None or outcome.rowcount == rowcount
    assert rows is None or outcome.result.fetch(5) == rows


def test_preparing_runs_nothing(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    for sql in ("DELETE FROM t", "EXPLAIN ANALYZE DELETE FROM t", "DROP TABLE t"):
        prepare(state, planned(sql))
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


def test_explain_leaves_the_rows_and_analyze_does_not(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    prepare(state, planned("EXPLAIN DELETE FROM t WHERE k = 1"))(())
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)
    prepare(state, planned("EXPLAIN ANALYZE DELETE FROM t WHERE k = 1"))(())
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)


@pytest.mark.parametrize(
    ("sql", "rowcount"),
    [
        ("SELECT v FROM t WHERE k = ?", 0),
        ("UPDATE t SET v = 0 WHERE k = ?", 0),
        ("DELETE FROM t WHERE k = ?", 0),
    ],
)
def test_a_key_that_only_the_engine_can_compare_goes_to_the_engine(
    state: SessionState, planned: Callable[[str], Any], sql: str, rowcount: int
) -> None:
    run = prepare(state, planned(sql))
    assert run((1 << 200,)).rowcount == rowcount
    assert run((1,)).rowcount == 1
