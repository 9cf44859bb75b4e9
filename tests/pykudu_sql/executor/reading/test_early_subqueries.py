"""Subqueries that are computed first give the answers that the engine would give for the whole."""

import json
from collections.abc import Iterator
from unittest.mock import patch

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.reading import early_subqueries, join_scans

ROWS = 6_000
HAVING = "SELECT order_id FROM lines GROUP BY order_id HAVING sum(amount) > {}"


@pytest.fixture(scope="module")
def filled() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, word STRING, n INT)")
        connection.execute(
            "CREATE TABLE lines (id BIGINT PRIMARY KEY, order_id BIGINT, amount INT)"
        )
        numbers = range(ROWS)
        orders = {
            "id": pa.array(numbers, pa.int64()),
            "word": [f"w{n % 5}" for n in numbers],
            "n": pa.array([n % 7 for n in numbers], pa.int32()),
        }
        lines = {
            "id": pa.array(range(2 * ROWS), pa.int64()),
            "order_id": pa.array([n // 2 if n % 11 else None for n in range(2 * ROWS)], pa.int64()),
            "amount": pa.array([n % 100 for n in range(2 * ROWS)], pa.int32()),
        }
        connection.append("orders", pa.table(orders))
        connection.append("lines", pa.table(lines))
        yield connection


@pytest.fixture
def connection(filled: Connection, monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setattr(early_subqueries, "LEAST_LOOKED_UP", 100)
    monkeypatch.setattr(join_scans, "LEAST_LOOKED_UP", 100)
    return filled


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM orders WHERE id IN ({few})",
        "SELECT id FROM orders WHERE id IN ({many})",
        "SELECT id FROM orders WHERE id IN ({none})",
        "SELECT word, count(*), sum(n) FROM orders WHERE id IN ({few}) GROUP BY word",
        "SELECT o.id, l.id FROM orders o, lines l WHERE o.id IN ({few}) AND o.id = l.order_id",
        "SELECT o.id, l.id FROM orders o LEFT JOIN lines l ON o.id = l.order_id + 1 "
        "WHERE o.id IN ({few}) AND o.id IN (SELECT order_id FROM lines GROUP BY order_id "
        "HAVING count(*) = 2)",
        "SELECT count(*) FROM (SELECT id FROM orders WHERE id IN ({few}) AND n > 3) AS q",
    ],
)
def test_the_answer_is_that_of_the_whole(connection: Connection, sql: str) -> None:
    parts = {"few": HAVING.format(194), "many": HAVING.format(20), "none": HAVING.format(9999)}
    early = connection.execute(sql.format(**parts)).fetchall()
    # What is not a column as it is is left to the engine.
    computed = {k: v.replace("SELECT order_id", "SELECT order_id + 0") for k, v in parts.items()}
    assert sorted(early) == sorted(connection.execute(sql.format(**computed)).fetchall())


def test_parameters_mean_the_same_within_and_around(connection: Connection) -> None:
    sql = f"SELECT id, ? FROM orders WHERE n < ? AND id IN ({HAVING.format('?')}) ORDER BY id"
    given = connection.execute(sql, ("x", 5, 194)).fetchall()
    written = f"SELECT id, 'x' FROM orders WHERE n < 5 AND id + 0 IN ({HAVING.format(194)})"
    assert given
    assert given == sorted(connection.execute(written).fetchall())


def test_values_narrow_the_scan_around(connection: Connection) -> None:
    sql = f"SELECT id FROM orders WHERE id IN ({HAVING.format(194)})"
    ((text,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
    scans = {scan["table"]: scan for scan in json.loads(text)["scans"]}
    assert scans["orders"]["rows"] < 400
    assert scans["lines"]["rows"] == 2 * ROWS
    assert "computed first" in str(connection.execute(f"EXPLAIN {sql}").fetchall())


def test_a_transaction_sees_its_own_rows_in_both(connection: Connection) -> None:
    sql = f"SELECT count(*) FROM orders WHERE id IN ({HAVING.format(10_000)})"
    connection.execute("BEGIN")
    connection.execute("UPDATE lines SET amount = 20000 WHERE order_id = 78")
    assert connection.execute(sql).fetchall() == [(1,)]
    connection.execute("DELETE FROM orders WHERE id = 78")
    assert connection.execute(sql).fetchall() == [(0,)]
    connection.rollback()


VALUES = [
    "id = (SELECT max(order_id) FROM lines)",
    "id > (SELECT max(order_id) FROM lines) - 10",
    "(SELECT min(order_id) FROM lines WHERE amount = 98) >= id",
    "id = (SELECT max(order_id) FROM lines WHERE amount > 1000)",
    "id < (SELECT avg(amount) FROM lines)",
    "id <= (SELECT sum(amount) FROM lines WHERE id < 4)",
    "id IN (SELECT max(order_id) FROM lines GROUP BY amount)",
    "id IN (SELECT order_id FROM lines ORDER BY id DESC LIMIT 5)",
    "id BETWEEN (SELECT min(order_id) FROM lines) + 5 AND (SELECT count(*) FROM lines) - 11990",
    "word = (SELECT max(word) FROM orders WHERE n = 3) AND id < 40",
    "n = (SELECT amount FROM lines WHERE id = 3)",
]


@pytest.mark.parametrize("condition", VALUES)
@pytest.mark.parametrize("columns", ["*", "id", "count(*)"])
def test_a_value_gives_the_answer_of_the_whole(
    connection: Connection, columns: str, condition: str
) -> None:
    sql = f"SELECT {columns} FROM orders WHERE {condition}"
    with patch.object(early_subqueries, "_MANY_COLUMNS", 0):
        early = connection.execute(sql).fetchall()
    with patch.object(early_subqueries, "LEAST_LOOKED_UP", ROWS * 100):
        assert sorted(early) == sorted(connection.execute(sql).fetchall())


def test_a_value_narrows_the_scan_around(connection: Connection) -> None:
    sql = "SELECT * FROM orders WHERE id > (SELECT max(order_id) FROM lines) - 10"
    ((text,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
    scans = {scan["table"]: scan for scan in json.loads(text)["scans"]}
    assert scans["orders"]["rows"] == 10


def test_several_values_in_place_of_one_are_refused(connection: Connection) -> None:
    sql = "SELECT * FROM orders WHERE id = (SELECT order_id FROM lines)"
    with pytest.raises(pykudu_sql.Error) as early:
        connection.execute(sql).fetchall()
    with (
        patch.object(early_subqueries, "LEAST_LOOKED_UP", ROWS * 100),
        pytest.raises(pykudu_sql.Error) as plain,
    ):
        connection.execute(sql).fetchall()
    assert (early.value.sqlstate, str(early.value)) == (plain.value.sqlstate, str(plain.value))


def test_a_value_that_cannot_be_computed_fails_as_the_whole_does(connection: Connection) -> None:
    sql = "SELECT * FROM orders WHERE id = (SELECT max(word) FROM orders WHERE n = 1) - 1"
    with pytest.raises(pykudu_sql.Error) as early:
        connection.execute(sql).fetchall()
    assert early.value.sqlstate != "XX000"


def test_a_value_sees_the_rows_of_its_transaction(connection: Connection) -> None:
    sql = "SELECT * FROM orders WHERE id = (SELECT max(order_id) FROM lines)"
    connection.execute("BEGIN")
    connection.execute("UPDATE lines SET order_id = 77 WHERE order_id > 77")
    connection.execute("DELETE FROM lines WHERE order_id > 77")
    assert [row[0] for row in connection.execute(sql).fetchall()] == [77]
    connection.execute("UPDATE orders SET n = 100 WHERE id = (SELECT max(order_id) FROM lines)")
    assert connection.execute("SELECT id FROM orders WHERE n = 100").fetchall() == [(77,)]
    connection.rollback()


def test_a_sum_is_compared_in_the_type_that_the_engine_gives_it(connection: Connection) -> None:
    connection.execute("CREATE TABLE prices (id INT PRIMARY KEY, m DECIMAL(10,2))")
    connection.execute("INSERT INTO prices SELECT i, i / 4 FROM range(200) AS r(i)")
    sql = "SELECT id FROM prices WHERE m >= (SELECT sum(amount) FROM lines WHERE id < 10)"
    with patch.object(early_subqueries, "_MANY_COLUMNS", 0):
        rows = connection.execute(sql).fetchall()
    connection.execute("DROP TABLE prices")
    assert sorted(rows) == [(i,) for i in range(4 * sum(range(10)), 200)]
