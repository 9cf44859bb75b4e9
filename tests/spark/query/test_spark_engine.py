"""Spark as an engine: the same answers and types as the embedded one, or that one itself."""

import datetime as dt
import math
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql import Connection

ROWS = 240
TEXTS = ("", "a", "ab", "a%b", "it's", "back\\slash", "${x}", "ÄÖß", "日本", "a\nb", "Z", None)

SCALARS = (
    "k + 1, k - 7, k * 2, -k, k / 4, k / 0, k // 4, k // 0, k % 3, k % 0, abs(k), t + 1, t + m",
    "m - 300, id * 2, id / 3, id // 7, 2.5 * k, d + 1, d - 0.25, d * d, d / 3, d / 0, -d, abs(d)",
    "d * (1 - d) * (1 + d), round(d, 1), round(d), v + 1, v * 2, v / 3, v / 0, k + v, f + f",
    "CAST(k AS BIGINT), CAST(id AS INT), CAST(k AS DOUBLE), CAST(d AS DOUBLE), CAST(d AS INT)",
    "CAST(k AS DECIMAL(12, 2)), CAST(d AS DECIMAL(12, 1)), CAST(k AS TEXT), CAST(b AS INT)",
    "CAST(f AS DOUBLE), CAST(ts AS DATE), CAST(day AS TIMESTAMP), CAST(s AS VARCHAR(1))",
    "s || 'x', s || s, length(s), substr(s, 2), substr(s, 1, 1), left(s, 1), right(s, 2)",
    "trim(s), starts_with(s, 'a'), s LIKE 'a%', s NOT LIKE '%b', s LIKE '_', s LIKE 'a^%b'",
    "s = 'back\\slash', s = '${x}', s = 'it''s', s > 'a', s IN ('', 'ab'), s BETWEEN 'a' AND 'b'",
    "day + 1, day - 1, day + INTERVAL 1 MONTH, day - INTERVAL '10' DAY, ts + INTERVAL 90 MINUTE",
    "day - DATE '2000-02-29', day < '2000-01-01', day = ts, ts >= '1969-12-31 23:59:59.999999'",
    "ts BETWEEN TIMESTAMP '1960-01-01 00:00:00' AND '2010-01-01', DATE '2000-01-01', x'00ff'",
    "extract(year FROM day), month(day), day(ts), quarter(day), extract(hour FROM ts)",
    "date_trunc('month', ts), date_trunc('week', day), date_trunc('hour', ts), x = x'00ff'",
    "k = 3, k <> 3, k < 2.5, d >= 1, d < v, v > k, f > f, b AND k > 0, b OR k > 0, NOT b",
    "k IS NULL, s IS NOT NULL, b IS TRUE, k IS DISTINCT FROM t, k IS NOT DISTINCT FROM 3",
    "k IN (1, 2, NULL), k NOT IN (1, 2), k BETWEEN 1 AND 3, t IN (1, 2), d IN (1.5, 2)",
    "CASE WHEN k > 2 THEN 'many' WHEN k > 0 THEN 'few' END, CASE t WHEN 1 THEN 2.5 ELSE k END",
    "IF(b, k, 0), coalesce(k, 0), coalesce(s, 'none'), coalesce(d, 1), nullif(k, 3)",
    "coalesce(t, 5)",
    "greatest(k, 3), least(k, d), greatest(day, DATE '2000-01-01'), nullifzero(k), zeroifnull(k)",
    "1, 1.50, 3000000000, 1e3, 'text', TRUE, NULL, pmod(k, 3), strleft(s, 2)",
)
AGGREGATES = (
    "count(*), count(k), sum(k), sum(id), sum(t), sum(d), sum(v), avg(k)",
    "avg(id), avg(d), avg(v), min(k), max(s), min(s), max(day), min(ts), max(d)",
    "min(b), max(x), bool_and(b), bool_or(b), sum(k) + 1, sum(k) / count(*), sum(d * k), max(v)",
    "count(*) FILTER (WHERE b), sum(k) FILTER (WHERE k > 0), avg(k) FILTER (WHERE b)",
    "sum(CASE WHEN b THEN d ELSE 0 END), min(k) + max(k), avg(k * 1.5)",
)
WINDOWS = (
    "row_number() OVER (PARTITION BY b ORDER BY id), rank() OVER (ORDER BY k)",
    "dense_rank() OVER (PARTITION BY b ORDER BY k DESC), lag(k) OVER (ORDER BY id)",
    "lead(k, 2, 0) OVER (ORDER BY id), first_value(s) OVER (ORDER BY k, id)",
    "sum(k) OVER (PARTITION BY b ORDER BY id), avg(k) OVER (PARTITION BY b), count(*) OVER ()",
    "sum(d) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "max(k) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)",
)
QUERIES = (
    "SELECT * FROM t WHERE k > 2 AND s LIKE 'a%' ORDER BY id",
    "SELECT DISTINCT k, b FROM t ORDER BY k DESC, b",
    "SELECT k AS n, s FROM t WHERE id < 50 ORDER BY n DESC NULLS LAST, s, id LIMIT 7 OFFSET 2",
    "SELECT * FROM t JOIN u USING (k) ORDER BY id, name",
    "SELECT t.id, u.name FROM t LEFT JOIN u ON t.k = u.k AND u.name <> 'one' ORDER BY 1, 2",
    "SELECT a.id FROM t a, t b WHERE a.id = 3 AND b.id = 5 AND a.id < b.id",
    "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM t WHERE id = 3)",
    "SELECT id FROM t WHERE k IN (SELECT k FROM u) AND EXISTS (SELECT 1 FROM u WHERE u.k = t.t)"
    " ORDER BY id",
    "SELECT id FROM t WHERE k NOT IN (SELECT k FROM u WHERE k > 1) ORDER BY id",
    "SELECT id, (SELECT max(name) FROM u WHERE u.k = t.k) FROM t WHERE id < 20 ORDER BY id",
    "WITH c AS (SELECT k, sum(d) AS total FROM t GROUP BY k), e (a, b) AS (SELECT * FROM c)"
    " SELECT e.a, e.b, c.total FROM e JOIN c ON e.a = c.k WHERE total > 0 ORDER BY a",
    "SELECT k, id FROM t WHERE id < 9 UNION ALL SELECT k, 0 FROM u UNION SELECT 1, 2 ORDER BY 1, 2",
    "SELECT b, count(DISTINCT k), sum(DISTINCT k), avg(DISTINCT k), sum(d) FROM t GROUP BY b"
    " ORDER BY b",
    "SELECT -k AS k, id, sum(m) OVER (ORDER BY k, id) FROM t ORDER BY k, id",
    "SELECT abs(k) AS k, count(*) FROM t GROUP BY k ORDER BY k, 2",
    "SELECT id, (SELECT count(*) FROM u WHERE u.k = t.k) FROM t WHERE id < 20 ORDER BY id",
    "SELECT k FROM t EXCEPT SELECT k FROM u ORDER BY 1",
    "SELECT k FROM t INTERSECT SELECT k FROM u ORDER BY 1",
    "SELECT k % 3 AS r, count(*) FROM t GROUP BY 1 HAVING count(*) > 1 ORDER BY r",
    "SELECT id, k FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY id) = 1 ORDER BY k",
)
REFUSED = {
    "SELECT upper(s) FROM t": "upper()",
    "SELECT median(k) FROM t": "median()",
    "SELECT list(k ORDER BY id) FROM t": "array_agg()",
    "SELECT array_agg(k ORDER BY id) FROM t": "array_agg()",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k) FROM t": "percentile_cont()",
    "SELECT CAST(s AS INT) FROM t WHERE s = '1'": "a cast from TEXT to INT",
    "SELECT CAST(v AS INT) FROM t": "a cast from DOUBLE to INT",
    "SELECT f > 1.5 FROM t": "DECIMAL and FLOAT meet",
    "SELECT -k AS k, id FROM t ORDER BY k + 1, id": "an expression over the output name k",
    "SELECT 1": "it reads no table",
    "SELECT name FROM sys.tables": "it reads system tables",
    "SELECT id FROM t ORDER BY id LIMIT (SELECT 1)": "LIMIT that is no plain number",
    "SELECT s FROM t WHERE s LIKE 'a\\b'": "LIKE with a pattern",
}


def random_rows() -> pa.Table:
    rng = random.Random(7)

    def some(value: Any) -> Any:
        return None if rng.random() < 0.1 else value

    days = [dt.date(1900, 1, 1) + dt.timedelta(rng.randrange(60_000)) for _ in range(ROWS)]
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "k": pa.array([some(rng.randrange(-4, 9)) for _ in range(ROWS)], pa.int32()),
            "t": pa.array([some(rng.randrange(-5, 6)) for _ in range(ROWS)], pa.int8()),
            "m": pa.array([some(rng.randrange(-300, 300)) for _ in range(ROWS)], pa.int16()),
            "d": pa.array(
                [some(Decimal(rng.randrange(-999, 999)) / 100) for _ in range(ROWS)],
                pa.decimal128(9, 2),
            ),
            "f": pa.array([some(rng.randrange(-9, 9) / 4) for _ in range(ROWS)], pa.float32()),
            "v": pa.array([some(rng.uniform(-99, 99)) for _ in range(ROWS)], pa.float64()),
            "s": pa.array([rng.choice(TEXTS) for _ in range(ROWS)]),
            "b": pa.array([some(rng.random() < 0.5) for _ in range(ROWS)]),
            "day": pa.array([some(day) for day in days], pa.date32()),
            "ts": pa.array(
                [
                    some(dt.datetime(1960, 1, 1) + dt.timedelta(microseconds=rng.getrandbits(50)))
                    for _ in range(ROWS)
                ],
                pa.timestamp("us"),
            ),
            "x": pa.array([rng.choice([b"", b"\x00\xff", b"abc", None]) for _ in range(ROWS)]),
        }
    )


@pytest.fixture(scope="module")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path: Path = tmp_path_factory.mktemp("engine") / "my.db"
    with pykudu_sql.connect(str(path), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, k INT, t TINYINT, m SMALLINT, d DECIMAL(9, 2),"
            " f FLOAT, v DOUBLE, s STRING, b BOOLEAN, day DATE, ts TIMESTAMP, x BINARY)"
            " PARTITION BY HASH (id) PARTITIONS 2"
        )
        connection.append("t", random_rows())
        connection.execute("CREATE TABLE u (k INT PRIMARY KEY, name STRING)")
        connection.execute("INSERT INTO u VALUES (1, 'one'), (2, 'two'), (3, NULL), (77, 'far')")
        yield connection


def on_both(connection: Connection, sql: str, parameters: Any = ()) -> tuple[pa.Table, pa.Table]:
    """What both engines answer; the statement must not have fallen back."""
    connection.execute("SET engine = 'spark'")
    try:
        plan = [row[0] for row in connection.execute(f"EXPLAIN {sql}", parameters).fetchall()]
        assert plan[0] == "ENGINE spark", plan
        theirs = connection.execute(sql, parameters).fetch_arrow_table()
    finally:
        connection.execute("SET engine = 'duckdb'")
    return theirs, connection.execute(sql, parameters).fetch_arrow_table()


def assert_equal(theirs: pa.Table, ours: pa.Table) -> None:
    """Same types and values; sums of DOUBLEs may have been added in another order."""
    assert theirs.schema == ours.schema
    for field, left, right in zip(ours.schema, theirs.columns, ours.columns, strict=True):
        for got, wanted in zip(left.to_pylist(), right.to_pylist(), strict=True):
            close = isinstance(got, float) and isinstance(wanted, float)
            same = math.isclose(got, wanted, rel_tol=1e-12) if close else got == wanted
            assert same, f"{field.name}: {got!r}, not {wanted!r}"


def test_expressions_give_the_same_values_and_types(database: Connection) -> None:
    assert_equal(*on_both(database, f"SELECT id, {', '.join(SCALARS)} FROM t ORDER BY id"))


def test_aggregates_give_the_same_values_and_types(database: Connection) -> None:
    assert_equal(
        *on_both(database, f"SELECT m % 4, {', '.join(AGGREGATES)} FROM t GROUP BY 1 ORDER BY 1")
    )


def test_aggregates_over_no_rows_are_the_same(database: Connection) -> None:
    assert_equal(*on_both(database, f"SELECT {', '.join(AGGREGATES)} FROM t WHERE id < 0"))


def test_windows_give_the_same_values_and_types(database: Connection) -> None:
    assert_equal(*on_both(database, f"SELECT id, {', '.join(WINDOWS)} FROM t ORDER BY id"))


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_gives_the_same_rows(database: Connection, sql: str) -> None:
    assert_equal(*on_both(database, sql))


@pytest.mark.parametrize("sql", REFUSED)
def test_what_spark_might_answer_differently_stays_and_says_why(
    database: Connection, sql: str
) -> None:
    database.execute("SET engine = 'spark'")
    try:
        plan = [row[0] for row in database.execute(f"EXPLAIN {sql}").fetchall()]
        found = database.execute(sql).fetchall()
    finally:
        database.execute("SET engine = 'duckdb'")
    assert plan[0] == "ENGINE duckdb"
    assert REFUSED[sql] in plan[1]
    assert found == database.execute(sql).fetchall()
