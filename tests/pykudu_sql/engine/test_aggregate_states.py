"""Aggregates of whose states the engine counts too little are refused; others answer as before."""

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.engine.duckdb_engine import DuckDBEngine
from pykudu_sql.storage.errors import OperationalError

ROWS = 80_000
_GROUPS = (
    "", "GROUP BY g", "GROUP BY x", "GROUP BY 1", "GROUP BY ALL", "GROUP BY ROLLUP (g)",
    "GROUP BY GROUPING SETS ((g), (x), ())", "GROUP BY CUBE (g, x)", "GROUP BY k",
    "GROUP BY g + 1 HAVING max(k) > 30", "GROUP BY g HAVING cardinality(histogram(b)) > 3",
)  # fmt: skip
_AGGREGATES = (
    "histogram(b)", "histogram(x)", "histogram(DISTINCT b % 3)", "histogram(b ORDER BY k)",
    "histogram(b) FILTER (WHERE k > 20)", "histogram(b, [1, 3])", "histogram(x, ['a', 'x2'])",
    "len(approx_top_k(b % 3, 2))", "list_sort(approx_top_k(x, 20))",
    "reservoir_quantile(b, 0.5, 1000)", "cardinality(histogram(b + ?))",
    "map_keys(histogram(upper(x)))[1]",
    "round(entropy(b), 6)", "median(b)",
)  # fmt: skip
_SOURCES = (
    "s", "s WHERE k % 3 = 1", "(SELECT * FROM s ORDER BY k LIMIT 50) s",
    "s JOIN (SELECT k AS j FROM s) r ON k = j", "(SELECT * FROM s UNION ALL SELECT * FROM s) s",
)  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True, threads=2, memory_limit="200MB")
    opened.execute("CREATE TABLE t (k INT PRIMARY KEY, g STRING, x STRING)")
    opened.execute(f"INSERT INTO t SELECT range, 'g', range || '-text' FROM range({ROWS})")
    opened.execute("CREATE TABLE z (k INT PRIMARY KEY, x STRING)")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def small() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True, threads=2, memory_limit="1GB")
    opened.execute("CREATE TABLE s (k INT PRIMARY KEY, g INT, b BIGINT, x STRING)")
    opened.execute(
        "INSERT INTO s SELECT range, range % 4, range % 9, 'x' || range % 7 FROM range(90)"
    )
    opened.execute("INSERT INTO s VALUES (100, NULL, NULL, NULL)")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("SELECT histogram(i) FROM range(1000000) r(i)", "histogram"),
        ("SELECT histogram(repeat(x, 100)) FROM t", "histogram"),
        ("SELECT count(h) FROM (SELECT histogram(a.k + b.k * 80000) AS h FROM t a, t b"
         " WHERE b.k < 10) q", "histogram"),
        ("SELECT 1 FROM range(1000000) r(i) HAVING cardinality(histogram(i)) > 3", "histogram"),
        ("SELECT approx_top_k(x, 5) FROM t GROUP BY k", "approx_top_k"),
        ("SELECT g, k, approx_top_k(x, 5) FROM t GROUP BY ROLLUP (g, k)", "approx_top_k"),
        ("SELECT approx_top_k(x, 200000) FROM t", "approx_top_k"),
        ("SELECT approx_top_k(x, 2000000000) FROM t", "approx_top_k"),
        ("SELECT reservoir_quantile(k, 0.5) FROM t GROUP BY k", "reservoir_quantile"),
        ("SELECT histogram(k, range(100)) FROM t GROUP BY k", "histogram"),
        ("INSERT INTO z SELECT k, CAST(approx_top_k(x, 5) AS STRING) FROM t GROUP BY k",
         "approx_top_k"),
        ("UPDATE z SET x = '' WHERE k IN (SELECT len(approx_top_k(x, 5)) FROM t GROUP BY k)",
         "approx_top_k"),
        ("WITH q AS (SELECT approx_top_k(x, 5) AS l FROM t GROUP BY k) SELECT count(l) FROM q",
         "approx_top_k"),
    ],
)  # fmt: skip
def test_states_that_would_take_much_are_refused(
    connection: pykudu_sql.Connection, query: str, name: str
) -> None:
    with pytest.raises(OperationalError, match=f"'{name}' would take .* MiB to work in") as raised:
        connection.execute(query).fetchall()
    assert raised.value.sqlstate == "53200" and "memory_limit" in str(raised.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT histogram(k % 5) FROM t",
        "SELECT cardinality(histogram(k)) FROM t",
        "SELECT k % 9, approx_top_k(x, 5) FROM t GROUP BY 1",
        "SELECT k % 9, reservoir_quantile(k, 0.5) FROM t GROUP BY 1",
        "SELECT k, histogram(k, [1]) FROM t GROUP BY k",
        "SELECT approx_top_k(x, 5) FROM t WHERE k < 100 GROUP BY k",
    ],
)
def test_few_groups_of_many_rows_answer(connection: pykudu_sql.Connection, query: str) -> None:
    assert connection.execute(query).fetchall()


def test_a_reader_whose_rows_are_read_once_has_no_check(connection: pykudu_sql.Connection) -> None:
    batch = pa.record_batch({"x": [1, 2, 2]})
    connection.register("reader", pa.RecordBatchReader.from_batches(batch.schema, [batch]))
    rows = connection.execute("SELECT histogram(x) FROM reader").fetchall()
    assert [sorted(rows[0][0])] == [[(1, 1), (2, 2)]]
    connection.unregister("reader")


@pytest.mark.parametrize("seed", range(24))
def test_answers_are_the_same_with_checks(
    small: pykudu_sql.Connection, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    choose = random.Random(seed)
    group, source = choose.choice(_GROUPS), choose.choice(_SOURCES)
    aggregates = choose.sample(_AGGREGATES, 2)
    key = "g AS key" if group in ("GROUP BY 1", "GROUP BY ALL") else "min(g)"
    query = f"SELECT {key}, count(*), {', '.join(aggregates)} FROM {source} {group}"
    values = (1,) * query.count("?")
    unchecked = small.execute(query, values).fetchall()
    monkeypatch.setattr(DuckDBEngine, "state_bytes", -1)
    assert sorted(map(repr, small.execute(query, values).fetchall())) == sorted(
        map(repr, unchecked)
    )
