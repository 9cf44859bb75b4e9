"""A database whose clock shows a late year, or none that it can keep.

Hybrid times from 2041-05-10 on do not fit a signed 64-bit integer; they end in the year 2077.
"""

import datetime as dt
import time
from decimal import Decimal
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.storage.common.types.hybrid_time import END_OF_TIME, from_micros, to_datetime

UNSIGNED = dt.datetime(2041, 5, 10, 11, 56, 53, 685248)
LATE = {
    "half before": UNSIGNED - dt.timedelta(microseconds=6),
    "unsigned": dt.datetime(2042, 6, 1),
    "last year": dt.datetime(2076, 12, 31),
}
PHYSICAL = ("", "FLUSH TABLE t", "FLUSH TABLE t; OPTIMIZE TABLE t FULL", "reopen")


class Clock:
    """The system's clock as a test sets it; it moves by a microsecond at each look."""

    def __init__(self, moment: dt.datetime) -> None:
        self.turn(moment)

    def turn(self, moment: dt.datetime) -> None:
        since = moment - dt.datetime(1970, 1, 1)
        self._nanoseconds = since // dt.timedelta(microseconds=1) * 1000

    def __call__(self) -> int:
        self._nanoseconds += 1000
        return self._nanoseconds


class Database:
    """A database that a test takes through its physical states."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()

    def _open(self) -> None:
        self._connection = pykudu_sql.connect(self._path, autocommit=True)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return self._connection.execute(sql).fetchall()

    def run(self, statements: str) -> None:
        for sql in statements.split(";"):
            if sql.strip() == "reopen":
                self.close()
                self._open()
            elif sql.strip():
                self._connection.execute(sql)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock(LATE["unsigned"])
    monkeypatch.setattr(time, "time_ns", found)
    return found


def test_hybrid_times_become_unsigned_at_that_moment() -> None:
    assert to_datetime(from_micros((1 << 63) >> 12)) == UNSIGNED
    assert to_datetime(END_OF_TIME).year == 2077


@pytest.mark.parametrize("state", PHYSICAL, ids=["memory", "flushed", "compacted", "reopened"])
@pytest.mark.parametrize("moment", LATE.values(), ids=LATE)
def test_rows_are_looked_up_by_key_whatever_the_year(
    tmp_path: Path, clock: Clock, moment: dt.datetime, state: str
) -> None:
    clock.turn(moment)
    database = Database(tmp_path / "db")
    database.run("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    database.run("INSERT INTO t VALUES (1, 10), (2, 20)")
    database.run("INSERT INTO t VALUES (3, 30)")
    database.run(state)
    for key in (1, 3):
        with pytest.raises(pykudu_sql.IntegrityError):
            database.run(f"INSERT INTO t VALUES ({key}, 0)")
    database.run(
        "UPDATE t SET v = 11 WHERE k = 1;DELETE FROM t WHERE k = 2;UPSERT INTO t VALUES (3, 31)"
    )
    database.run(state)
    assert database.rows("SELECT k, v FROM t ORDER BY k") == [(1, 11), (3, 31)]
    assert database.rows("SELECT v FROM t WHERE k = 3") == [(31,)]
    database.run("INSERT INTO t VALUES (2, 22)")
    database.run("BEGIN;UPDATE t SET v = 12 WHERE k = 1;INSERT INTO t VALUES (4, 4)")
    assert database.rows("SELECT k, v FROM t ORDER BY k") == [(1, 12), (2, 22), (3, 31), (4, 4)]
    database.run("COMMIT")
    assert database.rows("SELECT k, v FROM t ORDER BY k") == [(1, 12), (2, 22), (3, 31), (4, 4)]
    database.close()


@pytest.mark.parametrize("state", PHYSICAL, ids=["memory", "flushed", "compacted", "reopened"])
@pytest.mark.parametrize("moment", LATE.values(), ids=LATE)
def test_history_is_read_whatever_the_year(
    tmp_path: Path, clock: Clock, moment: dt.datetime, state: str
) -> None:
    clock.turn(moment)
    database = Database(tmp_path / "db")
    database.run("CREATE TABLE t (k INT PRIMARY KEY, v INT);CREATE SNAPSHOT s0")
    for number in range(1, 4):
        database.run(f"UPSERT INTO t VALUES (1, {number});CREATE SNAPSHOT s{number};{state}")
    for number in range(1, 4):
        assert database.rows(f"SELECT v FROM t AS OF SNAPSHOT s{number}") == [(number,)]
        moments = database.rows(f"SELECT timestamp FROM sys.snapshots WHERE name = 's{number}'")
        (timestamp,) = moments[0]
        assert isinstance(timestamp, Decimal)
        for written in (timestamp, f"CAST({timestamp} AS DECIMAL(20,0))"):
            assert database.rows(f"SELECT v FROM t AS OF {written}") == [(number,)]
    assert database.rows("SELECT k, v FROM t AS OF SNAPSHOT s0") == []
    changes = database.rows(
        "SELECT v, _change_type, _commit_timestamp FROM CHANGES(t, snapshot('s0')) "
        "ORDER BY _commit_timestamp, _change_type DESC"
    )
    assert [row[0] for row in changes] == [1, 1, 2, 2, 3]
    assert all(abs(row[2] - moment) < dt.timedelta(seconds=1) for row in changes)  # type: ignore
    versions = database.rows(
        "SELECT v, _valid_from, _valid_to FROM t FOR SYSTEM_TIME ALL ORDER BY _valid_from, v"
    )
    assert [row[0] for row in versions] == [1, 2, 3]
    assert [row[2] is None for row in versions] == [False, False, True]
    database.close()


def test_a_commit_at_a_time_that_cannot_be_kept_is_refused(tmp_path: Path, clock: Clock) -> None:
    database = Database(tmp_path / "db")
    database.run("CREATE TABLE t (k INT PRIMARY KEY, v INT);INSERT INTO t VALUES (1, 1)")
    for year in (2077, 2200, 9999):
        clock.turn(dt.datetime(year, 12, 31, 23, 59))
        for sql in ("INSERT INTO t VALUES (2, 2)", "CREATE TABLE u (k INT PRIMARY KEY)"):
            with pytest.raises(pykudu_sql.OperationalError, match=f"{year}.*2077-01-12") as caught:
                database.run(sql)
            assert caught.value.sqlstate == "58000"
    clock.turn(dt.datetime(2042, 6, 2))
    database.run("INSERT INTO t VALUES (3, 3);reopen")
    assert database.rows("SELECT k FROM t ORDER BY k") == [(1,), (3,)]
    database.close()


def test_opening_and_closing_at_such_a_time_harms_nothing(tmp_path: Path, clock: Clock) -> None:
    database = Database(tmp_path / "db")
    database.run("CREATE TABLE t (k INT PRIMARY KEY, v INT);INSERT INTO t VALUES (1, 1)")
    clock.turn(dt.datetime(9999, 12, 31))
    database.close()
    with pytest.raises(pykudu_sql.OperationalError, match="9999"):
        Database(tmp_path / "db").rows("SELECT k FROM t")
    clock.turn(dt.datetime(2042, 6, 2))
    database = Database(tmp_path / "db")
    database.run("INSERT INTO t VALUES (2, 2)")
    assert database.rows("SELECT k FROM t ORDER BY k") == [(1,), (2,)]
    database.close()
