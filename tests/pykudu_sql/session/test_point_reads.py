"""A look-up that was planned before takes a short path, and answers as on the long one."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.session.session import Session

SELECT = "SELECT v FROM t WHERE id = ?"


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(str(tmp_path / "db"), autocommit=True) as opened:
        opened.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        opened.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, NULL)")
        warm(opened)
        yield opened


def session_of(conn: pykudu_sql.Connection) -> Session:
    assert conn._open is not None
    return conn._open


def warm(conn: pykudu_sql.Connection, sql: str = SELECT, key: object = 1) -> None:
    """Run a look-up until it is kept."""
    for _ in range(2):
        conn.execute(sql, (key,)).fetchall()


def takes_short_path(conn: pykudu_sql.Connection, sql: str = SELECT, key: object = 1) -> bool:
    reads = session_of(conn)._point_reads
    return reads.attempt(sql, (key,), counts=False) is not None


def value(conn: pykudu_sql.Connection, key: object, sql: str = SELECT) -> object:
    return conn.execute(sql, (key,)).fetchone()


def test_a_look_up_that_ran_before_takes_the_short_path(conn: pykudu_sql.Connection) -> None:
    assert takes_short_path(conn)
    assert [value(conn, key) for key in (1, 2, 3, 4)] == [("one",), ("two",), (None,), None]
    assert conn.execute(SELECT, [2]).fetchall() == [("two",)]
    cursor = conn.execute(SELECT, (2,))
    assert (cursor.rowcount, [column[0] for column in cursor.description or ()]) == (1, ["v"])


def test_it_sees_what_others_have_committed(conn: pykudu_sql.Connection) -> None:
    with pykudu_sql.connect(conn.path, autocommit=True) as other:
        other.execute("UPDATE t SET v = 'changed' WHERE id = 1")
        assert value(conn, 1) == ("changed",)
        other.execute("FLUSH TABLE t")
        other.execute("DELETE FROM t WHERE id = 1")
    assert value(conn, 1) is None


def test_an_open_transaction_keeps_its_snapshot_and_sees_its_own_writes(
    conn: pykudu_sql.Connection,
) -> None:
    conn.execute("BEGIN")
    conn.execute("UPDATE t SET v = 'mine' WHERE id = 1")
    with pykudu_sql.connect(conn.path, autocommit=True) as other:
        other.execute("UPDATE t SET v = 'theirs' WHERE id = 2")
        assert takes_short_path(conn)
        assert (value(conn, 1), value(conn, 2)) == (("mine",), ("two",))
        assert value(other, 1) == ("one",)
    conn.execute("ROLLBACK")
    assert (value(conn, 1), value(conn, 2)) == (("one",), ("theirs",))


def test_without_autocommit_the_first_look_up_begins_a_transaction(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    with pykudu_sql.connect(path, autocommit=True) as writer, pykudu_sql.connect(path) as reader:
        writer.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        writer.execute("INSERT INTO t VALUES (1, 'one')")
        warm(reader)
        reader.commit()
        assert not takes_short_path(reader)
        assert value(reader, 1) == ("one",)
        assert reader.in_transaction
        assert takes_short_path(reader)
        writer.execute("UPDATE t SET v = 'later' WHERE id = 1")
        assert value(reader, 1) == ("one",)
        reader.commit()
        assert value(reader, 1) == ("later",)


def test_it_is_planned_again_after_a_change_of_the_table(conn: pykudu_sql.Connection) -> None:
    every = "SELECT * FROM t WHERE id = ?"
    warm(conn, every)
    conn.execute("ALTER TABLE t ADD COLUMN w BIGINT DEFAULT 7")
    assert not takes_short_path(conn, every)
    assert value(conn, 1, every) == (1, "one", 7)
    conn.execute("ALTER TABLE t RENAME COLUMN v TO u")
    with pytest.raises(pykudu_sql.ProgrammingError, match="'v'"):
        value(conn, 1)
    conn.execute("DROP TABLE t")
    conn.execute("CREATE TABLE t (id STRING PRIMARY KEY, v BIGINT)")
    conn.execute("INSERT INTO t VALUES ('1', 10)")
    warm(conn, key="1")
    assert value(conn, "1") == (10,)


def test_settings_that_change_the_answer_are_heeded(conn: pykudu_sql.Connection) -> None:
    before = conn.execute("SELECT now()").fetchone()
    assert before is not None
    conn.execute("UPDATE t SET v = 'new' WHERE id = 1")
    assert value(conn, 1) == ("new",)
    conn.execute(f"SET as_of = '{before[0]}'")
    assert value(conn, 1) == ("one",)
    conn.execute("RESET as_of")
    assert value(conn, 1) == ("new",)
    conn.execute("SET statement_timeout = 1000")
    warm(conn)
    assert not takes_short_path(conn)


def test_values_that_no_row_or_only_the_engine_compares(conn: pykudu_sql.Connection) -> None:
    assert value(conn, None) is None
    assert value(conn, 2**63) is None
    assert value(conn, 1.0) == ("one",)
    assert value(conn, 1.5) is None
    assert value(conn, True) == ("one",)
    with pytest.raises(pykudu_sql.Error):
        value(conn, "no number")
    with pytest.raises(pykudu_sql.Error):
        conn.execute(SELECT, ())
    with pytest.raises(pykudu_sql.Error):
        conn.execute(SELECT, (1, 2))


def test_runs_are_counted_as_others_are(conn: pykudu_sql.Connection) -> None:
    query = f"SELECT calls, rows FROM sys.statements WHERE statement = '{SELECT}'"
    before = conn.execute(query).fetchone()
    for key in (1, 2, 9):
        value(conn, key)
    conn.counts_statements = False
    value(conn, 1)
    conn.counts_statements = True
    after = conn.execute(query).fetchone()
    assert before is not None
    assert after == (before[0] + 3, before[1] + 2)


def test_a_forked_child_reads_nothing(
    conn: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.execute("BEGIN")
    session = session_of(conn)
    assert takes_short_path(conn)
    monkeypatch.setattr(session.process, "is_current", False)
    assert not takes_short_path(conn)
    with pytest.raises(pykudu_sql.InterfaceError, match="forked"):
        session.execute(SELECT, (1,))


def test_a_closed_connection_reads_nothing(conn: pykudu_sql.Connection) -> None:
    cursor = conn.cursor()
    session = session_of(conn)
    conn.close()
    with pytest.raises(pykudu_sql.InterfaceError, match="closed"):
        conn.execute(SELECT, (1,))
    with pytest.raises(pykudu_sql.InterfaceError, match="closed"):
        cursor.execute(SELECT, (1,))
    with pytest.raises(pykudu_sql.InterfaceError, match="closed"):
        session.execute(SELECT, (1,))


def test_while_another_thread_runs_a_statement_a_look_up_waits_for_it(
    conn: pykudu_sql.Connection,
) -> None:
    lock = session_of(conn)._state.lock
    rows: list[object] = []
    with lock:
        reader = threading.Thread(target=lambda: rows.append(value(conn, 2)))
        reader.start()
        reader.join(0.1)
        assert rows == []
    reader.join()
    assert rows == [("two",)]


def test_threads_that_share_a_connection_read_while_one_writes(
    conn: pykudu_sql.Connection,
) -> None:
    failures: list[object] = []

    def read() -> None:
        last = 0
        for _ in range(400):
            row = conn.execute("SELECT n FROM c WHERE id = ?", (1,)).fetchone()
            if row is None or row[0] < last:
                failures.append((row, last))
                return
            last = row[0]

    conn.execute("CREATE TABLE c (id INT PRIMARY KEY, n BIGINT)")
    conn.execute("INSERT INTO c VALUES (1, 0)")
    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(200):
        conn.execute("UPDATE c SET n = ? WHERE id = 1", (number,))
        if number % 50 == 0:
            conn.execute("FLUSH TABLE c")
    for reader in readers:
        reader.join()
    assert failures == []
