"""Which queries stay with the embedded engine in a session that uses Spark, and why."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.executor.reading.engine_choice import Embedded, OnSpark
from pykudu_sql.executor.reading.spark_queries import choose_engine, run_on_spark
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import QueryCancelledError


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A database in files."""
    path: Path = tmp_path_factory.mktemp("spark_queries")
    with pykudu_sql.connect(str(path / "db"), autocommit=True, durability="off") as opened:
        opened.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
        opened.execute("INSERT INTO t VALUES (1, 10)")
        yield opened


def chosen(connection: Connection, sql: str, state: SessionState | None = None) -> Any:
    session = connection._session
    state = state or session._state
    return choose_engine(
        state,
        plan(sql, session._planner.context(session._state.visible_catalog)),
        (),
        state.transactions.reading(),
    )


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT 1 + 1", "it reads no table"),
        ("SELECT name FROM sys.tables", "it reads system tables"),
        ("SELECT k FROM t FOR SYSTEM_TIME ALL", "it reads the history of a table"),
        (f"SELECT v FROM t WHERE v IN ({', '.join(map(str, range(5000)))})", "a long list"),
    ],
)
def test_a_query_that_spark_cannot_read_stays_with_the_embedded_engine(
    stored: Connection, sql: str, reason: str
) -> None:
    choice = chosen(stored, sql)
    assert isinstance(choice, Embedded)
    assert reason in choice.reason


def test_changes_that_are_not_committed_keep_a_query_here(stored: Connection) -> None:
    stored.execute("BEGIN")
    stored.execute("INSERT INTO t VALUES (2, 20)")
    try:
        choice = chosen(stored, "SELECT v FROM t")
    finally:
        stored.execute("ROLLBACK")
    assert choice == Embedded("the transaction has changes that are not committed")


def test_a_database_in_memory_is_read_by_its_own_process_only(connection: Connection) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
    assert chosen(connection, "SELECT * FROM t") == Embedded("the database is in memory")


def test_a_table_that_keeps_its_history_too_shortly_is_read_here(stored: Connection) -> None:
    stored.execute(
        "CREATE TABLE brief (k INT PRIMARY KEY) "
        "TBLPROPERTIES ('kudu.table.history_max_age_sec' = '59')"
    )
    assert "history of table 'brief'" in chosen(stored, "SELECT * FROM brief").reason


def test_left_the_choice_a_small_scan_is_not_worth_a_job(stored: Connection) -> None:
    state = stored._session._state
    state = replace(state, settings=replace(state.settings, engine="auto", spark_scan_bytes=1000))
    assert chosen(stored, "SELECT v FROM t", state).reason.endswith("spark_scan_bytes is 1000")


def test_columns_get_the_types_that_the_embedded_engine_gives_them(state: SessionState) -> None:
    engine = state.engine
    shape = engine.execute("SELECT 1::BIGINT AS n, 'x' AS word WHERE false", {}, ())
    choice = OnSpark(engine, "SELECT 7::TINYINT AS a, 'y' AS b", {}, shape)
    result = run_on_spark(state, choice)
    assert result.table.equals(pa.table({"n": pa.array([7], pa.int64()), "word": ["y"]}))
    assert isinstance(result, EngineResult) and result.types == shape.types


def test_a_cancelled_query_starts_no_job(
    state: SessionState, cancelled: Callable[[], AbstractContextManager[None]]
) -> None:
    shape = state.engine.execute("SELECT 1 AS n", {}, ())
    with cancelled(), pytest.raises(QueryCancelledError):
        run_on_spark(state, OnSpark(state.engine, "SELECT 1 AS n", {}, shape))
