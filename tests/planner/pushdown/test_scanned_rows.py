# ruff: noqa: E501  (tables of statements read best one a line)
"""Which queries are handed the rows of their scan, and which need the engine."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import ScannedRows, SortKey
from pykudu_sql.planner.pushdown.pushdown import push_down
from pykudu_sql.planner.pushdown.scanned_rows import scanned_rows
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder

NONE, KEY = ScanOrder.NONE, ScanOrder.KEY


def scanned(sql: str, context: PlanContext) -> ScannedRows | None:
    bound = bind(parse(sql), context)
    return scanned_rows(bound.tree, bound, push_down(bound, context).decided)


@pytest.mark.parametrize(
    ("sql", "outputs", "order", "offset"),
    [
        ("select * from t", (0, 1, 2, 3, 4, 5), NONE, 0),
        ("select a, id, a as again from t where b > 5 and (s = 'x' or s in ('y', 'z'))", (1, 0, 1), NONE, 0),
        ("select x.d from t x where 5 <= x.id and x.a between -1 and 7", (4,), NONE, 0),
        ("select d from t where a is null and not b is null and flag", (4,), NONE, 0),
        ("select a from t where flag = false and s > null", (1,), NONE, 0),
        ("select id from t order by id", (0,), KEY, 0),
        ("select amount from events where host = 'h' order by host, at limit 5 offset 2", (3,), KEY, 2),
        ("select value from events where day >= '2020-01-31' and ts < timestamp '2020-01-31 10:00:00.5'", (2,), NONE, 0),
        ("select value from events where day = date '2020-01-31' or ts = '2020-01-31 10:00'", (2,), NONE, 0),
        ("select a from t where b > 1 limit 3", (1,), NONE, 0),
        ("select a from t where s like 'a%' or s like '%b_'", (1,), NONE, 0),
        ("select a from t where a > 5.5 and b = '5' and a < 99999999999999999999", (1,), NONE, 0),
        ("select a from t where d > 5 and d < 1e300 and d in (0.5, 7)", (1,), NONE, 0),
        ("select a from t where a = 5 + 5 and s = 'a' || 'b' and not flag", (1,), NONE, 0),
        ("select a from t where id > ? and s in (?, 'x') and ? = a", (1,), NONE, 0),
        ("select value from events where ts > timestamp '2020-01-01 10:00:00.1234567'", (2,), NONE, 0),
        ("select value from events where day > timestamp '2020-01-01 10:00:00' and amount = 1.5", (2,), NONE, 0),
        ("select was from t for system_time as of '2020-01-01' where id = 1 and id < 5", (1,), NONE, 0),
    ],
)  # fmt: skip
def test_plain_columns_under_exact_conditions_are_handed_on(
    context: PlanContext, sql: str, outputs: tuple[int, ...], order: ScanOrder, offset: int
) -> None:
    assert scanned(sql, context) == ScannedRows(outputs, order, offset)


@pytest.mark.parametrize(
    ("sql", "sort", "limit"),
    [
        ("select a from t order by a", (SortKey(1, False, False),), None),
        ("select a from t order by d desc", (SortKey(4, True, True),), None),
        ("select a from t order by id desc limit 5", (SortKey(0, True, True),), 5),
        ("select a from t order by a, id, a desc", (SortKey(1, False, False), SortKey(0, False, False)), None),
        ("select s from t order by b nulls first, s desc nulls last", (SortKey(2, False, True), SortKey(3, True, False)), None),
    ],
)  # fmt: skip
def test_rows_in_another_order_are_sorted_once_they_are_read(
    context: PlanContext, sql: str, sort: tuple[SortKey, ...], limit: int | None
) -> None:
    rows = scanned(sql, context)
    assert rows is not None
    assert (rows.order, rows.sort, rows.limit) == (NONE, sort, limit)


@pytest.mark.parametrize(
    "sql",
    [
        "select a + 1 from t", "select distinct a from t", "select count(*) from t",
        "select * exclude (a) from t", "select * replace (1 as a) from t", "select a from t group by a",
        "select a, (select 1) from t", "select t.a from t, u", "select t.a from t join u using (id)",
        "select a from (select * from t)", "with w as (select * from t) select a from w",
        "select a from t union all select a from t", "select a from t qualify row_number() over () = 1",
        "select a from t order by a + 1", "select a from t order by 1 + 1, id",
        "select a from t order by flag", "select a as b from t order by b",
        "select a from t limit ?", "select a from t offset 1", "select a from t limit 5%",
        "select a from t where 1 = 1",
        "select a from t where a <> 5", "select a from t where not a = 5", "select a from t where a not in (1, 2)",
        "select a from t where a in (select 1)", "select a from t where a = b", "select a from t where a + 0 = 5",
        "select a from t where d > 9007199254740993", "select a from t where a = cast(5 as float)", "select a from t where a = 'x'",
        "select a from t where s not like 'a%'", "select a from t where s = cast(to_json('a') as json)",
        "select a from t where coalesce(a, 1) = 1", "select a from t where s = null and a = ?",
        "select a from t where (a = 5 or id is not null) and b in (1, cast(1 as float))",
        "select a from t where a between symmetric 5 and 1",
        "select a from t where 5 between 1 and a", "select a from t where 5 between a and 9",
        "select a from t where 5 in (1, a)", "select a from t where id = 1 and (a = 2 or null in (a))",
        "select a from t where a = 5 or a + 1 = 5", "select a from t where flag is true",
        "select value from events where day = '2020-1-1'",
        "select value from events where day = date '20200101'", "select value from events where amount = 1.5e0",
        "select value from events where ts > cast('2020-01-01 10:00:00.1234567' as timestamp_ns)",
        "select id from changes(t, '2020-01-01', '2020-01-02')",
    ],
)  # fmt: skip
def test_the_engine_makes_the_rows_of_all_other_queries(context: PlanContext, sql: str) -> None:
    assert scanned(sql, context) is None
