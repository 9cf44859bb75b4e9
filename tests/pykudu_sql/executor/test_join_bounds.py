"""Joins by integers of few and of many rows know the bounds of these, and answer the same."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.engine.query_engine import Relation, limits_of
from pykudu_sql.executor.reading import engine_runs, join_bounds

ROWS = 20_000
TYPES = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(join_bounds, "LEAST_ROWS", 1000)
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        opened.execute("CREATE TABLE big (id BIGINT PRIMARY KEY, k INT, v INT)")
        numbers = range(ROWS)
        keys = [None if n % 11 == 0 else n % 700 - 100 for n in numbers]
        opened.append("big", pa.table({"id": numbers, "k": keys, "v": [n % 9 for n in numbers]}))
        opened.execute("CREATE TABLE few (k SMALLINT PRIMARY KEY, w INT)")
        opened.execute("INSERT INTO few SELECT range - 50, range FROM range(300)")
        yield opened


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, dict[str, int]]]:
    """What the relations of each query that runs say of themselves."""
    seen: list[dict[str, dict[str, int]]] = []
    bounded = join_bounds.bounded_relations

    def noted(*arguments: object) -> dict[str, Relation]:
        relations = dict(bounded(*arguments))  # type: ignore[arg-type]
        seen.append({name: limits_of(each.schema) for name, each in relations.items()})
        return relations

    monkeypatch.setattr(engine_runs, "bounded_relations", noted)
    return seen


def unaided(connection: Connection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql.replace("few.k", "(few.k + 0)")).fetchall()


@pytest.mark.parametrize(
    ("join", "is_bounded"),
    [
        ("big JOIN few ON big.k = few.k", True),
        ("big, few WHERE few.k = big.k", True),
        ("big LEFT JOIN few ON big.k = few.k", False),
        ("big JOIN few ON big.k = few.k AND big.v = few.w", False),
        ("big WHERE k IN (SELECT k FROM few)", False),
    ],
)
def test_both_sides_of_an_inner_join_by_one_column_have_limits(
    connection: Connection,
    limits: list[dict[str, dict[str, int]]],
    join: str,
    is_bounded: bool,
) -> None:
    sql = f"SELECT count(*), sum(v), min(big.k) FROM {join}"
    answer = connection.execute(sql).fetchall()
    assert any(limits[0].values()) is is_bounded
    if is_bounded:
        assert sorted(map(str, limits[0].values())) == ["{'k': 1024}", "{'k': 256}"]
    assert connection.execute(sql).fetchall() == answer == unaided(connection, sql)


def test_limits_follow_the_rows_from_one_query_to_the_next(
    connection: Connection, limits: list[dict[str, dict[str, int]]]
) -> None:
    sql = "SELECT count(*), sum(w) FROM big JOIN few ON big.k = few.k"
    for greatest in (40, 300, 8000, 32767):
        connection.execute("UPSERT INTO few VALUES (?, 1)", (greatest,))
        connection.execute("UPDATE big SET k = ? WHERE id = 5", (greatest,))
        for _ in range(2):
            assert connection.execute(sql).fetchall() == unaided(connection, sql)
    assert {limit for each in limits for columns in each.values() for limit in columns.values()} > {
        *(256, 1024, 8192, 32768)
    }


@pytest.mark.parametrize(("kind", "bits"), TYPES.items())
def test_the_ends_of_every_type_are_kept(connection: Connection, kind: str, bits: int) -> None:
    ends = [-(1 << bits), (1 << bits) - 1, 0, 1, -1]
    connection.execute(f"CREATE TABLE ends (id BIGINT PRIMARY KEY, k {kind})")
    rows = [ends[n % len(ends)] for n in range(2000)]
    connection.append("ends", pa.table({"id": range(2000), "k": rows}))
    connection.execute(f"CREATE TABLE one (k {kind} PRIMARY KEY, w INT)")
    connection.execute("INSERT INTO one VALUES (0, 1), (1, 2), (-1, 3)")
    for _ in range(2):
        found = connection.execute(
            "SELECT ends.k, w, count(*) FROM ends JOIN one ON ends.k = one.k GROUP BY ALL"
        ).fetchall()
        assert sorted(found) == [(-1, 3, 400), (0, 1, 400), (1, 2, 400)]
    connection.execute("INSERT INTO one VALUES (?, 4), (?, 5)", (ends[0], ends[1]))
    found = connection.execute("SELECT sum(w) FROM ends JOIN one ON ends.k = one.k").fetchall()
    assert found == [(400 * (1 + 2 + 3 + 4 + 5),)]


def test_no_rows_and_only_nulls_join_nothing(connection: Connection) -> None:
    sql = "SELECT count(*) FROM big JOIN few ON big.k = few.k"
    connection.execute("DELETE FROM few")
    assert connection.execute(sql).fetchall() == [(0,)]
    connection.execute("INSERT INTO few VALUES (1, 1)")
    connection.execute("UPDATE big SET k = NULL")
    assert connection.execute(sql).fetchall() == [(0,)]


def test_names_may_have_any_characters(connection: Connection) -> None:
    connection.execute('CREATE TABLE q (id BIGINT PRIMARY KEY, "A ""b""; --" INT, "select" INT)')
    connection.append(
        "q", pa.table({"id": range(2000), 'A "b"; --': [7] * 2000, "select": range(2000)})
    )
    for _ in range(2):
        for name in ('"A ""b""; --"', '"select"'):
            sql = f"SELECT count(*) FROM q JOIN few ON q.{name} = few.k"
            assert connection.execute(sql).fetchall() == unaided(connection, sql)
