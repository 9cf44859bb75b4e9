"""Subqueries of few values are computed first, and filter a scan by these."""

import pytest

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.early_subqueries import EarlyMark, early_form
from pykudu_sql.storage.common.predicate.column_predicate import Op

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


@pytest.mark.parametrize(
    ("condition", "op"),
    [
        ("id = (select max(t_id) from u)", Op.EQ),
        ("id > (select max(t_id) from u where t_id < 9)", Op.GT),
        ("(select min(t_id) from u) > id", Op.LT),
        ("id >= (select max(t_id) from u) - 10", Op.GE),
        ("id <= ((select t_id from u limit 1) + (select min(t_id) from u))", Op.LE),
        ("id in (select max(t_id) from u group by t_id)", None),
        ("id in (select t_id from u order by t_id desc limit 3)", None),
    ],
)
def test_few_values_that_meet_a_column_are_computed_first(
    context: PlanContext, condition: str, op: Op | None
) -> None:
    early = planned(f"select * from t where s = 'x' and {condition}", context).early
    assert early is not None
    (subquery,) = early.subqueries
    assert subquery.narrowing is not None and subquery.narrowing.op is op
    assert [scan.table.name for scan in early.around().scans] == ["t"]


@pytest.mark.parametrize(
    "condition",
    [
        "id <> (select max(t_id) from u)",
        "id = (select max(t_id) from u where t_id > a)",
        "id + 1 = (select max(t_id) from u)",
        "id = any (select t_id from u)",
        "id = (select max(t_id) from u) * a",
        "id = abs((select max(t_id) from u))",
        "id = (select max(t_id) from u) or a = 1",
        "id = (select max(id) from t)",
        "id = (select max(t_id) from u where random() > 0.5)",
    ],
)
def test_others_are_left_to_the_engine(context: PlanContext, condition: str) -> None:
    assert planned(f"select id from t where {condition}", context).early is None


def test_of_a_summary_nothing_is_read(context: PlanContext) -> None:
    early = planned("select * from t where id = (select max(t_id) from u) - 1", context).early
    assert early is not None
    parts = early.subqueries[0].query.early
    assert parts is not None
    assert [part.query.summary != () for part in parts.subqueries] == [True]
    assert not parts.around().scans


def test_a_form_without_marks_computes_nothing_first(context: PlanContext) -> None:
    marks: tuple[EarlyMark, ...] = ()
    assert early_form(planned(GROUPED, context), marks, lambda query: None) is None
