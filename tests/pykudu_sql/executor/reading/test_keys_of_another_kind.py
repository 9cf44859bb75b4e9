"""A statement about one whole key and the same as a query say the same of every parameter."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import pykudu_sql
from pykudu_sql import Connection, Error

KEYS = {
    "TINYINT": "5",
    "INT": "5",
    "BIGINT": "5",
    "STRING": "'5'",
    "VARCHAR(3)": "'5'",
    "BINARY": "x'35'",
    "DATE": "'2026-01-05'",
    "TIMESTAMP": "'2026-01-05'",
    "DECIMAL(9, 2)": "5",
}
VALUES: list[Any] = [
    *(object(), [5], (5,), {"a": 1}, {5}, 1j, None, True, 5, -1, 10**20, 1 << 200, 5.0, 5.5),
    *(float("nan"), float("inf"), Decimal(5), Decimal("5.5"), Decimal("NaN"), Decimal("1E-50")),
    *("abc", "5", "5.0", "05", "", " 5 ", "true", "x" * 10, "9" * 5000, "\ud800", "5\ud800"),
    *("2026-01-05", "2026-01-05 00:00:00", "2026-01-05T00:00:00Z", b"5", b"x", bytearray(b"5")),
    *(memoryview(b"5"), dt.date(2026, 1, 5), dt.datetime(2026, 1, 5), dt.time(1), dt.timedelta(1)),
    *(dt.datetime(2026, 1, 5, tzinfo=dt.UTC), UUID(int=5), np.int64(5), np.float32(5)),
    np.datetime64("2026-01-05"),
]


@pytest.fixture(scope="module", params=KEYS)
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute(f"CREATE TABLE t (k {request.param} PRIMARY KEY, v INT)")
        opened.execute(f"INSERT INTO t VALUES ({KEYS[request.param]}, 1)")
        yield opened


def outcome(connection: Connection, sql: str, value: Any) -> object:
    """The rows or the number of them that a statement is about, or the SQLSTATE of its error."""
    try:
        cursor = connection.execute(sql, (value,) if "?" in sql else ())
    except Error as error:
        return error.sqlstate
    return cursor.rowcount if cursor.description is None else cursor.fetchall()


def batch(connection: Connection, sql: str, value: Any) -> object:
    try:
        return connection.executemany(sql, [(value,), (None,)]).rowcount
    except Error as error:
        return error.sqlstate


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_key_is_compared_as_any_column_is(connection: Connection, value: Any) -> None:
    expected = outcome(connection, "SELECT v + 0 FROM t WHERE k = ?", value)
    assert outcome(connection, "SELECT v FROM t WHERE k = ?", value) == expected
    count = len(expected) if isinstance(expected, list) else expected
    for statement in ("UPDATE t SET v = 1 WHERE k = ?", "DELETE FROM t WHERE k = ?"):
        connection.execute("BEGIN")
        assert outcome(connection, statement, value) == count
        connection.execute("ROLLBACK")
        connection.execute("BEGIN")
        assert batch(connection, statement, value) == count
        connection.execute("ROLLBACK")
    assert expected not in ("XX000", "22000")


COMPUTED = [
    *("2 + 3", "CAST(5 AS FLOAT)", "CAST(5 AS DOUBLE)", "5e0", "CAST(5 AS TINYINT)", "'5' || ''"),
    *("to_json(5)", "CAST('5' AS JSON)", "CAST('5' AS ENUM('5'))", "upper('5')", "unhex('35')"),
    *("DATE '2026-01-06' - INTERVAL 1 DAY", "CAST('2026-01-05' AS TIMESTAMP_NS)", "nullif(5, 5)"),
    *("CAST('2026-01-05 00:00:00.0000001' AS TIMESTAMP_NS)", "CAST('2026-01-05' AS TIMESTAMP)"),
]


@pytest.mark.parametrize("constant", COMPUTED)
def test_a_key_is_compared_with_a_computed_constant_as_any_column_is(
    connection: Connection, constant: str
) -> None:
    expected = outcome(connection, f"SELECT v + 0 FROM t WHERE k = {constant}", None)
    assert outcome(connection, f"SELECT v FROM t WHERE k = {constant}", None) == expected
    count = len(expected) if isinstance(expected, list) else expected
    connection.execute("BEGIN")
    assert outcome(connection, f"DELETE FROM t WHERE k = {constant}", None) == count
    connection.execute("ROLLBACK")


def test_a_key_equals_all_that_a_float_cannot_tell_from_it() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        opened.execute("INSERT INTO t VALUES (16777216), (16777217), (16777218)")
        found = opened.execute("SELECT k FROM t WHERE k = CAST(16777216 AS FLOAT)").fetchall()
        assert sorted(found) == [(16777216,), (16777217,)]
        deleted = opened.execute("DELETE FROM t WHERE k = CAST(16777216 AS FLOAT)")
        assert deleted.rowcount == 2


def test_what_is_no_value_of_sql_is_refused_as_a_key(connection: Connection) -> None:
    for value in (object(), [5], {"a": 1}):
        assert outcome(connection, "SELECT v FROM t WHERE k = ?", value) == "07006"


def test_only_text_is_looked_up_as_a_key_of_text() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        for table, kind in (("s", "STRING"), ("v", "VARCHAR(3)")):
            opened.execute(f"CREATE TABLE {table} (k {kind} PRIMARY KEY, v INT)")
            for value in (5, True, 5.0, Decimal(5), b"5", dt.date(2026, 1, 5), dt.time(1)):
                for head in ("SELECT v FROM {}", "UPDATE {} SET v = 1", "DELETE FROM {}"):
                    sql = f"{head.format(table)} WHERE k = ?"
                    assert outcome(opened, sql, value) == "07006", (sql, value)
