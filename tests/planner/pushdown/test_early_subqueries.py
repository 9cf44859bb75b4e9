"""Subqueries with HAVING under IN are computed first, and filter a scan by their values."""

import pytest

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.early_subqueries import EarlyMark, early_form

GROUPED = "select id from t where id in (select t_id from u group by t_id having count(*) > 1)"


def planned(sql: str, context: PlanContext) -> Query:
    query = plan(sql, context)
    assert isinstance(query, Query)
    return query


def test_a_grouped_subquery_is_computed_first(context: PlanContext) -> None:
    early = planned(GROUPED, context).early
    assert early is not None and len(early.subqueries) == 1
    assert len(early.around().scans) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select id from t where id in (select t_id from u)",
        "select id from t where id in (select t_id from u group by t_id having count(*) > t.a)",
        "select id from t where id in (select t_id from u group by t_id having random() > 0.5)",
    ],
)
def test_one_without_having_of_the_outer_row_or_by_chance_is_not(
    context: PlanContext, sql: str
) -> None:
    assert planned(sql, context).early is None


def test_a_form_without_marks_computes_nothing_first(context: PlanContext) -> None:
    marks: tuple[EarlyMark, ...] = ()
    assert not early_form(planned(GROUPED, context), marks, lambda query: None).subqueries
