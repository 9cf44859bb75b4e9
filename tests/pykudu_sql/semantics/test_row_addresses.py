"""UPDATE and DELETE know where their rows are; no statement can see that."""

from collections.abc import Iterator

import pytest

import pykudu_sql
from pykudu_sql.dbapi.connection import Connection
from pykudu_sql.storage.errors import UndefinedColumnError
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS


@pytest.fixture
def conn() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as made:
        made.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 2"
        )
        made.execute("INSERT INTO t SELECT i, i FROM range(10) r(i)")
        yield made


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT {name} FROM t",
        "UPDATE t SET v = {name}",
        "UPDATE t SET v = (SELECT max(u.{name}) FROM t u)",
        "DELETE FROM t WHERE t.{name} > 0",
    ],
)
def test_an_address_has_no_name(conn: Connection, statement: str) -> None:
    with pytest.raises(UndefinedColumnError, match=ROW_ADDRESS.name):
        conn.execute(statement.format(name=ROW_ADDRESS.name))


def test_a_star_in_an_update_shows_no_address(conn: Connection) -> None:
    conn.execute("UPDATE t SET v = (SELECT sum(a + b) FROM (SELECT t.*) s(a, b))")
    conn.execute("UPDATE t SET v = v + (SELECT count(*) FROM (SELECT * FROM t) s(a, b))")
    rows = conn.execute("SELECT id, v FROM t ORDER BY id").fetchall()
    assert rows == [(i, 2 * i + 10) for i in range(10)]


def test_a_column_may_have_the_name_of_addresses(conn: Connection) -> None:
    conn.execute(f"ALTER TABLE t ADD COLUMN {ROW_ADDRESS.name} INT DEFAULT 7")
    conn.execute(f"UPDATE t SET v = {ROW_ADDRESS.name}, {ROW_ADDRESS.name} = v WHERE id < 2")
    conn.execute(f"DELETE FROM t WHERE {ROW_ADDRESS.name} = 7")
    rows = conn.execute("SELECT * FROM t ORDER BY id").fetchall()
    assert rows == [(0, 7, 0), (1, 7, 1)]


def test_a_stream_of_a_scan_addresses_rows_as_a_whole_table_does(conn: Connection) -> None:
    conn.execute("FLUSH t")
    conn.execute("INSERT INTO t VALUES (10, 10), (11, 11)")
    conn.execute("SET scan_memory_bytes = 1")
    assert conn.execute("UPDATE t SET v = -v WHERE v % 2 = 1").rowcount == 6
    rows = conn.execute("SELECT id, v FROM t ORDER BY id").fetchall()
    assert rows == [(i, -i if i % 2 else i) for i in range(12)]
