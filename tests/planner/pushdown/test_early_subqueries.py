"""Which subqueries under IN are computed before the scans around them."""

import pytest

from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.query.query import plan_rows

MANY = "(select t_id from u group by t_id having count(*) > 3)"


def plan(sql: str, context: PlanContext) -> Query:
    return plan_rows(SourceText(sql), context)


@pytest.mark.parametrize(
    "condition",
    [
        f"id in {MANY}",
        f"(id in ({MANY})) and a > 1",
        "id in (select t_id from u, kinds where kinds.k = t_id group by t_id having sum(big) > 1)",
    ],
)
def test_a_subquery_with_having_is_computed_first(context: PlanContext, condition: str) -> None:
    early = plan(f"select a from t where {condition}", context).early
    assert early is not None
    (subquery,) = early.subqueries
    around = early.around()
    assert subquery.target in {scan.name for scan in around.scans}
    assert not {scan.name for scan in around.scans} & {s.name for s in subquery.query.scans}
    assert subquery.name in around.sql
    assert "HAVING" not in around.sql


@pytest.mark.parametrize(
    "condition",
    [
        f"id not in {MANY}",
        f"id in {MANY} or a > 1",
        f"id + 0 in {MANY}",
        "id in (select t_id from u)",
        "id in (select t_id from u group by t_id having count(*) > t.a)",
        "id in (select t_id from u group by t_id having random() > 0.5)",
        "id in (select t_id + 0 from u group by t_id having count(*) > 3)",
        "id in (with w as (select * from u) select t_id from w group by t_id having count(*) > 3)",
    ],
)
def test_others_are_left_to_the_engine(context: PlanContext, condition: str) -> None:
    assert plan(f"select a from t where {condition}", context).early is None


def test_a_scan_that_serves_other_mentions_too_is_not_narrowed(context: PlanContext) -> None:
    sql = f"select x.a from t x, t y where x.id in {MANY} and y.id in {MANY}"
    assert plan(sql, context).early is None


def test_parameters_within_are_numbered_anew(context: PlanContext) -> None:
    sql = (
        "select a + ? from t where b = ? and id in "
        "(select t_id from u group by t_id having count(*) > ? and max(t_id) < ?)"
    )
    query = plan(sql, context)
    assert query.early is not None
    (subquery,) = query.early.subqueries
    assert [query.parameters.index(key) for key in subquery.query.parameters] == [2, 3]
    assert "$1" in subquery.query.sql
    assert "$3" not in subquery.query.sql
    assert len(subquery.query.met) == len(subquery.query.parameters)
