"""Scalar subqueries that stand in an expression twice are computed once."""

import pytest
from sqlglot import exp

from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.types.shared_subqueries import share_subqueries


def shared(sql: str) -> str:
    tree = parse(sql)
    having = tree.find(exp.Having)
    assert having is not None
    share_subqueries(having.this)
    return display(tree).replace(chr(34), "")


def test_a_subquery_becomes_a_query_of_the_with_clause() -> None:
    assert shared("select a from t group by a having sum(b) > (select max(c) from u)") == (
        "WITH __scan_shared_0(c0) AS MATERIALIZED (SELECT max(c) FROM u) "
        "SELECT a FROM t GROUP BY a HAVING sum(b) > (SELECT c0 FROM __scan_shared_0)"
    )


def test_it_comes_behind_those_that_it_may_read() -> None:
    sql = "with w as (select 1 as c) select a from t group by a having sum(b) > (select c from w)"
    assert shared(sql) == (
        "WITH w AS (SELECT 1 AS c), __scan_shared_1(c0) AS MATERIALIZED (SELECT c FROM w) "
        "SELECT a FROM t GROUP BY a HAVING sum(b) > (SELECT c0 FROM __scan_shared_1)"
    )


def test_each_of_two_has_its_own_and_those_inside_stay() -> None:
    text = shared(
        "select a from t group by a having sum(b) between (select (select 1)) and (select 2) + 3"
    )
    assert text == (
        "WITH __scan_shared_0(c0) AS MATERIALIZED (SELECT (SELECT 1)), "
        "__scan_shared_1(c0) AS MATERIALIZED (SELECT 2) SELECT a FROM t GROUP BY a "
        "HAVING sum(b) BETWEEN (SELECT c0 FROM __scan_shared_0) "
        "AND (SELECT c0 FROM __scan_shared_1) + 3"
    )


def test_of_a_union_the_whole_gets_the_clause() -> None:
    text = shared(
        "select 1 union all select a from t group by a having sum(b) > (select max(c) from u)"
    )
    assert text.startswith("WITH __scan_shared_0(c0) AS MATERIALIZED (SELECT max(c) FROM u) SELECT")


@pytest.mark.parametrize(
    "sql",
    [
        "select * from (select a from t group by a having sum(b) > (select 1)) x",
        "select * from t where a in (select a from t group by a having sum(b) > (select 1))",
        "select a from t group by a having sum(b) > 1",
    ],
)
def test_nothing_moves_out_of_a_query_inside_another(sql: str) -> None:
    assert shared(sql) == display(parse(sql)).replace(chr(34), "")
