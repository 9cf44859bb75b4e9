"""Groups that scans make by the order of keys are those that the engine makes of rows."""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import product
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.reading import early_subqueries
from pykudu_sql.executor.reading.groups import sorted_groups
from pykudu_sql.storage.scan import table_scan

TABLE = (
    "CREATE TABLE t (k INT, d DATE, w STRING, n BIGINT, i SMALLINT, m DECIMAL(15,2), x DOUBLE, "
    "f FLOAT, s STRING, at TIMESTAMP, PRIMARY KEY (k, d, w)) PARTITION BY HASH (k) PARTITIONS 2"
)
KEYS = ["k", "d, k", "k, d, w"]
AGGREGATES = [
    "count(*), count(n), count(k), sum(n), sum(i), sum(m)",
    "avg(n), avg(i), avg(m), min(n), max(n), min(m), max(d), min(at), max(at), count(at)",
    "sum(x), avg(x), min(x), max(x), count(s), sum(f), avg(f), min(f), max(f)",
    "sum(n) + count(*) * 2, sum(m) / count(*), max(k) - min(k), -sum(i), coalesce(sum(n), 0)",
]
REST = [
    "",
    "HAVING count(*) > 1",
    "HAVING sum(m) > 10 OR min(n) IS NULL ORDER BY sum(m) DESC, {keys}",
    "HAVING k BETWEEN 1 AND 5 ORDER BY {keys} LIMIT 3",
]
WHERE = ["", "WHERE n > -5", "WHERE k IN (1, 3, 5, 7) AND i < 50", "WHERE d >= DATE '2024-01-05'"]


def answers(connection: Connection, sql: str) -> tuple[Any, int]:
    """The rows with their types, in an order of their own, and how often a scan made the groups.

    Means lack the last digits: the engine makes a quotient of two aggregates of some, and not of
    others.
    """
    made = []
    make = sorted_groups.sorted_groups

    def note(*args: Any) -> Any:
        form = make(*args)
        made.append(form is not None)
        return form

    with patch.object(early_subqueries, "sorted_groups", note):
        cursor = connection.execute(sql)
        described = cursor.description
        rows = [tuple(map(rounded, row)) for row in cursor.fetchall()]
    return (described, rows if "ORDER BY" in sql else sorted(rows, key=repr)), sum(made)


def nothing(*args: Any) -> None:
    """In place of a function that finds no order."""


def rounded(value: Any) -> Any:
    return f"{value:.12g}" if isinstance(value, float) else value


def fill(connection: Connection, first: int, count: int) -> None:
    numbers = range(first, first + count)
    rows = pa.table(
        {
            "k": pa.array([n % 23 for n in numbers], pa.int32()),
            "d": pa.array([19720 + n % 17 for n in numbers], pa.int32()).cast(pa.date32()),
            "w": [f"w{n}" for n in numbers],
            "n": [None if n % 5 == 0 else (n * 7919 - 3000) << (n % 38) for n in numbers],
            "i": pa.array([None if n % 3 == 0 else n % 99 for n in numbers], pa.int16()),
            "m": pa.array([None if n % 23 == 4 else n * 13 for n in numbers], pa.decimal128(15, 2)),
            "x": [n / 7 if n % 31 else math.nan for n in numbers],
            "f": pa.array([None if n % 4 else (-1) ** n * n / 3 for n in numbers], pa.float32()),
            "s": [None if n % 6 else "s" for n in numbers],
            "at": pa.array([n << 30 for n in numbers], pa.timestamp("us")),
        }
    )
    connection.append("t", rows)


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(TABLE)
        fill(connection, 0, 1500)
        connection.execute("FLUSH TABLE t")
        connection.execute("UPDATE t SET n = n + 1, m = NULL WHERE i = 7")
        connection.execute("DELETE FROM t WHERE k = 4 OR i = 50")
        yield connection


@pytest.fixture(params=["whole", "in pieces", "streamed"])
def reading(request: pytest.FixtureRequest, connection: Connection) -> Iterator[None]:
    """How the table is read: in one piece, cut within groups, or as a stream."""
    pieces = 1 << 20 if request.param == "whole" else 100
    streamed = request.param == "streamed"
    connection.execute(f"SET scan_memory_bytes = {0 if streamed else 1 << 30}")
    with patch.object(table_scan, "_UNCHECKED_ROWS", pieces):
        yield
    connection.execute(f"SET scan_memory_bytes = {1 << 30}")


@pytest.mark.parametrize("place", range(len(AGGREGATES)))
def test_groups_by_the_scan_are_those_by_the_engine(
    connection: Connection, reading: None, place: int
) -> None:
    for keys, where, rest in product(KEYS, WHERE[place:], REST):
        end = rest.format(keys=keys)
        sql = f"SELECT {keys}, {AGGREGATES[place]} FROM t {where} GROUP BY {keys} {end}"
        expected, made = answers(connection, sql)
        assert not made
        with patch.object(sorted_groups, "LEAST_ROWS", 0):
            assert answers(connection, sql) == (expected, 1)


@pytest.mark.parametrize("is_ordered", [True, False])
def test_distinct_rows_are_groups(connection: Connection, is_ordered: bool) -> None:
    for sql in (
        "SELECT DISTINCT k FROM t",
        "SELECT DISTINCT d AS day, k FROM t WHERE k > 3 ORDER BY 1 DESC, k LIMIT 7",
        "SELECT DISTINCT i FROM t ORDER BY i NULLS FIRST",
    ):
        expected, _ = answers(connection, sql)
        with (
            patch.object(sorted_groups, "LEAST_ROWS", 0),
            patch.object(sorted_groups, "_LEAST_RUN", 0),
            nullcontext() if is_ordered else patch.object(sorted_groups, "in_key_order", nothing),
        ):
            assert answers(connection, sql) == (expected, 1)


@pytest.mark.parametrize("place", range(len(AGGREGATES)))
@pytest.mark.parametrize("keys", ["k", "i", "s, k", "n, d", "m", "w, at"])
def test_parts_of_groups_are_put_together(connection: Connection, place: int, keys: str) -> None:
    for where, rest in product(WHERE[:2], ["", REST[1]]):
        sql = f"SELECT {keys}, {AGGREGATES[place]} FROM t {where} GROUP BY {keys} {rest}"
        expected, made = answers(connection, sql)
        assert not made
        with (
            patch.object(sorted_groups, "LEAST_ROWS", 0),
            patch.object(sorted_groups, "_LEAST_RUN", 0),
            patch.object(sorted_groups, "in_key_order", nothing),
        ):
            assert answers(connection, sql) == (expected, 1)


@pytest.mark.parametrize("pieces", [1, 1 << 20])
def test_sums_that_are_no_number_or_zero_are_those_of_the_engine(pieces: int) -> None:
    sql = "SELECT k, sum(x), avg(x), max(x) FROM t GROUP BY k ORDER BY k"
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT, n INT, x DOUBLE, PRIMARY KEY (k, n))")
        numbers = [1.7e308, 1.7e308, math.inf, -math.inf, 5e-324, math.nan, -0.0, -0.0]
        rows = [(n // 2, n, x) for n, x in enumerate(numbers)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.execute("FLUSH TABLE t")
        expected, _ = answers(connection, sql)
        with (
            patch.object(sorted_groups, "LEAST_ROWS", 0),
            patch.object(table_scan, "_UNCHECKED_ROWS", pieces),
        ):
            assert answers(connection, sql) == (expected, 1)


def test_a_mean_of_decimals_is_the_nearest_number() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT, b INT, m DECIMAL(9,2), PRIMARY KEY (a, b))")
        connection.execute("INSERT INTO t VALUES (1, 1, 0.1), (1, 2, 0.2), (1, 3, 0.3)")
        connection.execute("FLUSH TABLE t")
        with patch.object(sorted_groups, "LEAST_ROWS", 0):
            assert answers(connection, "SELECT a, avg(m) FROM t GROUP BY a")[1] == 1
            assert connection.execute("SELECT avg(m) FROM t GROUP BY a").fetchall() == [(0.2,)]


def test_parts_are_made_where_runs_are_long() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT, b INT, c INT, PRIMARY KEY (a, b))")
        for start in (0, 1):
            rows = range(2000)
            connection.append(
                "t",
                pa.table(
                    {
                        "a": pa.array((n // 100 for n in rows), pa.int32()),
                        "b": pa.array((2 * n + start for n in rows), pa.int32()),
                        "c": pa.array((n % 2 for n in rows), pa.int32()),
                    }
                ),
            )
            connection.execute("FLUSH TABLE t")
        connection.execute("INSERT INTO t VALUES (7, -1, 0)")
        long, short = (f"SELECT {key}, count(*) FROM t GROUP BY {key}" for key in "ac")
        expected = answers(connection, long)[0]
        with patch.object(sorted_groups, "LEAST_ROWS", 0):
            assert answers(connection, long) == (expected, 1)
            assert not answers(connection, short)[1]


def test_a_subquery_that_is_computed_first_is_grouped_so(connection: Connection) -> None:
    sql = "SELECT w FROM t WHERE k IN (SELECT k FROM t GROUP BY k HAVING sum(m) > ?) ORDER BY w"
    expected = connection.execute(sql, (1000,)).fetchall()
    with (
        patch.object(sorted_groups, "LEAST_ROWS", 0),
        patch.object(early_subqueries, "LEAST_LOOKED_UP", 0),
    ):
        rows = connection.execute(sql, (1000,)).fetchall()
    assert expected and rows == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x, count(*) FROM t GROUP BY x",
        "SELECT k, count(*) FROM t GROUP BY k, upper(w)",
        "SELECT k, count(DISTINCT n) FROM t GROUP BY k",
        "SELECT k, count(*) FILTER (WHERE n > 5) FROM t GROUP BY k",
        "SELECT k, sum(n + 1) FROM t GROUP BY k",
        "SELECT k, median(n) FROM t GROUP BY k",
        "SELECT k, count(*) FROM t WHERE n % 2 = 0 GROUP BY k",
        "SELECT k, sum(n) FROM t GROUP BY ROLLUP (k)",
        "SELECT k, count(*), row_number() OVER (ORDER BY k) FROM t GROUP BY k",
        "SELECT DISTINCT count(*) FROM t GROUP BY k",
        "SELECT DISTINCT ON (k) k, n FROM t ORDER BY k, n",
        "SELECT DISTINCT k + 1 FROM t",
        "SELECT sum(k) FROM t",
        "SELECT k + 1, count(*) FROM t GROUP BY k + 1",
        "SELECT k, upper('a'), count(*) FROM t GROUP BY k",
        "SELECT a.k, count(*) FROM t a JOIN t b ON a.w = b.w GROUP BY a.k",
    ],
)
def test_other_groups_are_left_to_the_engine(connection: Connection, sql: str) -> None:
    with patch.object(sorted_groups, "LEAST_ROWS", 0):
        assert not answers(connection, sql)[1]


def test_explain_says_that_the_scan_may_make_the_groups(connection: Connection) -> None:
    text = str(connection.execute("EXPLAIN SELECT k, sum(n) FROM t GROUP BY k").fetchall())
    assert "grouped by the scan if __scan_0 is large and rows of a group lie together" in text


class Groups(RuleBasedStateMachine):
    """Rows that come, change and are moved: groups by the scan wherever it can make them."""

    def __init__(self) -> None:
        super().__init__()
        self.connection = pykudu_sql.connect(":memory:", autocommit=True)
        self.connection.execute(
            "CREATE TABLE t (a INT, b INT, n BIGINT, PRIMARY KEY (a, b)) "
            "PARTITION BY HASH (a) PARTITIONS 2"
        )
        self.grouped = 0

    @rule(rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=20))
    def upsert(self, rows: list[tuple[int, int]]) -> None:
        self.connection.executemany("UPSERT INTO t VALUES (?, ?, ?)", [(*r, sum(r)) for r in rows])

    @rule(a=st.integers(0, 5))
    def update(self, a: int) -> None:
        self.connection.execute("UPDATE t SET n = CASE WHEN b < 4 THEN n * 3 END WHERE a = ?", (a,))

    @rule(a=st.integers(0, 5), b=st.integers(0, 9))
    def delete(self, a: int, b: int) -> None:
        self.connection.execute("DELETE FROM t WHERE a = ? AND b > ?", (a, b))

    @rule(command=st.sampled_from(["FLUSH TABLE t", "OPTIMIZE TABLE t", "OPTIMIZE TABLE t FULL"]))
    def move(self, command: str) -> None:
        self.connection.execute(command)

    @invariant()
    def groups_are_equal(self) -> None:
        sql = "SELECT a, count(*), count(n), sum(n), min(n), max(n), avg(n) FROM t GROUP BY a"
        expected, _ = answers(self.connection, sql)
        with (
            patch.object(sorted_groups, "LEAST_ROWS", 0),
            patch.object(sorted_groups, "_LEAST_RUN", 0),
            patch.object(table_scan, "_UNCHECKED_ROWS", 3),
        ):
            assert answers(self.connection, sql)[0] == expected

    def teardown(self) -> None:
        self.connection.close()


TestGroupsOverTime = Groups.TestCase
TestGroupsOverTime.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
