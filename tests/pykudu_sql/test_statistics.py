"""What a database tells of its statements: sys.statements, sys.metrics and Python's logging."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

import pykudu_sql

BY_KEY = "SELECT b FROM t WHERE a = ?"


@pytest.fixture
def conn() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(autocommit=True) as made:
        made.execute("CREATE TABLE t (a BIGINT PRIMARY KEY, b STRING)")
        made.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
        yield made


def counted(conn: pykudu_sql.Connection, text: str) -> tuple[int, int, int] | None:
    """Calls, failures and rows of a text."""
    sql = "SELECT calls, failures, rows FROM sys.statements WHERE statement = ?"
    row = conn.execute(sql, (text,)).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def metric(conn: pykudu_sql.Connection, name: str) -> int:
    (value,) = conn.execute("SELECT value FROM sys.metrics WHERE name = ?", (name,)).fetchall()
    return int(value[0])


def test_statements_that_differ_in_values_are_counted_together(
    conn: pykudu_sql.Connection,
) -> None:
    for key in range(3):
        conn.execute(BY_KEY, (key,))
        conn.execute(f"SELECT b FROM t WHERE a = {key}")
    assert counted(conn, BY_KEY) == (6, 0, 4)
    conn.executemany("INSERT INTO t VALUES (?, ?)", [(10, "a"), (11, "b")])
    conn.append("t", {"a": [20, 21, 22]})
    assert counted(conn, "INSERT INTO t VALUES (?, ..)") == (1, 0, 2)
    assert counted(conn, "APPEND INSERT INTO t") == (1, 0, 3)
    assert counted(conn, "SELECT now()") is None
    conn.execute("SELECT now()")
    assert counted(conn, "SELECT now()") == (1, 0, 1)


def test_failures_are_counted_apart_planned_or_not(conn: pykudu_sql.Connection) -> None:
    before = metric(conn, "statements_failed")
    for sql in ("SELECT nope FROM t", "INSERT INTO t VALUES (1, 'twice')"):
        with pytest.raises(pykudu_sql.Error):
            conn.execute(sql)
    assert counted(conn, "SELECT nope FROM t") == (0, 1, 0)
    assert counted(conn, "INSERT INTO t VALUES (?, ..)") == (0, 1, 0)
    assert metric(conn, "statements_failed") == before + 2


def test_times_add_up(conn: pykudu_sql.Connection) -> None:
    for _ in range(3):
        conn.execute(BY_KEY, (1,))
    sql = "SELECT total_seconds, mean_seconds, max_seconds FROM sys.statements WHERE statement = ?"
    total, mean, longest = conn.execute(sql, (BY_KEY,)).fetchone() or (0, 0, 0)
    assert 0 < mean <= longest <= total
    assert total == pytest.approx(3 * mean)


def test_sessions_are_counted_together_also_those_that_ended(tmp_path: Path) -> None:
    with pykudu_sql.connect(tmp_path / "db", autocommit=True) as one:
        one.execute("CREATE TABLE t (a BIGINT PRIMARY KEY, b STRING)")
        with pykudu_sql.connect(tmp_path / "db", autocommit=True) as other:
            other.execute(BY_KEY, (1,))
            one.execute(BY_KEY, (1,))
            assert counted(one, BY_KEY) == (2, 0, 0)
        assert counted(one, BY_KEY) == (2, 0, 0)
        one.execute("ALTER TABLE t ADD COLUMN c INT")  # plans are made anew
        one.execute(BY_KEY, (1,))
        assert counted(one, BY_KEY) == (3, 0, 0)


def test_reset_statements_begins_anew_and_counters_go_on(conn: pykudu_sql.Connection) -> None:
    conn.execute(BY_KEY, (1,))
    before = metric(conn, "statements")
    assert conn.execute("RESET STATEMENTS").message == "Statements are counted anew."
    assert counted(conn, BY_KEY) is None
    conn.execute(BY_KEY, (1,))
    assert counted(conn, BY_KEY) == (1, 0, 1)
    assert metric(conn, "statements") > before


def test_slow_statements_are_logged_without_their_values(
    conn: pykudu_sql.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    slow = "SELECT count(*) FROM range(3000000) r(i) WHERE hash(i) % 7 = 5 AND 'secret' > ''"
    with caplog.at_level(logging.INFO, "pykudu_sql.statements"):
        conn.execute(slow)
        assert caplog.records == []
        conn.execute("SET log_slow_statements = '1 ms'")
        caplog.clear()
        conn.execute(slow)
    (record,) = (r for r in caplog.records if "range" in r.getMessage())
    assert record.levelno == logging.WARNING
    assert "secret" not in record.getMessage()
    assert "FROM range(?)" in record.getMessage()
    assert metric(conn, "statements_slow") >= 1


def test_maintenance_and_recovery_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "db"
    with caplog.at_level(logging.INFO, "pykudu_sql"):
        with pykudu_sql.connect(path, autocommit=True, maintenance=False) as made:
            made.execute("CREATE TABLE t (a BIGINT PRIMARY KEY)")
            made.execute("INSERT INTO t VALUES (1)")
        assert caplog.records == []
        with pykudu_sql.connect(path, autocommit=True, maintenance=False) as again:
            (recovery,) = caplog.records
            assert recovery.name == "pykudu_sql.recovery"
            assert "1 records of its log replayed into 1 tablets" in recovery.getMessage()
            again.execute("FLUSH t")
    flush = caplog.records[1]
    assert flush.name == "pykudu_sql.maintenance"
    assert flush.getMessage().startswith("FlushMRSOp of table 't': ")
