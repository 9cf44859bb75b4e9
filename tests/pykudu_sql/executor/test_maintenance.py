"""FLUSH, OPTIMIZE and VACUUM, and what they report."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.maintenance import flush, optimize, vacuum
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.errors import QueryCancelledError

Planned = Callable[[str], Any]


@pytest.fixture(autouse=True)
def tables(connection: Connection) -> None:
    """Two with a row each."""
    for name in "tu":
        connection.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY, v INT)")
        connection.execute(f"INSERT INTO {name} VALUES (1, 1)")


def report(outcome: Outcome) -> dict[str, Any]:
    """The one row, by the names of its columns."""
    assert outcome.result is not None
    (row,) = outcome.result.fetch(5)
    return dict(zip(outcome.result.names, row, strict=True))


def test_flush_writes_one_table_or_all_and_nothing_twice(
    state: SessionState, planned: Planned
) -> None:
    one = flush(state, planned("FLUSH TABLE t")).message
    assert flush(state, planned("FLUSH TABLE t")).message == "Wrote 0 file(s)"
    assert flush(state, planned("FLUSH")).message == one != "Wrote 0 file(s)"
    assert flush(state, planned("FLUSH")).message == "Wrote 0 file(s)"


def test_optimize_reports_rowsets_before_and_after(
    connection: Connection, state: SessionState, planned: Planned
) -> None:
    flush(state, planned("FLUSH TABLE t"))
    connection.execute("INSERT INTO t VALUES (2, 2)")
    flush(state, planned("FLUSH TABLE t"))
    done = report(optimize(state, planned("OPTIMIZE TABLE t FULL")))
    assert (done["rowsets_before"], done["rowsets_after"]) == (2, 1)
    assert done["operations"] > 0
    again = report(optimize(state, planned("OPTIMIZE TABLE t")))
    assert (again["operations"], again["rowsets_after"]) == (0, 1)


def test_vacuum_reports_what_it_removed(
    connection: Connection, state: SessionState, planned: Planned
) -> None:
    for value in range(3):
        connection.execute("UPDATE t SET v = ?", (value,))
        connection.execute("FLUSH TABLE t")
    connection.execute("OPTIMIZE TABLE t FULL")
    assert report(vacuum(state, planned("VACUUM TABLE t")))["undo_bytes"] == 0
    connection.execute("SET DATABASE history_max_age = 0")
    assert report(vacuum(state, planned("VACUUM")))["undo_bytes"] > 0
    second = vacuum(state, planned("VACUUM TABLE t"))
    assert report(second)["undo_bytes"] == 0
    assert second.message == "Old history has been dropped."


@pytest.mark.parametrize("sql", ["FLUSH", "OPTIMIZE TABLE t FULL", "VACUUM"])
def test_a_cancelled_statement_keeps_all_rows(
    connection: Connection,
    state: SessionState,
    planned: Planned,
    cancelled: Callable[[], AbstractContextManager[None]],
    sql: str,
) -> None:
    run = {"FLUSH": flush, "OPTIMIZE TABLE t FULL": optimize, "VACUUM": vacuum}[sql]
    connection.execute("FLUSH TABLE t")
    connection.execute("INSERT INTO t VALUES (2, 2)")
    plan = planned(sql)
    with pytest.raises(QueryCancelledError), cancelled():
        run(state, plan)
    assert connection.execute("SELECT * FROM t ORDER BY k").fetchall() == [(1, 1), (2, 2)]
