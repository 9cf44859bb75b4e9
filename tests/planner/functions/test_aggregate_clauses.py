"""Clauses of a call mean the same of a compatibility aggregate as of the engine's own."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlglot import exp

import pykudu_sql
from pykudu_sql.planner.functions.aggregate_clauses import (
    aggregate_call,
    plain_logical_aggregate,
    push_aggregate_clause,
    with_clauses,
)
from pykudu_sql.planner.functions.compatibility_functions import TEMPLATES
from pykudu_sql.planner.parse.dialect import parse

ARGUMENTS = {
    "approx_percentile": "v, 0.5",
    "array_concat_agg": "[v]",
    "every": "v > 3",
    "json_group_object": "k, v",
    "percentile": "v, 0.5",
    "percentile_approx": "v, 0.5",
}
ORDERED = ("array_concat_agg", "collect_list", "json_group_array", "json_group_object")
AGGREGATES = sorted(
    {
        name
        for (name, _), template in TEMPLATES.items()
        if parse(f"SELECT {template}").find(exp.AggFunc) is not None
    }
)


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    with pykudu_sql.connect(":memory:", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY, g INT, v INT)")
        connection.execute("INSERT INTO t VALUES (1, 1, 3), (2, 1, NULL), (3, 2, 5), (4, 2, 5)")
        yield connection


def value(connection: pykudu_sql.Connection, sql: str) -> Any:
    """The value of a query of one row; a list as a set, since its order is another clause's."""
    ((cell,),) = connection.execute(sql).fetchall()
    return sorted(map(str, cell)) if isinstance(cell, list) else cell


def call(name: str, clause: str = "") -> str:
    order = " ORDER BY k" if name in ORDERED else ""
    return f"{name}({clause}{ARGUMENTS.get(name, 'v')}{order})"


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("condition", ["k > 1", "k > 9", "v IS NULL"])
def test_filter_leaves_rows_out_before_the_aggregate(
    connection: pykudu_sql.Connection, name: str, condition: str
) -> None:
    filtered = value(connection, f"SELECT {call(name)} FILTER (WHERE {condition}) FROM t")
    assert filtered == value(connection, f"SELECT {call(name)} FROM t WHERE {condition}")


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("rows", ["", " FILTER (WHERE k <> 3)"])
def test_over_gives_each_row_the_value_of_its_window(
    connection: pykudu_sql.Connection, name: str, rows: str
) -> None:
    window = f"SELECT {call(name)}{rows} OVER (PARTITION BY g) AS w, k FROM t"
    for group, key in ((1, 2), (2, 4)):
        windowed = value(connection, f"SELECT w FROM ({window}) WHERE k = {key}")
        grouped = f"SELECT {call(name)}{rows} FROM t WHERE g = {group}"
        assert windowed == value(connection, grouped)


@pytest.mark.parametrize("name", [name for name in AGGREGATES if name not in ORDERED])
def test_distinct_counts_a_value_once(connection: pykudu_sql.Connection, name: str) -> None:
    distinct = value(connection, f"SELECT {call(name, 'DISTINCT ')} FROM t")
    once = value(connection, f"SELECT {call(name)} FROM t WHERE k < 4")
    assert distinct == once


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize(
    ("written", "clause"),
    [
        ("{name}({given}) WITHIN GROUP (ORDER BY k)", "WITHIN GROUP"),
        ("{name}({given} IGNORE NULLS)", "IGNORE NULLS"),
        ("{name}({given}) IGNORE NULLS", "IGNORE NULLS"),
        ("{name}({given} ORDER BY k LIMIT 1)", "LIMIT"),
    ],
)
def test_a_clause_that_has_no_place_is_refused_with_the_name_of_the_function(
    connection: pykudu_sql.Connection, name: str, written: str, clause: str
) -> None:
    sql = written.format(name=name, given=ARGUMENTS.get(name, "v"))
    with pytest.raises(pykudu_sql.NotSupportedError) as caught:
        connection.execute(f"SELECT {sql} FROM t")
    assert caught.value.message == f"{name}() takes no {clause}"


@pytest.mark.parametrize("name", ["bool_and", "bool_or", "logical_and", "logical_or", "every"])
def test_logical_aggregates_take_distinct_and_order_by(
    connection: pykudu_sql.Connection, name: str
) -> None:
    plain = value(connection, f"SELECT {name}(v > 3) FROM t")
    for given in ("DISTINCT v > 3", "v > 3 ORDER BY k", "DISTINCT v > 3 ORDER BY v > 3"):
        assert value(connection, f"SELECT {name}({given}) FROM t") == plain


def test_distinct_and_order_are_told_from_the_arguments() -> None:
    node = parse("SELECT total(DISTINCT v ORDER BY k DESC)").find(exp.Anonymous)
    assert node is not None
    call = aggregate_call("total", node.expressions)
    assert [each.sql() for each in call.arguments] == ["v"]
    assert call.is_distinct
    assert [each.this.sql() for each in call.order] == ["k"]
    assert aggregate_call("total", ()).arguments == ()


def test_clauses_go_into_the_aggregate_of_what_a_call_becomes() -> None:
    meaning = parse("SELECT (coalesce(sum(v), 0))").expressions[0]
    call = aggregate_call("total", [exp.Distinct(expressions=[exp.column("v")])])
    distinct = with_clauses(meaning, call)
    assert distinct.sql() == "(COALESCE(SUM(DISTINCT v), 0))"
    condition = exp.Where(this=exp.column("a"))
    filtered = push_aggregate_clause(exp.Filter(this=distinct, expression=condition))
    again = push_aggregate_clause(exp.Filter(this=filtered, expression=condition.copy()))
    assert again.sql() == "(COALESCE(SUM(DISTINCT v) FILTER(WHERE a AND a), 0))"


def test_what_is_no_compatibility_aggregate_keeps_its_clauses() -> None:
    plain = exp.Filter(this=exp.paren(exp.column("v")), expression=exp.Where(this=exp.true()))
    assert push_aggregate_clause(plain) is plain
    meaning = parse("SELECT (v + 1)").expressions[0]
    assert with_clauses(meaning, aggregate_call("f", [exp.column("v")])) is meaning
    assert plain_logical_aggregate(exp.column("v")) == exp.column("v")
