"""EXPLAIN (FORMAT JSON): one JSON text with the facts that the lines have."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, n INT) PARTITION BY HASH (id) PARTITIONS 4"
        )
        connection.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
        connection.execute("FLUSH TABLE t")
        yield connection


def explained(connection: Connection, sql: str, parameters: tuple[Any, ...] = ()) -> dict[str, Any]:
    ((text,),) = connection.execute(sql, parameters).fetchall()
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_scan_tells_its_pruning_and_what_was_pushed(connection: Connection) -> None:
    found = explained(
        connection, "EXPLAIN (FORMAT JSON) SELECT sum(n) FROM t WHERE id = 2 AND n > 5"
    )
    (scan,) = found["scans"]
    assert (scan["table"], scan["tablets"], scan["tablets_read"]) == ("t", 4, 1)
    assert scan["columns"] == ["id", "n"]
    assert "id = 2" in scan["pushed"]
    assert "rows" not in found and "read" not in scan


@pytest.mark.parametrize(
    "head",
    [
        "EXPLAIN ANALYZE (FORMAT JSON)",
        "EXPLAIN (ANALYZE, FORMAT JSON)",
        "explain (format json, analyze)",
    ],
)
def test_analyze_adds_rows_blocks_and_times(connection: Connection, head: str) -> None:
    found = explained(connection, f"{head} SELECT * FROM t WHERE n >= 20")
    (scan,) = found["scans"]
    # A scan may give more rows than match: the query filters again.
    assert found["rows"] == 2 <= scan["rows"] == scan["read"]["rows_returned"] <= 3
    assert found["milliseconds"] >= scan["milliseconds"] >= 0
    assert scan["read"]["blocks_read"] + scan["read"]["blocks_skipped"] == scan["read"]["blocks"]


def test_pruning_by_a_parameter_is_told_when_it_is_known(connection: Connection) -> None:
    sql = "EXPLAIN (FORMAT JSON) SELECT sum(n) FROM t WHERE id = ?"
    assert "tablets_read" not in explained(connection, sql)["scans"][0]
    assert explained(connection, sql, (3,))["scans"][0]["tablets_read"] == 1


def test_a_write_is_explained_too(connection: Connection) -> None:
    found = explained(connection, "EXPLAIN (FORMAT JSON) UPDATE t SET n = n + 1 WHERE n > 10")
    assert found["operator"] == "UPDATE t"
    assert found["scans"][0]["table"] == "t"


def test_text_is_the_other_format_and_no_third_one_is_known(connection: Connection) -> None:
    lines = connection.execute("EXPLAIN (FORMAT TEXT) SELECT sum(n) FROM t").fetchall()
    assert lines[0] == ("ENGINE",)
    with pytest.raises(pykudu_sql.ProgrammingError):
        connection.execute("EXPLAIN (FORMAT XML) SELECT 1")


def test_a_query_in_parentheses_is_explained_as_one(connection: Connection) -> None:
    assert connection.execute("EXPLAIN (SELECT sum(n) FROM t)").fetchall()[0] == ("ENGINE",)
