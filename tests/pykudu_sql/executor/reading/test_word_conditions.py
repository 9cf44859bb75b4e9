"""Conditions that words decide leave the rows that the engine alone would leave."""

import random
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.reading import early_subqueries, word_filters

ROWS = 3_000
WORDS = ["", "Bern", "bern", "Zürich", "a%b", "x_y", "12", "-3.5", "ß", "Basel Stadt", "it's", "z"]
OFF = 1 << 60


def _fill(connection: Connection) -> None:
    generator = random.Random(7)
    connection.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, s STRING, w VARCHAR(20), n INT)"
        " PARTITION BY HASH (id) PARTITIONS 2"
    )
    words = [*WORDS, None]
    columns = {
        "id": pa.array(range(ROWS), pa.int32()),
        "s": pa.array([generator.choice(words) for _ in range(ROWS)]),
        "w": pa.array([generator.choice(words[:5]) for _ in range(ROWS)]),
        "n": pa.array([generator.randrange(50) for _ in range(ROWS)], pa.int32()),
    }
    connection.append("t", pa.table(columns))


def _update(connection: Connection) -> None:
    connection.execute("UPDATE t SET s = 'Newtown' WHERE n = 3")
    connection.execute("UPDATE t SET s = NULL WHERE n = 4")
    connection.execute("UPDATE t SET s = 'bern' WHERE n = 5 AND s IS NULL")
    connection.execute("DELETE FROM t WHERE n = 6 OR s = 'z'")
    connection.execute("INSERT INTO t VALUES (-1, 'only in memory', 'BERN', 1)")


def _flush(connection: Connection) -> None:
    connection.execute("FLUSH TABLE t")


STATES: dict[str, tuple[Callable[[Connection], None], ...]] = {
    "in memory": (_fill,),
    "on disk": (_fill, _flush),
    "changed": (_fill, _flush, _update),
    "changes on disk": (_fill, _flush, _update, _flush),
}


@pytest.fixture(scope="module", params=list(STATES))
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        for step in STATES[request.param]:
            step(opened)
        yield opened


Answer = list[tuple[object, ...]] | str


def _answer(connection: Connection, sql: str, values: Sequence[object]) -> Answer:
    try:
        return sorted(connection.execute(sql, values).fetchall(), key=repr)
    except pykudu_sql.Error as error:
        return str(error.sqlstate)


def _both(connection: Connection, sql: str, values: Sequence[object] = ()) -> tuple[Answer, Answer]:
    """The answers with words asked, and without."""
    answers = []
    for least in (1, OFF):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(word_filters, "LEAST_ROWS", least)
            patch.setattr(word_filters, "_MOST_MATCHING", 1)
            answers.append(_answer(connection, sql, values))
    return answers[0], answers[1]


def _condition(generator: random.Random, column: str) -> str:
    word = generator.choice(WORDS).replace("'", "''")
    text = generator.choice(
        [
            column, f"upper({column})", f"lower({column})", f"substr({column}, 1, 2)",
            f"trim({column})", f"coalesce({column}, 'bern')", f"nullif({column}, 'Bern')",
            f"replace({column}, 'e', 'E')", f"split_part({column}, ' ', 1)",
            f"left({column}, 3)", f"reverse({column})", f"{column} || 'x'",
            f"CASE WHEN {column} LIKE 'B%' THEN 'b' ELSE {column} END",
        ]
    )  # fmt: skip
    test = generator.choice(
        [
            f"{text} = '{word}'", f"{text} <> '{word}'", f"{text} > '{word}'",
            f"{text} LIKE '%{word[:2]}%'", f"{text} NOT LIKE '{word[:1]}%'",
            f"{text} ILIKE 'b%'", f"{text} IN ('{word}', 'BERN')",
            f"{text} NOT IN ('{word}', 'bern')", f"length({text}) > {generator.randrange(6)}",
            f"{text} IS DISTINCT FROM '{word}'", f"{text} IS NULL", f"{text} IS NOT NULL",
            f"regexp_matches({text}, '^[a-zB]')", f"NOT ({text} = '{word}')",
            f"{text} BETWEEN 'A' AND 'b'", f"TRY_CAST({text} AS INT) > 5",
            f"CAST({text} AS INT) > 5", f"{text} COLLATE NOCASE = 'BERN'",
        ]
    )  # fmt: skip
    if generator.random() < 0.2:
        return f"({test} OR {_condition(generator, column)})"
    return test


SHAPES = (
    "SELECT id, s FROM t WHERE {s}",
    "SELECT count(*), sum(n) FROM t WHERE {s} AND {w}",
    "SELECT s, count(*) FROM t WHERE n > 20 AND {s} GROUP BY s",
    "SELECT DISTINCT w FROM t WHERE {s} AND {s2}",
    "SELECT x.id, y.id FROM t AS x LEFT JOIN (SELECT id, s, w FROM t WHERE {w}) AS y"
    " ON x.id = y.id + 1 WHERE x.n < 5 AND (x.s <> 'Bern')",
    "SELECT id FROM t WHERE n IN (SELECT n FROM t WHERE {s} AND id < 50)",
    "WITH c AS (SELECT * FROM t WHERE {s}) SELECT count(*) FROM c WHERE {w}",
    "SELECT max(id) FROM t WHERE {s} UNION ALL SELECT min(id) FROM t WHERE {w}",
)


@pytest.mark.parametrize("seed", range(8))
def test_the_rows_are_those_that_the_engine_would_leave(connection: Connection, seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(12):
        parts = {
            "s": _condition(generator, "s"),
            "s2": _condition(generator, "s"),
            "w": _condition(generator, "w"),
        }
        sql = generator.choice(SHAPES).format(**parts)
        by_words, by_rows = _both(connection, sql)
        assert by_words == by_rows, sql


@pytest.mark.parametrize(
    "where",
    [
        "coalesce(y.s, 'Bern') = 'Bern'",
        "y.s IS NULL OR upper(y.s) = 'X'",
        "upper(y.s) = 'BERN'",
        "y.s <> 'Bern'",
    ],
)
def test_rows_that_an_outer_join_makes_are_asked_as_rows(
    connection: Connection, where: str
) -> None:
    sql = f"SELECT x.id FROM t AS x LEFT JOIN t AS y ON y.id = x.id * 2 WHERE {where}"
    by_words, by_rows = _both(connection, sql)
    assert by_words == by_rows
    assert by_rows


@pytest.mark.parametrize("word", ["bern", "nowhere", None, "a%b"])
def test_parameters_are_those_of_the_condition(connection: Connection, word: str | None) -> None:
    sql = (
        "SELECT id + ?, s FROM t WHERE n < ? AND lower(s) = ? AND length(w) < ?"
        " AND id NOT IN (SELECT max(id) FROM t WHERE upper(s) = ?)"
    )
    by_words, by_rows = _both(connection, sql, (1, 40, word, 6, "BERN"))
    assert by_words == by_rows
    assert bool(by_rows) == (word in ("bern", "a%b"))


@pytest.mark.parametrize("value", [3, 2.5, True, b"x", [1]])
def test_parameters_of_other_types_mean_the_same(connection: Connection, value: object) -> None:
    for condition in ("lower(s) = ?", "length(s) > ?", "s || ? = 'x'", "upper(s) ILIKE ?"):
        by_words, by_rows = _both(connection, f"SELECT id FROM t WHERE {condition}", (value,))
        assert by_words == by_rows


def test_a_subquery_that_is_computed_first_has_its_own_conditions(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_subqueries, "LEAST_LOOKED_UP", 1)
    sql = (
        "SELECT id FROM t WHERE upper(w) = 'BERN' AND id IN"
        " (SELECT max(id) FROM t WHERE n < 40 AND lower(s) = 'bern' GROUP BY n)"
    )
    by_words, by_rows = _both(connection, sql)
    assert by_words == by_rows
    assert by_rows and not isinstance(by_rows, str)


def test_a_scan_reads_no_rowset_where_no_word_meets_the_condition() -> None:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        _fill(connection)
        _flush(connection)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(word_filters, "LEAST_ROWS", 1)
            for word, rowsets in (("NOWHERE", "0 of 2"), ("BERN", "2 of 2")):
                sql = f"EXPLAIN ANALYZE SELECT n FROM t WHERE upper(s) = '{word}'"
                lines = [line.strip() for (line,) in connection.execute(sql).fetchall()]
                assert f"rowsets read: {rowsets}" in lines
                assert "filtered by words of s if __scan_0 is large and they are few" in lines


def test_words_of_the_moment_that_is_read_decide(connection: Connection) -> None:
    before = connection.snapshot_timestamp()
    connection.execute("UPDATE t SET s = 'Later' WHERE id = 8")
    try:
        for moment, rows in (("", 1), (f" AS OF {before}", 0)):
            sql = f"SELECT count(*) FROM t{moment} WHERE lower(s) = 'later'"
            assert _both(connection, sql) == ([(rows,)], [(rows,)])
    finally:
        connection.execute("UPDATE t SET s = 'Bern' WHERE id = 8")


def test_own_changes_of_a_transaction_are_words_too(connection: Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET s = 'Own' WHERE id = 9")
    try:
        sql = "SELECT id FROM t WHERE lower(s) = 'own'"
        assert _both(connection, sql) == ([(9,)], [(9,)])
    finally:
        connection.execute("ROLLBACK")
