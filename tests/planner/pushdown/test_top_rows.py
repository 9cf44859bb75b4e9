"""Which queries need the first rows of a table by one of its columns."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query, TopRows
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.top_rows import top_rows


def top(sql: str, context: PlanContext) -> TopRows | None:
    bound = bind(parse(sql), context)
    return top_rows(bound.tree, bound)


@pytest.mark.parametrize(
    ("sql", "name", "first_rows"),
    [
        ("select * from t order by id desc limit 5", "id", (True, False, 5, 5, False)),
        ("select a from t order by b limit 5 offset 2", "b", (False, False, 7, 5, False)),
        ("select a from t order by b desc, id limit 1", "b", (True, True, 1, 1, False)),
        (
            "select s as b from t where a > 1 order by a nulls first limit 2",
            "a",
            (False, True, 2, 2, True),
        ),
        (
            "select a + 1 from t x order by x.s desc nulls last limit 3",
            "s",
            (True, False, 3, 3, False),
        ),
    ],
)
def test_an_order_by_a_stored_column_with_a_limit_needs_its_first_rows(
    context: PlanContext, sql: str, name: str, first_rows: tuple[bool, bool, int, int, bool]
) -> None:
    column_id = context.catalog.tables["t"].schema.by_name[name].id
    assert top(sql, context) == TopRows(column_id, *first_rows)


@pytest.mark.parametrize(
    "sql",
    [
        "select a from t order by b", "select a from t limit 5",
        "select a from t order by b limit 0",
        "select a from t order by a + 1 limit 5", "select a as b from t order by b limit 5",
        "select distinct a from t order by a limit 5", "select max(a) from t order by 1 limit 5",
        "select a from t group by a order by a limit 5", "select a from t order by a limit ?",
        "select t.a from t, u order by t.a limit 5", "select a from t order by a limit 20000",
        "select row_number() over (order by a) from t order by a limit 5",
        "select a from (select * from t) order by a limit 5", "select a from t order by 1 limit 5%",
        "select a from t where b = (select max(b) from t) order by a limit 5",
    ],
)  # fmt: skip
def test_any_other_query_needs_all_rows(context: PlanContext, sql: str) -> None:
    assert top(sql, context) is None


def scan_tops(sql: str, context: PlanContext) -> list[TopRows]:
    query = plan(sql, context)
    assert isinstance(query, Query)
    return [scan.top for scan in query.scans if scan.top is not None]


@pytest.mark.parametrize(
    ("sql", "name", "rows", "descending"),
    [
        ("select * from (select * from t order by id desc limit 5) x order by id", "id", 5, True),
        ("select avg(a) from (select a from t order by b limit 5 offset 2)", "b", 7, False),
        ("with x as (select a, s from t order by a limit 2) select * from x", "a", 2, False),
        ("select 1 from u where t_id in (select a from t order by b limit 3)", "b", 3, False),
        ("select id from u union all (select a from t order by b desc limit 1)", "b", 1, True),
    ],
)
def test_a_subquery_needs_the_first_rows_of_its_scan(
    context: PlanContext, sql: str, name: str, rows: int, descending: bool
) -> None:
    tops = scan_tops(sql, context)
    assert [(each.rows, each.descending) for each in tops] == [(rows, descending)]
    assert tops[0].column_id == context.catalog.tables["t"].schema.by_name[name].id


@pytest.mark.parametrize(
    "sql",
    [
        "select * from (select * from t where a > 1 order by b limit 5) x",
        "select * from (select t.* from t, u order by t.b limit 5) x",
        "select * from (select distinct a from t order by a limit 5) x",
        "select * from (select a, count(*) from t group by a order by a limit 5) x",
        "select * from (select a from t order by a + 1 limit 5) x",
        "select * from (select a from t order by a) x limit 5",
        "select a from t union all (select a from t order by b desc limit 1)",
        "select x.a from (select a from t order by a limit 5) x, (select a from t limit 3) y",
    ],
)
def test_other_subqueries_need_all_rows(context: PlanContext, sql: str) -> None:
    assert scan_tops(sql, context) == []
