"""Operators of the engine as a tree: what it describes, and what EXPLAIN shows of it."""

import json
from typing import Any

import pyarrow as pa
import pytest

import pykudu_sql
from pykudu_sql.engine.operators import operators_of
from pykudu_sql.executor.inspection.engine_operators import operator_json

SCAN = {
    "name": "PYTHON_ARROW_SCAN",
    "children": [],
    "extra_info": {"Projections": ["a", "b"], "Estimated Cardinality": "1000"},
}


def test_what_only_passes_rows_on_is_left_out() -> None:
    project = {"name": "PROJECTION", "children": [SCAN], "extra_info": {"Projections": "#0"}}
    found = operators_of(json.dumps([project]))
    assert found is not None
    assert (found.name, found.columns, found.estimated_rows) == (
        "PYTHON_ARROW_SCAN", ("a", "b"), 1000,
    )  # fmt: skip


def test_places_of_columns_are_no_details() -> None:
    group = {
        "name": "HASH_GROUP_BY",
        "children": [SCAN],
        "extra_info": {"Groups": "#0", "Aggregates": ["sum(#1)", "count_star()"]},
    }
    found = operators_of(json.dumps([group]))
    assert found is not None
    assert found.details == {"Aggregates": "sum(#1), count_star()"}


def test_a_leaf_is_the_scan_with_its_columns_and_about_its_rows() -> None:
    found = operators_of(json.dumps([{"name": "HASH_JOIN", "children": [SCAN, SCAN]}]))
    assert found is not None
    few = pa.table({"a": [1] * 10, "b": [2] * 10})
    many = pa.table({"a": [1] * 900, "b": [2] * 900})
    other = pa.table({"c": [1] * 1000})
    inputs = operator_json(found, {"few": few, "other": other, "many": many})["inputs"]
    assert [each["scan"] for each in inputs] == ["many", "few"]


@pytest.fixture
def conn() -> pykudu_sql.Connection:
    conn = pykudu_sql.connect(autocommit=True)
    rows = "SELECT i AS id, i % 7 AS k FROM range(100) r(i)"
    conn.execute(f"CREATE TABLE t PRIMARY KEY (id) AS {rows}")
    conn.execute("CREATE TABLE u PRIMARY KEY (k) AS SELECT i AS k FROM range(7) r(i)")
    return conn


def explained(conn: pykudu_sql.Connection, how: str, sql: str) -> dict[str, Any]:
    row = conn.execute(f"EXPLAIN ({how}) {sql}").fetchone()
    assert row is not None
    document: dict[str, Any] = json.loads(row[0])
    return document


def scans_of(operator: dict[str, Any]) -> list[str]:
    own = [operator["scan"]] if "scan" in operator else []
    return own + [scan for each in operator.get("inputs", ()) for scan in scans_of(each)]


def test_leaves_name_the_scans_they_read(conn: pykudu_sql.Connection) -> None:
    sql = "SELECT count(*) FROM t x JOIN u USING (k) JOIN t y ON x.id = y.id WHERE x.id < 50"
    document = explained(conn, "FORMAT JSON", sql)
    joined = {scan["name"]: scan["table"] for scan in document["scans"]}
    assert sorted(joined[name] for name in scans_of(document["operators"])) == ["t", "t", "u"]


def test_analyze_counts_the_rows_of_each_operator(conn: pykudu_sql.Connection) -> None:
    document = explained(conn, "ANALYZE, FORMAT JSON", "SELECT k, count(*) FROM t GROUP BY k")
    assert document["rows"] == document["operators"]["rows"] == 7
    assert document["operators"]["milliseconds"] >= 0
    assert document["scans"][0]["rows"] == 100


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t VALUES (1, 2)", "SELECT * FROM t WHERE id = 1", "DELETE FROM t"]
)
def test_statements_without_a_tree_say_so(conn: pykudu_sql.Connection, sql: str) -> None:
    assert "operators" not in explained(conn, "FORMAT JSON", sql)
