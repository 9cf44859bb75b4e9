"""Row values compare as the standard says: column by column, and NULL is unknown."""

import itertools
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import pykudu_sql

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "IS NOT DISTINCT FROM", "IS DISTINCT FROM")
OTHERS = (
    "(1, 2)",
    "(1, NULL)",
    "(NULL, 2)",
    "(b, a)",
    "(SELECT x, y FROM u WHERE u.k = 2)",
    "(SELECT x, y FROM u WHERE u.k = 9)",
    "(SELECT max(x), max(y) FROM u WHERE u.x = t.a)",
)
SETS = (
    "((1, 2), (2, NULL))",
    "((1, 2), (3, 3))",
    "((1, NULL), (NULL, 1))",
    "((NULL, NULL))",
    "(SELECT x, y FROM u)",
    "(SELECT x, y FROM u WHERE u.k = 1)",
    "(SELECT x, y FROM u WHERE u.k = 9)",
    "(SELECT x, y FROM u WHERE u.x = t.a)",
    "(SELECT x, y FROM u UNION SELECT y, x FROM u)",
    "(VALUES (1, 2), (3, 1))",
)
CONDITIONS = (
    *(f"(a, b) {o} {other}" for o, other in itertools.product(OPERATORS, OTHERS)),
    *(f"{other} {o} (a, b)" for o, other in itertools.product(OPERATORS, OTHERS)),
    *(f"(a, b) {word} {of}" for word, of in itertools.product(("IN", "NOT IN"), SETS)),
    *(f"(k, b) {word} {of}" for word, of in itertools.product(("IN", "NOT IN"), SETS)),
    "(a, b) BETWEEN (1, 2) AND (2, 1)",
    "(a, b) NOT BETWEEN (1, 2) AND (2, 1)",
    "(a, b) BETWEEN (1, NULL) AND (2, NULL)",
    "(a, b, k) > (1, 1, 3)",
    "(a, b, k) <= (2, NULL, 3)",
    "CASE (a, b) WHEN (1, 2) THEN 1 WHEN (2, 1) THEN 0 END",
)
ROWS = list(itertools.product([1, 2, 3, None], [1, 2, None]))
PLACES = (
    "SELECT k, {0} FROM t",
    "SELECT k FROM t WHERE {0}",
    "SELECT k FROM t WHERE NOT ({0})",
    "SELECT k FROM t WHERE k > 3 AND ({0} OR a = 2)",
    "SELECT ({0}) IS NULL, count(*) FROM t GROUP BY 1",
    "SELECT t.k, v.z FROM t LEFT JOIN v ON v.z = t.k AND {0}",
    "SELECT a, b, count(*) FROM t GROUP BY a, b HAVING {0}",
)


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[pykudu_sql.Connection, sqlite3.Connection]]:
    with (
        pykudu_sql.connect(":memory:", autocommit=True) as ours,
        sqlite3.connect(":memory:", isolation_level=None) as theirs,
    ):
        for side in (ours, theirs):
            side.execute("CREATE TABLE t (k INT PRIMARY KEY, a INT, b INT)")
            side.execute("CREATE TABLE u (k INT PRIMARY KEY, x INT, y INT)")
            side.execute("CREATE TABLE v (z INT PRIMARY KEY)")
            rows = [(i, *row) for i, row in enumerate(ROWS, 1)]
            side.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
            others = [(1, 1, 2), (2, 2, None), (3, None, 1), (4, 3, 3)]
            side.executemany("INSERT INTO u VALUES (?, ?, ?)", others)
            side.executemany("INSERT INTO v VALUES (?)", [(1,), (2,), (6,)])
        yield ours, theirs


def plain(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(int(v) if isinstance(v, bool) else v for v in row) for row in rows)


@pytest.mark.parametrize(("number", "place"), list(enumerate(PLACES)))
def test_comparisons_of_rows_answer_as_sqlite(
    both: tuple[pykudu_sql.Connection, sqlite3.Connection], number: int, place: str
) -> None:
    ours, theirs = both
    # All as a value, as a condition and negated; each half in every other place.
    conditions = CONDITIONS if number < 3 else CONDITIONS[number % 2 :: 2]
    for condition in conditions:
        if "GROUP BY a" in place and "k" in condition.replace("u.k", ""):
            continue
        sql = place.format(condition)
        assert plain(ours.execute(sql).fetchall()) == plain(theirs.execute(sql).fetchall()), sql


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_deletion_takes_the_rows_for_which_it_is_true(
    both: tuple[pykudu_sql.Connection, sqlite3.Connection], condition: str
) -> None:
    for side in both:
        side.execute("BEGIN")
        side.execute(f"UPDATE t SET b = 7 WHERE {condition}")
        side.execute(f"DELETE FROM t WHERE NOT ({condition})")
    left = [side.execute("SELECT * FROM t").fetchall() for side in both]
    for side in both:
        side.execute("ROLLBACK")
    assert Counter(left[0]) == Counter(left[1])


@pytest.mark.parametrize(
    ("condition", "alike"),
    [
        ("(a, b) = ANY (SELECT x, y FROM u)", "(a, b) IN (SELECT x, y FROM u)"),
        ("(a, b) <> ALL (SELECT x, y FROM u)", "(a, b) NOT IN (SELECT x, y FROM u)"),
        ("(a, b) > ALL (SELECT x, y FROM u WHERE u.k = 1)", "(a, b) > (1, 2)"),
        (
            "(a, b) < ANY (SELECT x, y FROM u WHERE u.k < 3)",
            "(a, b) < (1, 2) OR (a, b) < (2, NULL)",
        ),
        ("(a, b) < ALL (SELECT x, y FROM u WHERE u.k = 9)", "TRUE"),
        ("row(a, b) = row(1, NULL)", "(a, b) = (1, NULL)"),
        ("((a, b), k) < ((1, 2), 3)", "(a, b, k) < (1, 2, 3)"),
        ("(a, b) BETWEEN SYMMETRIC (2, 1) AND (1, 1)", "(a, b) BETWEEN (1, 1) AND (2, 1)"),
        ("(a, b) IN ((SELECT x, y FROM u WHERE u.k = 1), (3, 2))", "(a, b) IN ((1, 2), (3, 2))"),
    ],
)
def test_other_forms_mean_what_plain_ones_do(
    both: tuple[pykudu_sql.Connection, sqlite3.Connection], condition: str, alike: str
) -> None:
    ours, _ = both
    first, second = (
        ours.execute(f"SELECT k, {each} FROM t ORDER BY k").fetchall()
        for each in (condition, alike)
    )
    assert first == second


@pytest.mark.parametrize(
    ("expression", "sqlstate", "said"),
    [
        ("(1, 2) = (1, 2, 3)", "42601", "2 columns is compared with one of 3"),
        ("(1, 2) IN ((1, 2), (1, 2, 3))", "42601", "2 columns is compared with one of 3"),
        ("(1, 2) = (SELECT 1)", "42601", "2 columns is compared with a query of 1"),
        ("(1, 2) IN (SELECT * FROM t)", "42601", "2 columns is compared with a query of 3"),
        ("(1, NULL) IS NULL", "0A000", "IS NULL of a row"),
        ("(1, NULL) IS NOT NULL", "0A000", "IS NULL of a row"),
        ("(row_number() OVER (), 1) IN (SELECT 1, 1)", "0A000", "window function"),
        ("(count(*), 1) IN (SELECT 1, 1)", "0A000", "count"),
        (f"({'1, ' * 40}1) < ({'1, ' * 40}1)", "54001", "41 columns"),
        (f"(1, 2) IN ({'(1, 2), ' * 1000}(1, 2))", "54001", "1001 rows"),
    ],
)
def test_what_has_no_meaning_is_refused(
    both: tuple[pykudu_sql.Connection, sqlite3.Connection],
    expression: str,
    sqlstate: str,
    said: str,
) -> None:
    with pytest.raises(pykudu_sql.Error, match=said) as caught:
        both[0].execute(f"SELECT {expression}")
    assert caught.value.sqlstate == sqlstate


def test_a_comparison_of_rows_reaches_the_scan(
    both: tuple[pykudu_sql.Connection, sqlite3.Connection],
) -> None:
    ours, _ = both
    for condition, pushed in (
        ("(k, a) = (1, 2)", "k = 1 AND a = 2"),
        ("(k, a) IN ((1, 2), (3, 4))", "(k = 1 AND a = 2) OR (k = 3 AND a = 4)"),
        ("(k, a) >= (5, 2)", "k >= 6 OR (k = 5 AND a >= 2)"),
    ):
        plan = ours.execute(f"EXPLAIN SELECT b FROM t WHERE {condition}").fetchall()
        assert any(line.endswith(f"pushed: {pushed}") for (line,) in plan), plan


def test_a_column_keeps_the_name_that_was_written(
    both: tuple[pykudu_sql.Connection, sqlite3.Connection],
) -> None:
    cursor = both[0].execute("SELECT NOT (a, b) = (1, 2), (a, b) IN (SELECT x, y FROM u) FROM t")
    assert [column[0] for column in cursor.description or ()] == [
        "NOT (a, b) = (1, 2)",
        "(a, b) IN (SELECT x, y FROM u)",
    ]
