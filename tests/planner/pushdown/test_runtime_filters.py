"""Which equalities let the rows of one mention of a table narrow another one."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.runtime_filters import (
    filter_sources,
    join_equalities,
    runtime_filters,
)


def bound(source: str, context: PlanContext) -> BoundQuery:
    return bind(parse(f"select 1 from {source}"), context)


def shown(end: tuple[TableReference, int]) -> str:
    return f"{end[0].alias}.{end[0].table.schema.by_id[end[1]].name}"


def equalities(source: str, context: PlanContext) -> set[str]:
    found = join_equalities(bound(source, context))
    return {f"{shown(each.source)} > {shown(each.target)}" for each in found}


BOTH_WAYS = {"t.id > u.t_id", "u.t_id > t.id"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("t join u on t.id = u.t_id", BOTH_WAYS),
        ("t, u where (u.t_id) = t.id", BOTH_WAYS),
        ("t left join u on t.id = u.t_id", {"t.id > u.t_id"}),
        ("t right join u on t.id = u.t_id", {"u.t_id > t.id"}),
        ("t full join u on t.id = u.t_id", set()),
        ("t, u where (t.id = u.t_id and a = 1) or (t.id = u.t_id and a = 2)", BOTH_WAYS),
        ("t, u where t.id = u.t_id or a = 1", set()),
        ("t where id in (select t_id from u)", {"u.t_id > t.id"}),
        ("t where id not in (select t_id from u)", set()),
        ("t where id in (select t_id + 1 from u)", set()),
        ("t where exists (select 1 from u where u.t_id = t.id)", {"t.id > u.t_id"}),
        ("t asof join u on t.id >= u.t_id where t.id = u.t_id", set()),
        ("t, u where t.d = u.id", set()),
        ("t, u where t.s = u.id", set()),
        ("t where id = a", set()),
        ("t join t v using (id)", {"t.id > v.id", "v.id > t.id"}),
        ("t left join t v using (id)", {"t.id > v.id"}),
        ("t right join t v using (id)", {"v.id > t.id"}),
        ("t full join t v using (id)", set()),
        ("t semi join t v using (id)", {"t.id > v.id"}),
        ("t anti join t v using (id)", {"t.id > v.id"}),
        ("t natural join (select id from u) v", set()),
        (
            "t join t v using (id) join t w using (id)",
            {"t.id > v.id", "v.id > t.id", "t.id > w.id", "w.id > t.id"},
        ),
        ("t right join t v using (id) join t w using (id)", {"v.id > t.id"}),
        ("(t left join t v using (id)) join t w using (id)", set()),
    ],
)
def test_rows_narrow_a_mention_that_they_need_not_preserve(
    context: PlanContext, source: str, expected: set[str]
) -> None:
    assert equalities(source, context) == expected


def test_another_table_is_a_source_and_the_same_one_is_none(context: PlanContext) -> None:
    query = bound("t join u on t.id = u.t_id", context)
    t, u = query.references
    sources = filter_sources(join_equalities(query))
    assert {table_id for table_id, *_ in sources[u]} == {t.table.id}
    assert {table_id for table_id, *_ in sources[t]} == {u.table.id}
    itself = bound("t x join t y on x.id = y.a", context)
    assert filter_sources(join_equalities(itself)) == {}


def test_mentions_that_a_table_narrows_by_different_columns_have_different_sources(
    context: PlanContext,
) -> None:
    query = bound("t x, t y, u where x.id = u.t_id and y.a = u.t_id", context)
    x, y, _ = query.references
    sources = filter_sources(join_equalities(query))
    assert len(sources[x]) == len(sources[y]) == 1
    assert sources[x] != sources[y]


def test_a_shared_scan_is_filtered_by_what_holds_for_all_its_mentions(
    context: PlanContext,
) -> None:
    query = bound("t x, t y, u where x.id = u.t_id and y.id = u.t_id", context)
    x, y, u = query.references
    apart = runtime_filters(join_equalities(query), {x: "a", y: "b", u: "c"})
    assert {(each.source, each.target) for each in apart} >= {("c", "a"), ("c", "b")}
    shared = runtime_filters(join_equalities(query), {x: "a", y: "a", u: "c"})
    assert {(each.source, each.target) for each in shared} == {("c", "a"), ("a", "c")}
    half = bound("t x, t y, u where x.id = u.t_id", context)
    x, y, u = half.references
    filters = runtime_filters(join_equalities(half), {x: "a", y: "a", u: "c"})
    assert {(each.source, each.target) for each in filters} == {("a", "c")}
