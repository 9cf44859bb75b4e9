"""A query that groups by a prefix of the key has a form over groups in place of rows."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import AggregateKind, SortedGroups
from pykudu_sql.planner.planner import plan
from pykudu_sql.planner.pushdown.sorted_groups import sorted_groups


def test_a_query_without_groups_has_no_such_form(context: PlanContext) -> None:
    query = plan("select host from events", context)
    assert isinstance(query, Query)
    bound = bind(parse("select host from events"), context)
    assert sorted_groups(query, bound, frozenset(), {}) is None


def groups(sql: str, context: PlanContext) -> SortedGroups | None:
    query = plan(sql, context)
    assert isinstance(query, Query)
    return query.sorted_groups


def test_aggregates_become_columns_and_having_a_filter(context: PlanContext) -> None:
    form = groups(
        "select host, sum(at), max(amount) from events where at > 5 "
        "group by host having count(*) > 1 order by sum(at), host limit 3",
        context,
    )
    assert form is not None
    assert [each.kind for each in form.aggregates] == [
        AggregateKind.SUM,
        AggregateKind.MAX,
        AggregateKind.COUNT,
    ]
    assert form.form().sql == (
        'SELECT "host", CAST("events"."__scan_group_0" AS INT128), "events"."__scan_group_1" '
        'FROM "__scan_0" AS "events" WHERE "events"."__scan_group_2" > 1 '
        'ORDER BY CAST("events"."__scan_group_0" AS INT128), "host" LIMIT 3'
    )


def test_parameters_of_the_where_are_left_to_the_scan(context: PlanContext) -> None:
    form = groups("select host from events where at > ? group by host having sum(at) > ?", context)
    assert form is not None
    assert form.form().parameters == (1,)
    assert form.form().sql.endswith("> CAST($1 AS BIGNUM)")


def test_parts_of_groups_are_added_up(context: PlanContext) -> None:
    form = groups(
        "select day, count(*), avg(amount), min(at) from events where at > 5 group by day "
        "having sum(at) > 7",
        context,
    )
    assert form is not None and not form.is_prefix
    assert form.merging().sql == (
        'SELECT "day", CAST(SUM("events"."__scan_group_0") AS BIGINT), '
        '(CAST(SUM("events"."__scan_group_1") AS DOUBLE) / '
        '(CAST(CAST(SUM("events"."__scan_group_2") AS BIGINT) AS DOUBLE) * CAST(100 AS DOUBLE))), '
        'MIN("events"."__scan_group_3") FROM "__scan_0" AS "events" GROUP BY "day" '
        'HAVING CAST(SUM("events"."__scan_group_4") AS INT128) > 7'
    )


@pytest.mark.parametrize(
    ("columns", "is_prefix"), [("host", True), ("at, host", True), ("at", False), ("day", False)]
)
def test_a_prefix_of_the_key_makes_whole_groups(
    context: PlanContext, columns: str, is_prefix: bool
) -> None:
    form = groups(f"select count(*) from events group by {columns}", context)
    assert form is not None and form.is_prefix is is_prefix


@pytest.mark.parametrize(
    "sql",
    [
        "select host, count(*) from events group by 1",
        "select host as h, count(*) from events group by h",
        "select e.host, count(e.value) from events e group by e.host",
        "select at, host, min(day) from events group by at, host",
        "select host, count(*) as n from events group by host order by n",
        "select id, count(*) from t group by all",
        "select host, sum(value), max(value) from events group by host",
    ],
)
def test_keys_may_be_named_numbered_and_in_any_order(sql: str, context: PlanContext) -> None:
    assert groups(sql, context) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "select host, value, count(*) from events group by host, value",
        "select host, avg(day) from events group by host",
        "select host, count(*) from events where value + 1 > 2 group by host",
        "select host, any_value(at) from events group by host",
        "select host, (select count(*) from t) from events group by host",
        "select host, count(*) from events group by host order by count(*) + length(host)",
        "select e.host from events e join t on t.a = e.at group by e.host",
        "select distinct host from events group by host",
        "select distinct host, at + 1 from events",
        "select distinct host from events having host > 'a'",
        "select distinct host from events having count(*) > 3",
        "select distinct host from events order by count(*), host",
        "select host from events group by host, host",
    ],
)
def test_what_asks_for_more_has_no_such_form(sql: str, context: PlanContext) -> None:
    assert groups(sql, context) is None
