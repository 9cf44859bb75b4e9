"""Windows in descending order have a form for columns without NULL, and only those."""

import pytest

from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.pushdown.null_order import null_free_form
from pykudu_sql.planner.query.query import plan_query

RANK = "row_number() over (partition by a order by b desc)"


def plan(sql: str, context: PlanContext) -> Query:
    query = plan_query(SourceText(sql), context)
    assert isinstance(query, Query)
    return query


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (f"select {RANK} from t", ["b"]),
        (f"select * from (select *, {RANK} as r from t) where r = 1", ["b"]),
        (f"select a from t qualify {RANK} = 1", ["b"]),
        ("select rank() over w from t x window w as (order by x.b desc, a)", ["b"]),
        ("select lag(a) over (order by b desc, d desc, a desc nulls last) from t", ["b", "d"]),
    ],
)
def test_null_comes_last_in_a_second_form(
    context: PlanContext, sql: str, columns: list[str]
) -> None:
    query = plan(sql, context)
    assert query.null_free is not None
    assert query.null_free.columns == tuple((query.scans[0].name, name) for name in columns)
    assert "NULLS LAST" in query.null_free.sql
    assert query.null_free.sql.count("DESC NULLS LAST") == query.sql.count("DESC")


@pytest.mark.parametrize(
    "sql",
    [
        "select row_number() over (order by b) from t",
        "select row_number() over (order by b desc nulls last) from t",
        "select row_number() over (order by b + 1 desc) from t",
        "select row_number() over (order by b desc) from t left join u on t.id = u.t_id",
        "select row_number() over (order by b desc) from t group by rollup (b)",
        "select row_number() over (order by b desc) from (select b from t)",
        "select nullif(b, 1) as b from t order by row_number() over (order by b desc)",
        "select b from t order by b desc",
    ],
)
def test_others_have_one_form(context: PlanContext, sql: str) -> None:
    assert plan(sql, context).null_free is None


def test_the_tree_stays_as_it_is() -> None:
    tree = parse(f"select {RANK} from t")
    before = to_sql(tree)
    form = null_free_form(tree)
    assert form is not None and form.sql != before == to_sql(tree)
