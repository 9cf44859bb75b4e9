"""First rows of a table: the answer is that of the whole query, from fewer rows."""

import json
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import pykudu_sql
from pykudu_sql.executor.reading import join_scans, scanned_rows, top_rows
from tests.pykudu_sql.executor.reading.engine_only import engine_only

ROWS = 3000
COLUMNS = ("id", "rising", "scattered", "x", "word", "alike")


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    """Rows on disk, some changed and deleted since, and newer ones in memory."""
    pick = Random(3)
    with pykudu_sql.connect(autocommit=True, maintenance=False) as opened:
        opened.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, rising BIGINT, scattered INT, x DOUBLE, "
            "word STRING, alike INT) "
        )
        for first in range(0, ROWS, 1000):
            rows = [
                (
                    i,
                    None if i % 97 == 0 else 10 * i,
                    None if i % 41 == 0 else pick.randrange(-500, 500),
                    float("nan") if i % 89 == 0 else pick.random(),
                    f"w{pick.randrange(300):03d}",
                    7,
                )
                for i in range(first, first + 1000)
            ]
            opened.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
            if first < 2000:
                opened.execute("FLUSH TABLE t")
        opened.execute("UPDATE t SET rising = 5, scattered = 900 WHERE id % 50 = 49")
        opened.execute("DELETE FROM t WHERE id > 2990 OR id BETWEEN 900 AND 990")
        yield opened


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    """Narrow also queries of small tables, of which few rows are sorted without the engine."""
    with (
        patch.multiple(top_rows, _LEAST_ROWS=1, _LEAST_READ=1),
        patch.object(scanned_rows, "MOST_ROWS", 1000),
    ):
        yield


ORDERS = [
    f"{column} {direction}{', id' if column != 'id' else ''}"
    for column, direction in product(COLUMNS, ("", "DESC", "DESC NULLS LAST", "NULLS FIRST"))
]
WHERES = ("", "WHERE scattered > 100", "WHERE id < 1500 AND word <> 'w007'", "WHERE rising IS NULL")


@pytest.mark.parametrize("order", ORDERS)
def test_the_first_rows_are_those_of_the_whole_query(
    connection: pykudu_sql.Connection, order: str
) -> None:
    for where, tail in product(WHERES, ("LIMIT 1", "LIMIT 20", "LIMIT 300 OFFSET 40")):
        for shown in ("*, upper(word) AS up", "*"):
            sql = f"SELECT {shown} FROM t {where} ORDER BY {order} {tail}"
            first = repr(connection.execute(sql).fetchall())
            with engine_only():
                assert first == repr(connection.execute(sql).fetchall()), sql


@pytest.mark.parametrize(
    ("order", "narrowed"),
    [("id DESC", 1), ("scattered DESC", 1), ("alike", 1), ("word DESC", 0)],
)
def test_a_query_is_narrowed_where_that_leaves_rows_out(
    connection: pykudu_sql.Connection, order: str, narrowed: int
) -> None:
    made: list[Any] = []

    def note(*args: Any) -> Any:
        made.append(args)
        return narrow(*args)

    narrow = top_rows._reached
    with patch.object(top_rows, "_reached", note):
        connection.execute(f"SELECT * FROM t ORDER BY {order} LIMIT 5").fetchall()
    assert len(made) == narrowed


def test_rows_of_the_open_transaction_are_among_the_first(
    connection: pykudu_sql.Connection,
) -> None:
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t (id, rising) VALUES (90000, 1)")
    rows = connection.execute("SELECT id FROM t ORDER BY id DESC LIMIT 2").fetchall()
    connection.execute("ROLLBACK")
    assert rows == [(90000,), (2990,)]


def test_rows_that_are_not_to_be_held_are_read_while_they_are_fetched(
    connection: pykudu_sql.Connection,
) -> None:
    sql = "SELECT id, upper(word) AS up FROM t ORDER BY id DESC LIMIT 2500"
    whole = connection.execute(sql).fetchall()
    connection.execute("SET result_memory_bytes = 65536")
    with patch.object(top_rows, "_reached") as narrow:
        assert connection.execute(sql).fetchall() == whole
    connection.execute("SET result_memory_bytes = DEFAULT")
    narrow.assert_not_called()


def test_explain_analyze_shows_the_condition_that_narrows(
    connection: pykudu_sql.Connection,
) -> None:
    sql = "EXPLAIN ANALYZE SELECT id, word FROM t ORDER BY id DESC LIMIT 5"
    lines = [line.strip() for (line,) in connection.execute(sql).fetchall()]
    assert any(line.startswith("pushed: id >= ") for line in lines)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "around",
    [
        "SELECT * FROM ({}) AS q ORDER BY id",
        "SELECT count(*), min(id), max(rising) FROM ({}) AS q",
        "WITH q AS ({}) SELECT a.id FROM q AS a JOIN q AS b USING (id) ORDER BY 1",
        "SELECT id FROM t WHERE id IN (SELECT id FROM ({}) AS q) ORDER BY id",
    ],
)
def test_a_subquery_of_first_rows_has_those_of_all(
    connection: pykudu_sql.Connection, around: str, order: str
) -> None:
    sql = around.format(f"SELECT * FROM t ORDER BY {order} LIMIT 7 OFFSET 2")
    narrowed = str(connection.execute(sql).fetchall())  # NaN is not equal to itself
    with patch.object(join_scans, "first_rows_of", lambda *arguments: None):
        assert narrowed == str(connection.execute(sql).fetchall())


def test_a_subquery_of_first_rows_reads_few(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT avg(x) FROM (SELECT x FROM t ORDER BY rising DESC NULLS LAST LIMIT 5) AS q"
    ((text,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
    (scan,) = json.loads(text)["scans"]
    assert 5 <= scan["rows"] < 1500
    assert "narrowed if __scan_0 is large" in str(connection.execute(f"EXPLAIN {sql}").fetchall())


def test_a_subquery_of_first_rows_sees_those_of_its_transaction(
    connection: pykudu_sql.Connection,
) -> None:
    sql = "SELECT max(id) FROM (SELECT id FROM t ORDER BY rising DESC NULLS LAST LIMIT 1) AS q"
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET rising = 1000000 WHERE id = 3")
    assert connection.execute(sql).fetchall() == [(3,)]
    connection.execute("DELETE FROM t WHERE id = 3")
    assert connection.execute(sql).fetchall() != [(3,)]
    connection.rollback()
