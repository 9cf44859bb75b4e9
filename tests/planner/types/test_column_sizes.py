"""The sizes of columns that queries compute: calls over small ones need no check."""

from math import inf

import pytest
from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.types.column_sizes import note_computed_sizes
from pykudu_sql.planner.value_bounds.value_sizes import COMMON_CELL, has_size, most_bytes


def is_checked(sql: str, context: PlanContext) -> bool:
    return "WITHIN(" in plan_rows(SourceText(sql), context).sql.upper()


@pytest.mark.parametrize(
    "source",
    [
        "SELECT s AS x FROM t",
        "SELECT max(s) AS x FROM t",
        "SELECT CASE WHEN a > 1 THEN s ELSE 'none' END AS x FROM t",
        "SELECT y AS x FROM (SELECT min(s) AS y FROM t) AS deeper",
        "SELECT upper(s) AS x FROM t UNION ALL SELECT 'abc'",
    ],
)
def test_a_computed_column_is_as_small_as_what_it_shows(context: PlanContext, source: str) -> None:
    assert not is_checked(f"SELECT concat(x, x) FROM ({source}) AS q", context)
    assert not is_checked(f"WITH q AS ({source}) SELECT concat(x, x) FROM q", context)


@pytest.mark.parametrize(
    "source",
    [
        "SELECT string_agg(s, '') AS x FROM t",
        "SELECT y || y AS x FROM (SELECT string_agg(s, '') AS y FROM t) AS deeper",
        "SELECT s AS x FROM t UNION ALL SELECT string_agg(s, '') FROM t",
    ],
)
def test_a_column_of_any_size_is_checked(context: PlanContext, source: str) -> None:
    assert is_checked(f"SELECT concat(x, x) FROM ({source}) AS q", context)


def is_sort_checked(sql: str, context: PlanContext) -> bool:
    return "__GATHERED(" in plan_rows(SourceText(sql), context).sql.upper()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t ORDER BY s, a",
        "SELECT t.*, a + 1 AS b FROM t ORDER BY s",
        "SELECT * RENAME (s AS x) FROM t ORDER BY x",
        "SELECT * FROM t AS u JOIN t AS v USING (a) ORDER BY a",
        "SELECT * FROM (SELECT *, upper(s) AS w FROM t) AS q ORDER BY w, s",
        "WITH q AS (SELECT s, max(a) AS b FROM t GROUP BY s) SELECT * FROM q ORDER BY b, s",
        "SELECT * FROM (SELECT s FROM t UNION ALL SELECT 'x') AS q ORDER BY s",
        "SELECT * FROM (SELECT *, lag(s) OVER (ORDER BY a) AS x FROM t) AS q ORDER BY x",
    ],
)
def test_a_column_that_a_star_shows_is_as_small_as_it_is_by_name(
    context: PlanContext, query: str
) -> None:
    assert not is_sort_checked(query, context)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * REPLACE (repeat(s, 1000) AS s) FROM t ORDER BY s",
        "SELECT * FROM t, (SELECT repeat('x', 1000000) AS z) AS q ORDER BY z",
        "SELECT * FROM (SELECT * REPLACE (repeat(s, 1000) AS s) FROM t) AS q ORDER BY s",
        "SELECT * FROM (SELECT s FROM t UNION ALL SELECT repeat(s, 1000) FROM t) AS q ORDER BY s",
        "SELECT * FROM (SELECT list(s) AS l FROM t) AS q ORDER BY l",
        "WITH RECURSIVE q(x) AS (SELECT s FROM t UNION ALL SELECT x || x FROM q) "
        "SELECT * FROM q ORDER BY x",
    ],
)
def test_a_column_of_any_size_that_a_star_shows_is_checked(
    context: PlanContext, query: str
) -> None:
    assert is_sort_checked(query, context)


def test_many_small_columns_are_large_together(context: PlanContext) -> None:
    many = ", ".join(["x"] * 20)
    assert is_checked(f"SELECT concat({many}) FROM (SELECT max(s) AS x FROM t) AS q", context)


def test_a_recursive_query_may_outgrow_its_first_rows(context: PlanContext) -> None:
    grown = "SELECT s FROM t UNION ALL SELECT concat(x, x) FROM q"
    assert is_checked(f"WITH RECURSIVE q(x) AS ({grown}) SELECT concat(x, x) FROM q", context)


def test_the_size_of_a_column_is_the_largest_of_what_it_shows(context: PlanContext) -> None:
    shown = "SELECT 'abc' AS x UNION ALL SELECT 'de'"
    (column,) = nodes_of(bind(parse(f"SELECT x FROM ({shown}) AS q"), context).tree, exp.Column)
    assert not has_size(column) and most_bytes(column) == inf
    note_computed_sizes([column])
    assert (most_bytes(column), most_bytes(column, COMMON_CELL)) == (3, 3)
