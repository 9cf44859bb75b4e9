"""An open transaction sees tables, views and databases as they were when it began."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import pykudu_sql
import pykudu_sql.session.statement_planner
from pykudu_sql.database import Database
from pykudu_sql.session.session import Session
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.transaction.transaction import Transaction

Sessions = tuple[pykudu_sql.Connection, pykudu_sql.Connection]
MAKE = "CREATE TABLE t (k INT PRIMARY KEY, n INT)"
REPLACED = ("CREATE OR REPLACE TABLE t (k INT PRIMARY KEY, n INT)",)
RECREATED = ("DROP TABLE t", MAKE)
RENAMED = ("ALTER TABLE t RENAME TO u", MAKE, "INSERT INTO t VALUES (5, 5)")
FILLED_ANEW = ("CREATE OR REPLACE TABLE t PRIMARY KEY (k) AS SELECT 9 AS k, 9 AS n",)
DROPPED = ("DROP TABLE t",)
ALTERED = (
    "ALTER TABLE t ADD COLUMN z INT DEFAULT 3",
    "ALTER TABLE t DROP COLUMN n",
    "ALTER TABLE t ADD COLUMN n STRING",
)
COLUMN_RENAMED = ("ALTER TABLE t RENAME COLUMN n TO m",)
EMPTIED = ("TRUNCATE TABLE t",)
RESTORED = ("DELETE FROM t", "RESTORE TABLE t TO SNAPSHOT first", "DELETE FROM t WHERE k = 2")
DATABASE_REMADE = (
    "DROP DATABASE d CASCADE",
    "CREATE DATABASE d",
    f"{MAKE.replace('t (', 'd.t (')}",
)
VIEW_REPLACED = ("CREATE OR REPLACE VIEW v AS SELECT 0 AS k, 0 AS n",)
VIEW_DROPPED = ("DROP VIEW v",)
RANGE_DROPPED = ("ALTER TABLE r DROP RANGE PARTITION VALUES < 2",)
READ = "SELECT * FROM {} ORDER BY k"


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    path = str(tmp_path / "my.db")
    with (
        pykudu_sql.connect(path, autocommit=True) as session,
        pykudu_sql.connect(path, autocommit=True) as other,
    ):
        session.execute("CREATE DATABASE d")
        for made in (
            "t (k INT PRIMARY KEY, n INT)",
            "d.t (k INT PRIMARY KEY, n INT)",
            "r (k INT PRIMARY KEY, n INT) PARTITION BY RANGE (k)"
            " (PARTITION VALUES < 2, PARTITION 2 <= VALUES)",
        ):
            session.execute(f"CREATE TABLE {made}")
            session.execute(f"INSERT INTO {made.split()[0]} VALUES (1, 1), (2, 2)")
        session.execute("CREATE VIEW v AS SELECT k, n FROM t")
        session.execute("CREATE SNAPSHOT first")
        yield session, other


def _rows(session: pykudu_sql.Connection, sql: str) -> list[Any]:
    return session.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *(("t", changes) for changes in (REPLACED, RECREATED, RENAMED, FILLED_ANEW, DROPPED)),
        *(("t", changes) for changes in (ALTERED, COLUMN_RENAMED, EMPTIED, RESTORED)),
        *(("v", changes) for changes in (RECREATED, VIEW_REPLACED, VIEW_DROPPED)),
        ("d.t", DATABASE_REMADE),
        ("r", RANGE_DROPPED),
    ],
)
def test_an_open_transaction_reads_the_table_of_its_beginning(
    sessions: Sessions, name: str, changes: tuple[str, ...]
) -> None:
    session, other = sessions
    read, by_key = READ.format(name), f"SELECT n FROM {name} WHERE k = 1"
    session.execute(f"PREPARE p AS {read}")
    _rows(session, by_key)
    session.execute("BEGIN")
    listed = [_rows(session, "SHOW TABLES"), _rows(session, "SHOW DATABASES")]
    for change in changes:
        other.execute(change)
    other.execute("FLUSH")
    assert _rows(session, read) == _rows(session, "EXECUTE p") == [(1, 1), (2, 2)]
    assert _rows(session, by_key) == [(1,)]
    assert [_rows(session, "SHOW TABLES"), _rows(session, "SHOW DATABASES")] == listed
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'default'"
    assert set(_rows(session, names)) == set(listed[0])
    session.execute("COMMIT")


@pytest.mark.parametrize(
    ("changes", "write"),
    [
        (REPLACED, "INSERT INTO t VALUES (7, 7)"),
        (RECREATED, "UPDATE t SET n = n + 1"),
        (FILLED_ANEW, "DELETE FROM t WHERE k = 1"),
        (DROPPED, "UPSERT INTO t SELECT k, 0 FROM t"),
    ],
)
def test_what_a_transaction_writes_to_a_replaced_table_is_a_conflict(
    sessions: Sessions, changes: tuple[str, ...], write: str
) -> None:
    session, other = sessions
    session.execute("BEGIN")
    for change in changes:
        other.execute(change)
    session.execute(write)
    with pytest.raises(pykudu_sql.OperationalError, match="'t' was dropped or replaced") as caught:
        session.execute("COMMIT")
    assert caught.value.sqlstate == "40001"
    if changes is not DROPPED:
        expected = [(9, 9)] if changes is FILLED_ANEW else []
        assert _rows(session, READ.format("t")) == expected


def test_what_a_transaction_writes_goes_to_its_table_by_whatever_name(sessions: Sessions) -> None:
    session, other = sessions
    session.execute("BEGIN")
    for change in RENAMED:
        other.execute(change)
    session.execute("UPDATE t SET n = 7 WHERE k = 1")
    assert session.append("t", {"k": [8], "n": [8]}) == 1
    session.execute("COMMIT")
    assert _rows(session, READ.format("u")) == [(1, 7), (2, 2), (8, 8)]
    assert _rows(session, READ.format("t")) == [(5, 5)]


def test_a_cursor_that_streams_goes_on_over_the_table_it_began_with(sessions: Sessions) -> None:
    session, other = sessions
    session.execute("SET result_memory_bytes = 0")
    session.execute("INSERT INTO t SELECT range, 0 FROM range(10, 200000)")
    session.execute("BEGIN")
    cursor = session.execute("SELECT k FROM t")
    first = cursor.fetchmany(10)
    for change in RECREATED:
        other.execute(change)
    assert len(first) + len(cursor.fetchall()) == 199_992
    assert session.execute("SELECT count(*) FROM t").fetchone() == (199_992,)


def test_a_table_made_since_is_not_there_and_the_error_says_why(sessions: Sessions) -> None:
    session, other = sessions
    session.execute("BEGIN")
    other.execute("CREATE TABLE later (k INT PRIMARY KEY)")
    with pytest.raises(pykudu_sql.ProgrammingError, match="does not exist") as caught:
        session.execute("SELECT * FROM later")
    assert caught.value.sqlstate == "42P01"
    assert "COMMIT" in str(caught.value)
    session.execute("COMMIT")
    assert _rows(session, "SELECT * FROM later") == []


def test_a_definition_that_ends_a_reading_transaction_is_about_the_tables_of_now(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "my.db")
    with pykudu_sql.connect(path) as session, pykudu_sql.connect(path) as other:
        session.execute("SELECT 1")
        other.execute(MAKE)
        session.execute("ALTER TABLE t ADD COLUMN z INT")
        session.execute("SELECT 1")
        other.execute("DROP TABLE t")
        session.execute(MAKE)
        assert session.execute("SELECT * FROM t").fetchall() == []


def test_a_statement_whose_tables_change_before_its_snapshot_is_planned_for_that(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, other = sessions
    begin, changes = OpenStore.begin, list(FILLED_ANEW)

    def changed_first(store: OpenStore) -> Any:
        if changes:
            other.execute(changes.pop())
        return begin(store)

    monkeypatch.setattr(OpenStore, "begin", changed_first)
    assert _rows(session, READ.format("t")) == [(9, 9)]


@pytest.mark.parametrize(
    "change", ["UPDATE t SET n = 7 WHERE k = 1", "CREATE OR REPLACE TABLE t (k INT PRIMARY KEY)"]
)
def test_a_table_made_of_the_one_it_replaces_has_what_was_committed_meanwhile(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    session, other = sessions
    changes = [change]
    create_table = Transaction.create_table

    def changed_first(transaction: Transaction, table: Any, **options: Any) -> Any:
        if changes:
            other.execute(changes.pop())
        return create_table(transaction, table, **options)

    monkeypatch.setattr(Transaction, "create_table", changed_first)
    session.execute("CREATE OR REPLACE TABLE t PRIMARY KEY (k) AS SELECT * FROM t")
    expected = [(1, 7), (2, 2)] if change.startswith("UPDATE") else []
    changes.clear()
    assert _rows(session, READ.format("t")) == expected


def test_changes_of_other_tables_do_not_hold_a_statement_up(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, other = sessions
    monkeypatch.setattr(pykudu_sql.session.statement_planner, "plan", _changing_tables(other))
    assert session.execute("UPDATE t SET n = n + 1").rowcount == 2
    assert _rows(session, READ.format("t")) == [(1, 2), (2, 3)]


def _changing_tables(other: pykudu_sql.Connection) -> Any:
    """The planner, beside which another session makes a table each time."""
    plan = pykudu_sql.session.statement_planner.plan
    made = count()
    is_nested: list[bool] = []

    def planned(sql: str, context: Any) -> Any:
        result = plan(sql, context)
        if not is_nested:
            is_nested.append(True)
            other.execute(f"CREATE TABLE other{next(made)} (k INT PRIMARY KEY)")
            is_nested.clear()
        return result

    return planned


def test_a_transaction_of_a_reader_keeps_its_tables_when_another_one_refreshes(
    sessions: Sessions,
) -> None:
    session, _ = sessions
    own = session._session
    database = Database(session.path, replace(own.database.settings, read_only=True))
    with ExitStack() as closing:
        closing.callback(database.close)
        reader, refreshed = (Session(database.acquire(), own.settings, True) for _ in range(2))
        for each in (reader, refreshed):
            closing.callback(each.close)

        def rows(each: Session) -> list[Any]:
            result = each.execute(READ.format("t")).result
            assert result is not None
            return result.fetch(10)

        reader.execute("BEGIN")
        for change in FILLED_ANEW:
            session.execute(change)
        assert (rows(refreshed), rows(reader)) == ([(9, 9)], [(1, 1), (2, 2)])
        reader.execute("COMMIT")
        assert rows(reader) == [(9, 9)]
