# ruff: noqa: E501  (tables of statements read best one a line)
"""Conditions written around a query reach the tables inside it, where that changes nothing."""

import pytest

from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.planner import plan


def pushed(sql: str, context: PlanContext, parameters: tuple[object, ...] = ()) -> list[str]:
    planned = plan(sql, context)
    assert isinstance(planned, Query)
    texts = []
    for scan in planned.scans:
        predicate = bind_predicate(scan.predicate, parameters)
        shown = "all" if predicate is None else predicate_text(predicate, scan.table.schema)
        texts.append(f"{scan.table.name}: {shown}")
    return texts


ENTERING = [
    ("(select id as k, a from t) x where x.k = 5", ["t: id = 5"]),
    ("(select (id) as k from (select * from t where a > 1) y) x where k = 5", ["t: a >= 2 AND id = 5"]),
    ("(select distinct a, b from t) x where a = 1", ["t: a = 1"]),
    ("(select a, count(*) n from t group by a) x where a = 1 and n > 2", ["t: a = 1"]),
    ("(select a as k, sum(b) n from t group by 1) x where k in (1, 2)", ["t: a IN (1, 2)"]),
    ("(select a as k, sum(b) n from t group by k) x where k > 2.5", ["t: a >= 3"]),
    ("(select a, sum(b) n from t group by all) x where a = 1", ["t: a = 1"]),
    ("(select a, b, rank() over (partition by a order by b) r from t) x where a = 1", ["t: a = 1"]),
    ("(select id from t union all select t_id from u) x(k) where k = 3", ["t: id = 3", "u: t_id = 3"]),
    ("(select id from t except select t_id from u) x where id < 3", ["t: id <= 2", "u: t_id <= 2"]),
    ("(select id, s from t intersect (select t_id, name from u)) x where s like 'a%'", ["t: s STARTS WITH 'a'", "u: name STARTS WITH 'a'"]),
    ("(select t.id, u.name from t left join u on t.id = u.t_id) x where name = 'a'", ["t: all", "u: name = 'a'"]),
    ("t left join (select * from u) x on t.id = x.t_id where x.name = 'a'", ["t: all", "u: name = 'a'"]),
    ("t left join (select * from u) x on t.id = x.t_id and x.name = 'a'", ["t: all", "u: name = 'a'"]),
    ("t x(k, l) where k = 1 and l = 2", ["t: id = 1 AND a = 2"]),
    ("t, lateral (select * from u where t_id = t.id) x where x.name = 'a'", ["t: all", "u: name = 'a'"]),
    ("(select * from (select a, b, max(d) from t group by a, b) y) x where a = 1 or a = 2", ["t: a IN (1, 2)"]),
    ("(select id from t where false union all select id from u) x where id = 1", ["t: false", "u: id = 1"]),
]  # fmt: skip

STAYING = [
    ("(select id + 0 as id from t) x where id = 5", ["t: all"]),
    ("(select id from t limit 10) x where id = 5", ["t: all"]),
    ("((select id from t) offset 1) x where id = 5", ["t: all"]),
    ("(select id from t union select t_id from u limit 3) x where id = 3", ["t: all", "u: all"]),
    ("(select distinct on (a) a, b from t order by a, b) x where b = 1", ["t: all"]),
    ("(select a, sum(b) b from t group by a) x where b = 1", ["t: all"]),
    ("(select a, b from t group by grouping sets ((a), (b))) x where a = 1", ["t: all"]),
    ("(select a, b from t group by rollup (a, b)) x where a = 1", ["t: all"]),
    ("(select a, rank() over (partition by b order by a) r from t) x where a = 1", ["t: all"]),
    ("(select a, rank() over w from t window w as (partition by a)) x where a = 1", ["t: all"]),
    ("(select a, b from t qualify row_number() over (partition by b) = 1) x where a = 1", ["t: all"]),
    ("(select a from t union all select name from u) x where a = '1'", ["t: all", "u: all"]),
    ("(select a from t union all select 1) x where a = 1", ["t: all"]),
    ("(select t.id, u.name from t left join u on t.id = u.t_id) x where name is null", ["t: all", "u: all"]),
    ("t left join (select * from u) x on t.id = x.t_id where x.name is null", ["t: all", "u: all"]),
    ("t left join (select * from u) x on t.id = x.t_id and t.a = 1", ["t: all", "u: all"]),
    ("t full join (select * from u) x on t.id = x.t_id and x.name = 'a'", ["t: all", "u: all"]),
    ("(select t.id from t asof join u on t.id >= u.t_id) x where id = 3", ["t: all", "u: all"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), ENTERING)
def test_a_condition_enters_a_query_where_a_filter_may_go_first(
    context: PlanContext, source: str, expected: list[str]
) -> None:
    assert pushed(f"select 1 from {source}", context) == expected


@pytest.mark.parametrize(("source", "expected"), STAYING)
def test_a_condition_stays_outside_where_it_would_change_the_rows(
    context: PlanContext, source: str, expected: list[str]
) -> None:
    assert pushed(f"select 1 from {source}", context) == expected


WITH = [
    ("with c as (select * from t) select * from c where id = 1", ["t: id = 1"]),
    ("with c as (select * from t) select * from c x join c y on x.a = y.b where x.id = 1 and y.id = 2", ["t: id IN (1, 2)"]),
    ("with c as (select * from t) select * from c x join c y on x.a = y.b where x.id = 1", ["t: all"]),
    ("with c as (select * from t), d as (select * from c where a = 1) select * from d where id = 1", ["t: a = 1 AND id = 1"]),
    ("with c as (select * from t), d as (select * from c where a = 1) select * from d where id = 1 union all select * from c where id = 2", ["t: (a = 1 AND id = 1) OR id = 2"]),
    ("with c as (select * from t) select 1 where exists (select 1 from c where id = 4)", ["t: id = 4"]),
    ("with c(k) as (select id from t) select * from c where k = 1", ["t: id = 1"]),
    ("with recursive c(k) as (select id from t union all select k + 1 from c where k < 5) select * from c where k = 3", ["t: all"]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), WITH)
def test_a_with_query_gives_what_any_of_its_mentions_wants(
    context: PlanContext, sql: str, expected: list[str]
) -> None:
    assert pushed(sql, context) == expected


def test_mentions_without_number_are_followed_only_so_far(context: PlanContext) -> None:
    chain = ", ".join(f"c{i + 1} as (select x.* from c{i} x, c{i} y)" for i in range(30))
    sql = f"with c0 as (select id from t), {chain} select * from c30 where id = 1"
    assert len(pushed(sql, context)) == 1


HAVING = [
    ("select a, sum(b) from t group by a having a = 1 and sum(b) > 2", ["t: a = 1"]),
    ("select a as b, sum(b) from t group by a having b = 1", ["t: all"]),
    ("select a, b from t group by rollup (a, b) having a = 1", ["t: all"]),
    ("select sum(b) from t having sum(b) > 1", ["t: all"]),
    ("select a from (select * from t) x group by a having a = 1", ["t: a = 1"]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), HAVING)
def test_having_filters_rows_by_the_keys_of_their_groups(
    context: PlanContext, sql: str, expected: list[str]
) -> None:
    assert pushed(sql, context) == expected


EQUALITIES = [
    ("t, u where t.id = u.t_id and u.t_id = 5", ["t: id = 5", "u: t_id = 5"]),
    ("t join u on t.id = u.t_id where t.id in (1, 2)", ["t: id IN (1, 2)", "u: t_id IN (1, 2)"]),
    ("t left join u on t.id = u.t_id where t.id > 7", ["t: id >= 8", "u: t_id >= 8"]),
    ("t left join u on t.id = u.t_id and u.t_id = 5", ["t: all", "u: t_id = 5"]),
    ("t full join u on t.id = u.t_id where t.id = 5", ["t: id = 5", "u: all"]),
    ("t, u, events e where t.a = e.at and u.id = e.at and t.a = 3", ["t: a = 3", "u: id = 3", "events: at = 3"]),
    ("t where t.s in (select name from u) and t.s like 'a%'", ["t: s STARTS WITH 'a'", "u: all"]),
    ("t where t.s in (select name from u where name like 'a%')", ["t: s STARTS WITH 'a'", "u: name STARTS WITH 'a'"]),
    ("t where t.s not in (select name from u where name like 'a%')", ["t: all", "u: name STARTS WITH 'a'"]),
    ("t where exists (select 1 from u where u.t_id = t.id) and t.id = 3", ["t: id = 3", "u: t_id = 3"]),
    ("t, kinds where t.id = kinds.small and t.id <= 1000", ["t: id <= 1000", "kinds: small IS NOT NULL"]),
    ("t, events e where t.d = e.value and t.d = 1.5", ["t: d = 1.5", "events: all"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), EQUALITIES)
def test_an_equality_of_a_join_passes_conditions_on(
    context: PlanContext, source: str, expected: list[str]
) -> None:
    assert pushed(f"select 1 from {source}", context) == expected


def test_parameters_travel_as_literals_do(context: PlanContext) -> None:
    sql = "select 1 from (select id from t) x join u on x.id = u.t_id where x.id = ?"
    assert pushed(sql, context, (4,)) == ["t: id = 4", "u: all"]
    sql = "select 1 from t join u on t.id = u.t_id where t.id = ? or t.id in (?, 3)"
    expected = ["t: id IN (4, 9, 3)", "u: t_id IN (4, 9, 3)"]
    assert pushed(sql, context, (4, 9)) == expected
