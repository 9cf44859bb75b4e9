"""A table's changes and versions as relations of the engine."""

import datetime as dt
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.reading.history_rows import HistoryStream, history_rows
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.storage.common.predicate.column_predicate import NEVER
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import QueryCancelledError


@pytest.fixture
def read(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> Callable[..., list[dict[str, Any]]]:
    """The rows of the one scan of a query."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING)")

    def read(sql: str, predicate: object = None) -> list[dict[str, Any]]:
        (scan,) = planned(sql).scans
        current = state.transactions.reading()
        return history_rows(state, scan, scan.history, predicate, current, None).to_pylist()

    return read


def test_a_change_has_its_kind_and_the_time_of_its_commit(
    connection: Connection, read: Callable[..., Any]
) -> None:
    start = connection.snapshot_timestamp()
    connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    connection.execute("DELETE FROM t WHERE k = 2")
    rows = read(f"SELECT k, v, _change_type, _commit_timestamp FROM CHANGES(t, {start})")
    shown = sorted((row["k"], row["v"], row["_change_type"]) for row in rows)
    assert shown == [(1, "a", "insert"), (2, "b", "delete"), (2, "b", "insert")]
    times = {row["_change_type"]: row["_commit_timestamp"] for row in rows}
    assert all(isinstance(time, dt.datetime) for time in times.values())
    assert times["insert"] <= times["delete"]


def test_a_version_has_the_times_at_which_it_began_and_ended(
    connection: Connection, read: Callable[..., Any]
) -> None:
    connection.execute("INSERT INTO t VALUES (1, 'a')")
    connection.execute("UPDATE t SET v = 'b' WHERE k = 1")
    rows = read("SELECT v, _valid_from, _valid_to FROM t FOR SYSTEM_TIME ALL")
    versions = {row["v"]: (row["_valid_from"], row["_valid_to"]) for row in rows}
    assert versions["a"][1] == versions["b"][0]
    assert versions["b"][1] is None


def test_only_the_columns_that_a_query_needs_are_read(
    connection: Connection, read: Callable[..., Any]
) -> None:
    start = connection.snapshot_timestamp()
    connection.execute("INSERT INTO t VALUES (1, 'a')")
    assert read(f"SELECT v FROM CHANGES(t, {start})") == [{"v": "a"}]


def test_what_the_transaction_itself_wrote_is_no_history(
    connection: Connection, read: Callable[..., Any]
) -> None:
    start = connection.snapshot_timestamp()
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t VALUES (1, 'a')")
    assert read(f"SELECT k FROM CHANGES(t, {start})") == []


def test_a_window_that_begins_after_the_transaction_is_empty(
    connection: Connection, state: SessionState, read: Callable[..., Any]
) -> None:
    connection.execute("BEGIN")
    other = state.store.begin()
    other.write_row(state.catalog.table("t"), RowOpKind.INSERT, {0: 1, 1: "a"})
    other.commit(False)
    later = state.store.begin().bound - 1
    assert state.transactions.reading().bound <= later
    assert read(f"SELECT k FROM CHANGES(t, {later})") == []


def test_a_predicate_that_no_row_meets_reads_no_tablet(
    connection: Connection, read: Callable[..., Any]
) -> None:
    start = connection.snapshot_timestamp()
    connection.execute("INSERT INTO t VALUES (1, 'a')")
    assert read(f"SELECT k FROM CHANGES(t, {start})", NEVER) == []


def test_a_cancelled_statement_stops_between_two_batches(
    connection: Connection,
    read: Callable[..., Any],
    cancelled: Callable[[], AbstractContextManager[None]],
) -> None:
    start = connection.snapshot_timestamp()
    connection.execute("INSERT INTO t VALUES (1, 'a')")
    with cancelled(), pytest.raises(QueryCancelledError):
        read(f"SELECT k FROM CHANGES(t, {start})")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*), min(_commit_timestamp), max(v) FROM CHANGES(t, {start})",
        "SELECT _change_type, k, v FROM CHANGES(t, {start}) ORDER BY k, _commit_timestamp, 1, v",
        "SELECT k, count(*), max(_valid_to) FROM t FOR SYSTEM_TIME ALL GROUP BY k ORDER BY k",
        "SELECT a.v, b.v FROM t FOR SYSTEM_TIME ALL AS a JOIN t FOR SYSTEM_TIME ALL AS b "
        "ON a.k = b.k AND a._valid_to = b._valid_from ORDER BY a.k, b._valid_from",
    ],
)
def test_history_that_is_streamed_answers_like_history_that_is_held(
    connection: Connection, query: str
) -> None:
    start = connection.snapshot_timestamp()
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING)")
    connection.execute("INSERT INTO t SELECT range, 'v' || range FROM range(3000)")
    connection.execute("UPDATE t SET v = upper(v) WHERE k % 3 = 0")
    connection.execute("OPTIMIZE TABLE t FULL")
    connection.execute("DELETE FROM t WHERE k % 7 = 0")
    held = connection.execute(query.format(start=start)).fetchall()
    connection.execute("SET scan_memory_bytes = 1000")
    assert connection.execute(query.format(start=start)).fetchall() == held


def test_a_stream_keeps_the_history_that_it_reads(
    connection: Connection, state: SessionState, planned: Callable[[str], Any]
) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v STRING)")
    start = connection.snapshot_timestamp()
    connection.execute("INSERT INTO t SELECT range, 'a' FROM range(100)")
    connection.execute("UPDATE t SET v = 'b'")
    (scan,) = planned(f"SELECT k, v, _change_type FROM CHANGES(t, {start})").scans
    stream = history_rows(state, scan, scan.history, None, state.transactions.reading(), 0)
    assert isinstance(stream, HistoryStream)
    connection.execute("SET DATABASE history_max_age = 0")
    connection.execute("UPDATE t SET v = 'c'")
    connection.execute("OPTIMIZE TABLE t FULL")
    connection.execute("VACUUM")
    texts = [text for batch in stream.batches([1]) for text in batch.column(0).to_pylist()]
    assert sorted(texts) == ["a"] * 200 + ["b"] * 100
