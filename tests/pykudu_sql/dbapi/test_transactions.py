"""Transactions as a user of the DB-API meets them."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import Connection

Open = Callable[[], Connection]


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Open]:
    """Opens one more connection to one database."""
    opened: list[Connection] = []

    def connect() -> Connection:
        opened.append(pykudu_sql.connect(tmp_path / "db", durability="off"))
        return opened[-1]

    first = connect()
    first.execute("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
    first.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    first.commit()
    yield connect
    for connection in opened:
        connection.__exit__(None, None, None)


def rows(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT id, v FROM t ORDER BY id").fetchall()


def test_a_transaction_opens_with_the_first_statement_and_closes_with_commit(reopen: Open) -> None:
    connection = reopen()
    assert not connection.in_transaction
    rows(connection)
    assert connection.in_transaction
    connection.commit()
    assert not connection.in_transaction


def test_nothing_is_seen_by_others_before_commit(reopen: Open) -> None:
    writer, reader = reopen(), reopen()
    writer.execute("INSERT INTO t VALUES (3, 'three')")
    writer.execute("UPDATE t SET v = 'ONE' WHERE id = 1")
    writer.execute("DELETE FROM t WHERE id = 2")
    assert rows(writer) == [(1, "ONE"), (3, "three")]
    assert rows(reader) == [(1, "one"), (2, "two")]
    writer.commit()
    assert rows(reader) == [(1, "one"), (2, "two")], "its own snapshot stays what it was"
    reader.rollback()
    assert rows(reader) == [(1, "ONE"), (3, "three")]


def test_rollback_forgets_writes_by_key_by_query_and_in_bulk(reopen: Open) -> None:
    connection = reopen()
    connection.execute("UPDATE t SET v = 'x'")
    connection.append("t", {"id": list(range(10, 60_010)), "v": ["bulk"] * 60_000})
    connection.execute("DELETE FROM t WHERE id = 1")
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (60_001,)
    connection.rollback()
    assert rows(connection) == [(1, "one"), (2, "two")]


def test_closing_without_commit_rolls_back_and_warns(reopen: Open) -> None:
    connection = reopen()
    connection.execute("DELETE FROM t")
    with pytest.warns(ResourceWarning, match="closed with uncommitted changes") as warned:
        connection.close()
    assert warned[0].filename == __file__
    assert rows(reopen()) == [(1, "one"), (2, "two")]


def test_the_second_of_two_transactions_on_one_row_loses_and_can_run_again(reopen: Open) -> None:
    first, second = reopen(), reopen()
    for connection in (first, second):
        connection.execute("UPDATE t SET v = v || '!' WHERE id = 1")
    first.commit()
    with pytest.raises(pykudu_sql.SerializationError) as caught:
        second.commit()
    assert caught.value.sqlstate == "40001"
    assert not second.in_transaction
    second.execute("UPDATE t SET v = v || '?' WHERE id = 1")
    second.commit()
    assert rows(second)[0] == (1, "one!?")


def test_a_failed_statement_leaves_the_transaction_as_it_was(reopen: Open) -> None:
    connection = reopen()
    connection.execute("INSERT INTO t VALUES (3, 'three')")
    with pytest.raises(pykudu_sql.IntegrityError):
        connection.execute("INSERT INTO t VALUES (4, 'four'), (1, 'again')")
    assert connection.in_transaction
    connection.commit()
    assert [row[0] for row in rows(connection)] == [1, 2, 3]


def test_autocommit_commits_each_statement(reopen: Open) -> None:
    connection, other = reopen(), reopen()
    connection.autocommit = True
    connection.execute("INSERT INTO t VALUES (3, 'three')")
    assert not connection.in_transaction
    assert len(rows(other)) == 3


def test_switching_autocommit_on_commits_what_is_open(reopen: Open) -> None:
    connection = reopen()
    connection.execute("DELETE FROM t WHERE id = 1")
    connection.autocommit = True
    assert rows(reopen()) == [(2, "two")]


def test_begin_opens_a_transaction_in_autocommit_too(reopen: Open) -> None:
    connection = reopen()
    connection.autocommit = True
    connection.execute("BEGIN")
    connection.execute("DELETE FROM t")
    with pytest.raises(pykudu_sql.OperationalError, match="open already"):
        connection.execute("BEGIN")
    connection.execute("ROLLBACK")
    assert rows(connection) == [(1, "one"), (2, "two")]
    assert connection.execute("COMMIT").message == "There was no transaction."


def test_statements_of_their_own_that_race_are_run_again(reopen: Open) -> None:
    reopen().execute("FLUSH")

    def count_up() -> None:
        connection = reopen()
        connection.autocommit = True
        for _ in range(20):
            connection.execute("UPDATE t SET v = v || '+' WHERE id = 2 AND v LIKE 'two%'")

    threads = [threading.Thread(target=count_up) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(reopen())[1] == (2, "two" + "+" * 40)


def test_the_catalog_changes_at_once_and_no_rollback_undoes_it(reopen: Open) -> None:
    connection = reopen()
    rows(connection)
    connection.execute("CREATE TABLE u (a INT PRIMARY KEY)")
    connection.execute("INSERT INTO u VALUES (1)")
    assert connection.execute("SELECT a FROM u").fetchall() == [(1,)]
    connection.rollback()
    assert connection.execute("SELECT a FROM u").fetchall() == []


DEFINITIONS = [
    "CREATE TABLE u (a INT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS t (a INT PRIMARY KEY)",
    "CREATE TABLE u PRIMARY KEY (id) AS SELECT id, v FROM t",
    "DROP TABLE t",
    "ALTER TABLE t ADD COLUMN w INT",
    "ALTER TABLE t RENAME TO u",
    "UNDROP TABLE gone",
    "CREATE SNAPSHOT s",
    "DROP SNAPSHOT IF EXISTS s",
    "SET DATABASE history_max_age = 60",
]


@pytest.mark.parametrize("sql", DEFINITIONS)
def test_a_transaction_refuses_what_changes_the_catalog(reopen: Open, sql: str) -> None:
    connection = reopen()
    connection.autocommit = True
    connection.execute("CREATE TABLE gone (a INT PRIMARY KEY)")
    connection.execute("DROP TABLE gone")
    connection.execute("BEGIN")
    with pytest.raises(pykudu_sql.OperationalError, match="cannot run inside a transaction") as no:
        connection.execute(sql)
    assert no.value.sqlstate == "25001"
    connection.execute("INSERT INTO t VALUES (3, 'three')")
    connection.execute("COMMIT")
    assert [row[0] for row in rows(connection)] == [1, 2, 3]
    connection.execute(sql)


def test_uncommitted_rows_of_any_table_hold_up_changes_of_the_catalog(reopen: Open) -> None:
    connection = reopen()
    connection.execute("DELETE FROM t WHERE id = 1")
    for sql in ("CREATE TABLE u (a INT PRIMARY KEY)", "ALTER TABLE t ADD COLUMN w INT"):
        with pytest.raises(pykudu_sql.OperationalError, match="inside a transaction"):
            connection.execute(sql)
    connection.commit()
    connection.execute("ALTER TABLE t ADD COLUMN w INT DEFAULT 7")
    assert connection.execute("SELECT * FROM t").fetchall() == [(2, "two", 7)]


def test_a_change_of_the_catalog_ends_a_transaction_that_has_only_read(reopen: Open) -> None:
    connection, other = reopen(), reopen()
    assert len(rows(connection)) == 2
    other.execute("INSERT INTO t VALUES (3, 'three')")
    other.commit()
    connection.execute("CREATE TABLE u (a INT PRIMARY KEY)")
    assert not connection.in_transaction
    assert len(rows(connection)) == 3


def test_a_table_made_from_a_query_is_committed_with_its_rows(reopen: Open) -> None:
    connection = reopen()
    connection.execute("CREATE TABLE u PRIMARY KEY (id) AS SELECT id, v FROM t")
    assert not connection.in_transaction
    assert reopen().execute("SELECT count(*) FROM u").fetchone() == (2,)


def test_executemany_that_fails_midway_leaves_the_transaction_as_it_was(reopen: Open) -> None:
    connection = reopen()
    connection.execute("INSERT INTO t VALUES (3, 'three')")
    sql = "INSERT INTO t SELECT id + ?, v FROM t WHERE id <= 2"
    with pytest.raises(pykudu_sql.IntegrityError):
        connection.executemany(sql, [(10,), (2,)])
    assert [row[0] for row in rows(connection)] == [1, 2, 3]
    connection.commit()
    assert [row[0] for row in rows(connection)] == [1, 2, 3]


def test_a_savepoint_begins_a_transaction_unless_statements_stand_alone(reopen: Open) -> None:
    connection = reopen()
    connection.execute("SAVEPOINT a")
    assert connection.in_transaction
    connection.commit()
    connection.autocommit = True
    with pytest.raises(pykudu_sql.OperationalError, match="needs a transaction") as caught:
        connection.execute("SAVEPOINT a")
    assert caught.value.sqlstate == "25P01"


def test_savepoints_end_with_their_transaction(reopen: Open) -> None:
    connection = reopen()
    for end in (connection.commit, connection.rollback):
        connection.execute("SAVEPOINT a")
        end()
        for sql in ("ROLLBACK TO a", "RELEASE a"):
            with pytest.raises(pykudu_sql.ProgrammingError, match="'a' does not exist") as caught:
                connection.execute(sql)
            assert caught.value.sqlstate == "3B001"


def test_a_transaction_reads_one_moment_while_others_commit(reopen: Open) -> None:
    reader, writer = reopen(), reopen()
    before = rows(reader)
    for i in range(5):
        writer.execute("UPSERT INTO t VALUES (?, ?)", (i, "new"))
        writer.commit()
        assert rows(reader) == before
        assert reader.execute("SELECT v FROM t WHERE id = 1").fetchone() == ("one",)


def test_as_of_a_snapshot_timestamp_shows_that_moment(reopen: Open) -> None:
    connection = reopen()
    moment = connection.snapshot_timestamp()
    connection.execute("UPDATE t SET v = 'later'")
    connection.execute("DELETE FROM t WHERE id = 2")
    connection.commit()
    found = connection.execute(f"SELECT v FROM t FOR SYSTEM_TIME AS OF {moment} ORDER BY id")
    assert found.fetchall() == [("one",), ("two",)]
    by_key = f"SELECT v FROM t FOR SYSTEM_TIME AS OF {moment} WHERE id = ?"
    assert connection.execute(by_key, (2,)).fetchone() == ("two",)
    connection.execute(f"SET as_of = {moment}")
    assert connection.as_of == moment
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)
    shown = connection.execute("SHOW SETTINGS LIKE 'as_of'").fetchone()
    assert shown is not None and shown[1] == str(moment)
    connection.execute("SET as_of = DEFAULT")
    assert connection.as_of is None
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)
