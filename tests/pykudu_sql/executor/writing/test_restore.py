"""RESTORE TABLE: rows as they were, in one commit of what differs."""

from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.restore import restore_table
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import SerializationError


@pytest.fixture
def past(connection: Connection) -> int:
    """A moment at which the table has the keys 1, 2 and 3."""
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    connection.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, NULL)")
    return connection.snapshot_timestamp()


def rows(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT * FROM t ORDER BY k").fetchall()


def test_only_the_rows_that_differ_are_written(
    connection: Connection, state: SessionState, planned: Callable[[str], Any], past: int
) -> None:
    before = rows(connection)
    connection.execute("UPDATE t SET v = 11 WHERE k = 1")
    connection.execute("DELETE FROM t WHERE k = 3")
    connection.execute("INSERT INTO t VALUES (4, 40)")
    outcome = restore_table(state, planned(f"RESTORE TABLE t TO {past}"), ())
    assert outcome.rowcount == 3
    assert outcome.message == "Table 't' has been restored."
    assert rows(connection) == before


def test_a_table_that_has_not_changed_is_not_written(
    state: SessionState, planned: Callable[[str], Any], past: int
) -> None:
    plan = planned(f"RESTORE TABLE t TO {past}")
    state.transactions.begin()
    assert restore_table(state, plan, ()).rowcount == 0
    assert not state.transactions.reading().has_writes


def test_it_is_part_of_the_open_transaction(
    connection: Connection, state: SessionState, planned: Callable[[str], Any], past: int
) -> None:
    connection.execute("DELETE FROM t")
    connection.execute("BEGIN")
    assert restore_table(state, planned(f"RESTORE TABLE t TO {past}"), ()).rowcount == 3
    assert len(rows(connection)) == 3
    connection.execute("ROLLBACK")
    assert rows(connection) == []


def test_it_loses_against_a_session_that_changed_the_same_row_first(
    connection: Connection, state: SessionState, planned: Callable[[str], Any], past: int
) -> None:
    connection.execute("UPDATE t SET v = 0")
    connection.execute("BEGIN")
    restore_table(state, planned(f"RESTORE TABLE t TO {past}"), ())
    other = state.store.begin()
    other.write_row(state.catalog.table("t"), RowOpKind.UPDATE, {0: 1, 1: 12})
    other.commit(False)
    with pytest.raises(SerializationError):
        connection.execute("COMMIT")
    assert rows(connection) == [(1, 12), (2, 0), (3, 0)]
