"""A text with an offset from UTC names one moment, wherever it meets a TIMESTAMP."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.storage.errors import InvalidValueError, ValueOutOfRangeError

MOMENT = "2024-01-01 10:00:00+02:00"
STORED = dt.datetime(2024, 1, 1, 8)


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (at TIMESTAMP PRIMARY KEY, v INT, s STRING)")
        connection.execute(f"INSERT INTO t VALUES ('{MOMENT}', 1, '{MOMENT}')")
        connection.execute("INSERT INTO t VALUES ('2024-01-01 10:00:00', 2, 'other')")
        yield connection


def rows(connection: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    return connection.execute(sql, parameters).fetchall()


@pytest.mark.parametrize(
    "condition",
    [
        "at = {}",
        "{} = (at)",
        "at = {} AND v + 0 = 1",
        "at IN ({}, '2001-01-01')",
        "at BETWEEN {} AND {}",
        "at <= {}",
        "at = CAST({} AS TIMESTAMP)",
        "at + INTERVAL 0 DAY = CAST({} AS TIMESTAMP)",
        "CASE at WHEN {} THEN true END",
        "EXISTS (SELECT 1 FROM t AS u WHERE u.at = {} AND u.v = t.v)",
    ],
)
def test_a_written_moment_is_found_by_the_text_it_was_written_with(
    connection: Connection, condition: str
) -> None:
    literal = condition.replace("{}", f"'{MOMENT}'")
    assert rows(connection, f"SELECT at, v FROM t WHERE {literal}") == [(STORED, 1)]
    named = condition.replace("{}", ":at")
    assert rows(connection, f"SELECT at, v FROM t WHERE {named}", {"at": MOMENT}) == [(STORED, 1)]


def test_a_column_of_a_subquery_is_compared_alike(connection: Connection) -> None:
    inner = "(SELECT at AS x, v FROM t) AS q"
    assert rows(connection, f"SELECT v FROM {inner} WHERE x = '{MOMENT}'") == [(1,)]


def test_long_lists_are_compared_alike(connection: Connection) -> None:
    others = (f"'2001-01-01 00:{i // 60:02}:{i % 60:02}'" for i in range(1500))
    listed = f"('{MOMENT}', {', '.join(others)})"
    assert rows(connection, f"SELECT v FROM t WHERE at IN {listed}") == [(1,)]
    assert rows(connection, f"SELECT v FROM t WHERE s IN {listed}") == [(1,)]


def test_changes_hit_the_row_that_was_written(connection: Connection) -> None:
    assert connection.execute("UPDATE t SET v = 3 WHERE at = ?", (MOMENT,)).rowcount == 1
    assert connection.execute(f"DELETE FROM t WHERE at = '{MOMENT}' AND v > 0").rowcount == 1
    assert rows(connection, "SELECT v FROM t") == [(2,)]


def test_a_text_column_keeps_its_texts(connection: Connection) -> None:
    assert rows(connection, f"SELECT v FROM t WHERE s = '{MOMENT}'") == [(1,)]
    assert rows(connection, "SELECT v FROM t WHERE s = ?", (MOMENT,)) == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST(s AS TIMESTAMP) FROM t WHERE v = 1",
        "SELECT s::TIMESTAMP FROM t WHERE v = 1",
        "SELECT TRY_CAST(s AS TIMESTAMP) AS x FROM t WHERE x IS NOT NULL",
        "SELECT CAST((q.x) AS TIMESTAMP) FROM (SELECT s AS x, v FROM t) q WHERE v = 1",
        "WITH q AS (SELECT s FROM t WHERE v = 1) SELECT max(CAST(s AS TIMESTAMP)) FROM q",
        "SELECT (SELECT CAST(t.s AS TIMESTAMP)) FROM t WHERE v = 1",
        "SELECT CAST(s AS TIMESTAMP) FROM t WHERE v = 1 GROUP BY CAST(s AS TIMESTAMP)",
        "SELECT at FROM t WHERE s = at AND v = 1",
        "SELECT a.at FROM t AS a JOIN t AS b ON a.at = TRY_CAST(b.s AS TIMESTAMP)",
    ],
)
def test_a_stored_text_that_is_read_as_a_moment_is_the_one_it_names(
    connection: Connection, sql: str
) -> None:
    assert rows(connection, sql) == [(STORED,)]


def test_stored_texts_without_an_offset_are_read_as_before(connection: Connection) -> None:
    connection.execute("CREATE TABLE u (id INT PRIMARY KEY, s VARCHAR(40))")
    noon = dt.datetime(2024, 1, 1, 12)
    texts = {
        "2024-01-01 12:00": noon,
        "2024-01-01T12:00:00": noon,
        "2024-01-01 12:00:00Z": noon,
        "2024-01-01 12:00:00 UTC": noon,
        " 2024-01-01 12:00:00.000 ": noon,
        "2024-01-01 13:00:00 Europe/Berlin": noon,
        "2024-01-01 08:30:00-0330": noon,
        "2024-01-01": dt.datetime(2024, 1, 1),
        "nonsense": None,
    }
    connection.executemany("INSERT INTO u VALUES (?, ?)", list(enumerate(texts)))
    found = rows(connection, "SELECT s, TRY_CAST(s AS TIMESTAMP) FROM u")
    assert dict(found) == texts
    with pytest.raises(InvalidValueError):
        rows(connection, "SELECT CAST(s AS TIMESTAMP) FROM u")


def test_queried_texts_are_stored_as_the_moment_they_name(connection: Connection) -> None:
    connection.execute("INSERT INTO t (at) SELECT '2024-01-02 00:00:00-01:30'")
    connection.execute("INSERT INTO t (at) SELECT TIMESTAMP '2024-01-03 00:00:00Z'")
    assert rows(connection, "SELECT at FROM t WHERE at > '2024-01-02' ORDER BY at") == [
        (dt.datetime(2024, 1, 2, 1, 30),),
        (dt.datetime(2024, 1, 3),),
    ]


def test_an_offset_out_of_the_calendar_is_an_error_of_its_own(connection: Connection) -> None:
    with pytest.raises(ValueOutOfRangeError, match="in UTC it is outside the years 1 to 9999"):
        rows(connection, "SELECT v FROM t WHERE at < '0001-01-01 00:00:00+02:00'")


@pytest.mark.parametrize("fraction", ["", ".5", ".12345", ".123456"])
def test_a_blank_may_stand_before_the_offset(connection: Connection, fraction: str) -> None:
    text = f"2024-03-01 10:00:00{fraction} -02:30"
    connection.execute("UPDATE t SET s = ? WHERE v = 1", (text,))
    expected = dt.datetime.fromisoformat(f"2024-03-01 12:30:00{fraction}")
    for cast in ("CAST", "TRY_CAST"):
        sql = f"SELECT {cast}(s AS TIMESTAMP), {cast}('{text}' AS TIMESTAMP) FROM t WHERE v = 1"
        assert rows(connection, sql) == [(expected, expected)]
