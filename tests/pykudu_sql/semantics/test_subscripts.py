"""`x[i]` is the element that the engine gives, whatever stands for `x` in its SQL."""

from collections.abc import Iterator

import duckdb
import pytest

import pykudu_sql

LISTS = (
    "[4, 5, 6]", "[s, 'q']", "string_split(s, 'y')", "list_concat([1], [2, 3])", "[[1, 2], [3, 4]]",
    "coalesce([1, 2], [3])", "CAST('[1, 2]' AS INT[])", "[v + 1 FOR v IN [1, 2]]", "range(5)",
    "regexp_extract_all(s, '.')", "map_keys(MAP {1: 2, 3: 4})",
)  # fmt: skip
TEXTS = (
    "'abc'", "s", "upper(s)", "repeat(s, 2)", "(SELECT s)", "CASE WHEN a = 1 THEN s END",
    "s || 'k'", "CAST(lower(s) AS TEXT)",
)  # fmt: skip
MAPS = (
    "MAP([1, 2], ['a', s])", "MAP {1: 'a', 2: s}", "MAP {a: {'k': 1}, 2: {'k': 2}}",
    "MAP {1: ROW(1, 2), 2: ROW(3, 4)}", "MAP {1: [1, 2]}", "MAP {1: MAP {1: s}}",
    "map_from_entries([(1, s)])",
)  # fmt: skip
PLACES = ("[1]", "[2]", "[-1]", "[a]", "[1 + 1]", "[0]")


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (a INT PRIMARY KEY, s STRING)")
        connection.execute("INSERT INTO t VALUES (1, 'xyz')")
        yield connection


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect()
    engine.execute("CREATE TABLE t AS SELECT 1 AS a, 'xyz' AS s")
    return engine


@pytest.mark.parametrize("value", [*LISTS, *TEXTS, *MAPS])
def test_an_element_is_that_of_its_place_or_key(
    connection: pykudu_sql.Connection, engine: duckdb.DuckDBPyConnection, value: str
) -> None:
    slices = () if value in MAPS else ("[1:2]", "[2:]", "[:1]")
    for place in (*PLACES, *slices):
        sql = f"SELECT CAST({value}{place} AS TEXT) FROM t"
        assert connection.execute(sql).fetchall() == engine.execute(sql).fetchall(), place


def test_a_text_that_is_cut_keeps_its_places(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT CAST(s AS VARCHAR(2))[1], CAST(s AS VARCHAR(2))[-1] FROM t"
    assert connection.execute(sql).fetchall() == [("x", "y")]


def test_a_map_holds_structs_and_their_fields_are_read(connection: pykudu_sql.Connection) -> None:
    sql = "SELECT MAP {'p': {'k': s}}['p'].k, MAP {}, MAP {1: {'k': 2}} FROM t"
    assert connection.execute(sql).fetchall() == [("xyz", [], [(1, {"k": 2})])]
