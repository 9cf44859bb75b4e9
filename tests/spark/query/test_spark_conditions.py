"""Conditions that Spark and the embedded engine understand in different ways."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture(scope="module")
def connection(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connection]:
    path: Path = tmp_path_factory.mktemp("conditions") / "my.db"
    with pykudu_sql.connect(str(path), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE w (id INT PRIMARY KEY, a DECIMAL(38,0), b DECIMAL(38,20),"
            " c DECIMAL(38,38), d DECIMAL(9,2))"
        )
        connection.execute(
            f"INSERT INTO w VALUES (1, 5, 5.5, 0.5, 5.5), (2, -5, -5.5, -0.5, -5.51),"
            f" (3, {'9' * 38}, {'9' * 18}.{'9' * 20}, 0.{'9' * 38}, 0),"
            f" (4, -{'9' * 38}, -{'9' * 18}.{'9' * 20}, -0.{'9' * 38}, 0),"
            f" (5, NULL, NULL, NULL, NULL), (6, 0, 0, 0, 0), (7, 5, 5, 0, 5),"
            f" (8, -6, -5.5, 0.{'0' * 37}1, 0.01)"
        )
        connection.execute("CREATE TABLE v (id INT PRIMARY KEY, a INT)")
        connection.execute("INSERT INTO v VALUES (1, 5), (2, NULL), (3, 7)")
        yield connection


def answers(connection: Connection, sql: str) -> tuple[list[tuple[object, ...]], bool]:
    """The rows of the embedded engine, which Spark's must be; whether Spark was asked."""
    rows = {}
    for engine in ("duckdb", "spark"):
        connection.execute(f"SET engine = '{engine}'")
        rows[engine] = connection.execute(sql).fetchall()
    plan = connection.execute(f"EXPLAIN {sql}").fetchall()
    assert rows["spark"] == rows["duckdb"]
    return rows["spark"], plan[0][0] == "ENGINE spark"


@pytest.mark.parametrize(
    "condition",
    [
        "a > b",
        "b <> c",
        "a BETWEEN b AND c",
        "a IN (b, d)",
        "a IS DISTINCT FROM b",
        "a < (SELECT max(b) FROM w)",
        "CASE a WHEN b THEN true ELSE false END",
        "coalesce(a > b, true)",
        "nullif(a, b) IS NULL",
    ],
)
def test_decimals_of_too_many_digits_together_are_compared_exactly(
    connection: Connection, condition: str
) -> None:
    rows, _ = answers(connection, f"SELECT id FROM w WHERE {condition} ORDER BY id")
    assert rows
    _, on_spark = answers(connection, f"SELECT id, {condition} AS x FROM w ORDER BY id")
    assert on_spark


def test_a_condition_on_groups_compares_exactly(connection: Connection) -> None:
    sql = "SELECT d, count(*) FROM w GROUP BY d HAVING sum(a) <= sum(b) ORDER BY d"
    assert answers(connection, sql)[1]


@pytest.mark.parametrize(
    ("sql", "is_on_spark"),
    [
        ("SELECT id FROM v WHERE a NOT IN (SELECT a FROM v WHERE id > 1) ORDER BY id", True),
        ("SELECT id FROM v WHERE NOT (a IN (SELECT a FROM v) OR id = 1) ORDER BY id", True),
        ("SELECT a FROM v GROUP BY a HAVING a IN (SELECT a FROM v) ORDER BY a", True),
        ("SELECT id, a IN (SELECT a FROM v WHERE id > 1) AS x FROM v ORDER BY id", False),
        ("SELECT id FROM v WHERE (a IN (SELECT a FROM v WHERE id > 1)) IS NULL ORDER BY 1", False),
        (
            "SELECT l.id, r.id FROM v AS l LEFT JOIN v AS r ON l.id = r.id"
            " AND l.a NOT IN (SELECT a FROM v WHERE id = 2) ORDER BY 1",
            False,
        ),
        ("SELECT count(*) FILTER (WHERE a NOT IN (SELECT a FROM v)) FROM v", False),
    ],
)
def test_an_in_that_is_null_is_not_false(
    connection: Connection, sql: str, is_on_spark: bool
) -> None:
    assert answers(connection, sql)[1] is is_on_spark
