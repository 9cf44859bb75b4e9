"""UPDATE .. FROM, DELETE .. USING, MERGE, ON CONFLICT and RETURNING against DuckDB's own tables.

The same random rows stand on both sides, ours spread over tablets and rowsets and half of the time
within an open transaction. Each statement must count and show the same rows and leave the same
table behind.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql import Connection

STATEMENTS = (
    "UPDATE t SET v = u.v FROM u WHERE u.k = t.a AND u.v > {n}",
    "UPDATE t SET v = t.v + u.v, s = u.s FROM u WHERE u.k = t.a + {n} RETURNING t.a, t.b, t.v",
    "UPDATE t SET s = coalesce(s, '') || 'x' WHERE a >= {n} RETURNING a, b, s, length(s) AS n",
    "UPDATE t SET v = (SELECT max(v) FROM t) + {n} WHERE b = 1",
    "UPDATE t SET v = m.v + {n} FROM (SELECT a, max(v) AS v FROM t GROUP BY a) m WHERE m.a = t.a",
    "DELETE FROM t USING u WHERE u.k = t.a AND t.b = {n} RETURNING t.a, t.b",
    "DELETE FROM t USING (SELECT k FROM u JOIN t ON t.a = u.k) q WHERE q.k = t.a + {n}",
    "DELETE FROM t WHERE v IN (SELECT v FROM u WHERE k < {n}) RETURNING *",
    "INSERT INTO t SELECT k, {n}, v, s FROM u ON CONFLICT DO NOTHING RETURNING a, v",
    "INSERT INTO t SELECT k, {n}, v, s FROM u ON CONFLICT (a, b) DO UPDATE SET v = excluded.v + t.v"
    " WHERE excluded.v > 0 OR t.v IS NULL RETURNING a, b, v, s",
    "INSERT INTO t (a, b, v) VALUES ({n}, 0, 1), ({n}, 1, 2), (3, {n} + 2, NULL)"
    " ON CONFLICT (a, b) DO UPDATE SET v = coalesce(t.v, 0) + 1, s = 'seen' RETURNING *",
    "INSERT OR REPLACE INTO t SELECT k, b, u.v, u.s FROM u JOIN t ON t.a = u.k AND t.b = {n}",
    "MERGE INTO t USING u ON t.a = u.k AND t.b = {n} WHEN MATCHED AND u.v < 0 THEN DELETE"
    " WHEN MATCHED THEN UPDATE SET v = u.v"
    " WHEN NOT MATCHED THEN INSERT (a, b, v, s) VALUES (u.k, {n}, u.v, u.s)",
    "MERGE INTO t USING (SELECT k, v FROM u WHERE v > {n}) AS q ON t.a = q.k"
    " WHEN MATCHED AND t.b = 0 THEN UPDATE SET v = t.v - q.v"
    " WHEN MATCHED THEN DO NOTHING"
    " WHEN NOT MATCHED BY SOURCE AND t.b = 2 THEN DELETE"
    " WHEN NOT MATCHED BY SOURCE AND t.v > 0 THEN UPDATE SET s = 'alone'"
    " WHEN NOT MATCHED AND q.v > 1 THEN INSERT (a, b, v) VALUES (q.k, 0, q.v)"
    " RETURNING merge_action, a, b, t.v, s",
    "INSERT INTO t SELECT a + {n}, b, v, s FROM t",
)

numbers = st.integers(-3, 6)
maybe = st.one_of(st.none(), st.integers(-5, 5))
texts = st.one_of(st.none(), st.sampled_from(["", "a", "b'c", "äö"]))
target_rows = st.dictionaries(
    st.tuples(numbers, st.integers(0, 2)), st.tuples(maybe, texts), max_size=14
)
source_rows = st.dictionaries(numbers, st.tuples(maybe, texts), max_size=8)
steps = st.lists(st.tuples(st.sampled_from(STATEMENTS), st.integers(-1, 3)), min_size=1, max_size=6)


@contextmanager
def both(
    target: dict[tuple[int, int], tuple[Any, Any]], source: dict[int, tuple[Any, Any]]
) -> Iterator[tuple[Connection, duckdb.DuckDBPyConnection]]:
    with pykudu_sql.connect(autocommit=True) as ours, duckdb.connect() as other:
        shape = "(a INT, b INT, v INT, s {}, PRIMARY KEY (a, b))"
        ours.execute(f"CREATE TABLE t {shape.format('STRING')} PARTITION BY HASH (a) PARTITIONS 3")
        other.execute(f"CREATE TABLE t {shape.format('VARCHAR')}")
        for each in (ours, other):
            each.execute("CREATE TABLE u (k INT PRIMARY KEY, v INT, s VARCHAR(9))")
        rows = [(*key, *rest) for key, rest in target.items()]
        for part in (rows[::2], rows[1::2]):
            if part:
                ours.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", part)
                other.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", part)
            ours.execute("FLUSH t")
        more = [(key, *rest) for key, rest in source.items()]
        if more:
            ours.executemany("INSERT INTO u VALUES (?, ?, ?)", more)
            other.executemany("INSERT INTO u VALUES (?, ?, ?)", more)
        yield ours, other


def ran(execute: Any, sql: str) -> tuple[str, Counter[Any]]:
    """Whether a statement went through, and the rows it shows."""
    try:
        cursor = execute(sql)
    except (duckdb.ConstraintException, pykudu_sql.IntegrityError):
        return "refused", Counter()
    shown = cursor.fetchall() if "RETURNING" in sql else []
    return "done", Counter(shown)


@settings(max_examples=8, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(target_rows, source_rows, steps, st.booleans())
def test_statements_do_and_show_what_duckdb_does(
    target: dict[tuple[int, int], tuple[Any, Any]],
    source: dict[int, tuple[Any, Any]],
    steps: list[tuple[str, int]],
    transaction: bool,
) -> None:
    with both(target, source) as (ours, other):
        if transaction:
            ours.execute("BEGIN")
        for template, number in steps:
            sql = template.format(n=number)
            mine = ran(ours.execute, sql.replace("merge_action,", "merge_action(),"))
            assert mine == ran(other.execute, sql), sql
            query = "SELECT * FROM t ORDER BY a, b"
            assert ours.execute(query).fetchall() == other.execute(query).fetchall(), sql
        if transaction:
            ours.execute("COMMIT")
            assert ours.execute(query).fetchall() == other.execute(query).fetchall()


@pytest.fixture
def db() -> Iterator[Connection]:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT 5, note STRING)")
        connection.execute("INSERT INTO t VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, NULL)")
        yield connection


def rows(db: Connection) -> list[tuple[Any, ...]]:
    return db.execute("SELECT * FROM t ORDER BY id").fetchall()


def test_parameters_are_counted_through_all_parts_of_an_insert(db: Connection) -> None:
    cursor = db.execute(
        "INSERT INTO t (id, n) VALUES (?, ? + 0), (2, ?) ON CONFLICT (id) DO UPDATE"
        " SET n = excluded.n + ? WHERE t.n < ? RETURNING id, n, ? AS mark",
        (9, 90, 20, 100, 3, "m"),
    )
    assert sorted(cursor.fetchall()) == [(2, 120, "m"), (9, 90, "m")]
    assert [column[0] for column in cursor.description] == ["id", "n", "mark"]
    named = db.execute(
        "INSERT INTO t (id, n) SELECT :id, :n ON CONFLICT DO UPDATE SET n = :n + 1 RETURNING n",
        {"id": 9, "n": 4},
    )
    assert named.fetchone() == (5,)


def test_merge_takes_parameters_in_every_clause(db: Connection) -> None:
    sql = (
        "MERGE INTO t USING (SELECT ? AS id) q ON t.id = q.id WHEN MATCHED AND n < ? THEN"
        " UPDATE SET n = ?, note = ? WHEN NOT MATCHED THEN INSERT (id, n) VALUES (q.id, ?)"
        " RETURNING n, ?"
    )
    assert db.execute(sql, (1, 5, 50, "x", 0, 7)).fetchall() == [(50, 7)]
    assert db.execute(sql, (1, 5, 60, "x", 0, 7)).fetchall() == []
    assert db.execute(sql, (4, 5, 60, "x", 44, 8)).fetchall() == [(44, 8)]
    assert db.executemany(sql, [(2, 5, 1, "a", 0, 0), (8, 5, 1, "a", 88, 0)]).rowcount == 2
    assert rows(db)[1:] == [(2, 1, "a"), (3, 3, None), (4, 44, None), (8, 88, None)]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET n = n + 1 RETURNING CAST(note AS INT)",
        "MERGE INTO t USING (VALUES (1), (4), (1)) q(id) ON t.id = q.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)",
        "MERGE INTO t USING (VALUES (1), (4), (4)) q(id) ON t.id = q.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)",
        "INSERT INTO t (id) VALUES (4), (1) RETURNING id",
        "INSERT INTO t (id, n) VALUES (4, 4), (1, 300) ON CONFLICT DO UPDATE"
        " SET n = excluded.n * 1000000000",
    ],
)
def test_a_statement_that_fails_within_a_transaction_has_done_nothing(
    db: Connection, sql: str
) -> None:
    db.execute("BEGIN")
    db.execute("UPDATE t SET n = 10 WHERE id = 1")
    before = rows(db)
    with pytest.raises(pykudu_sql.Error):
        db.execute(sql)
    assert rows(db) == before
    db.execute("COMMIT")
    assert rows(db) == before


def test_many_rows_are_merged_in_batches(db: Connection) -> None:
    db.execute("INSERT INTO t SELECT range, 0, NULL FROM range(10, 60010)")
    merged = db.execute(
        "MERGE INTO t USING (SELECT range AS id FROM range(30000, 130000)) q ON t.id = q.id"
        " WHEN MATCHED THEN UPDATE SET n = 1 WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)"
    )
    assert merged.rowcount == 100_000
    found = db.execute("SELECT n, count(*) FROM t WHERE id > 9 GROUP BY n ORDER BY n").fetchall()
    assert found == [(0, 29_990), (1, 30_010), (5, 69_990)]
    upserted = db.execute(
        "INSERT INTO t SELECT range, 9, 'u' FROM range(10, 200010) ON CONFLICT (id)"
        " DO UPDATE SET n = t.n + excluded.n"
    )
    assert upserted.rowcount == 200_000
    assert db.execute("SELECT count(*), sum(n) FROM t WHERE id > 9").fetchone() == (
        200_000,
        30_010 * 10 + 69_990 * 14 + 29_990 * 9 + 70_010 * 9,
    )


def test_a_statement_is_planned_once_for_all_its_parameters(db: Connection) -> None:
    sql = "INSERT INTO t (id, n) VALUES (?, ?) ON CONFLICT DO UPDATE SET n = t.n + excluded.n"
    for number in range(20):
        assert db.execute(sql, (number % 4 + 1, 1)).rowcount == 1
    assert [(row[0], row[1]) for row in rows(db)] == [(1, 6), (2, 7), (3, 8), (4, 5)]


def test_immutable_columns_stay_as_they_are_in_what_is_shown() -> None:
    with pykudu_sql.connect(autocommit=True) as db:
        db.execute("CREATE TABLE t (id INT PRIMARY KEY, born INT IMMUTABLE, n INT)")
        db.execute("INSERT INTO t VALUES (1, 1970, 0)")
        shown = db.execute("UPSERT IGNORE INTO t VALUES (1, 2000, 5), (2, 2001, 6) RETURNING *")
        assert sorted(shown.fetchall()) == [(1, 1970, 5), (2, 2001, 6)]
        shown = db.execute("UPDATE IGNORE t SET born = 3000, n = 7 WHERE id = 1 RETURNING *")
        assert shown.fetchall() == [(1, 1970, 7)]
        with pytest.raises(pykudu_sql.IntegrityError, match="immutable column 'born'"):
            db.execute("UPSERT INTO t VALUES (1, 2000, 5) RETURNING *")


def test_a_conflict_reads_only_rows_with_a_proposed_key(db: Connection) -> None:
    plan = db.execute(
        "EXPLAIN INSERT INTO t (id) SELECT id FROM t ON CONFLICT DO UPDATE SET n = 1 RETURNING n"
    )
    lines = [row[0].strip() for row in plan.fetchall()]
    assert lines[:4] == [
        "INSERT OR UPDATE t",
        "rows with one key: an error",
        "0: INSERT id, n, note",
        "1: UPDATE n",
    ]
    assert any(line.startswith("SCAN t (__scan_1)") for line in lines)


def test_merge_reports_rows_that_do_not_fit_where_errors_are_collected(db: Connection) -> None:
    db.execute("SET row_errors = 'collect'")
    merged = db.execute(
        "MERGE INTO t USING (VALUES (7), (7), (8)) q(id) ON t.id = q.id"
        " WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)"
    )
    assert merged.rowcount == 2
    assert [(e.key, e.status) for e in merged.row_errors] == [("(id) = (7)", "AlreadyPresent")]
