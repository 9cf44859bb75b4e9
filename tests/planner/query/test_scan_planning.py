"""Mentions of tables become scans; equal ones share a scan."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import display, parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.scan_planning import hide_counters, plan_scans, qualify_columns


def logical(sql: str, context: PlanContext) -> LogicalQuery:
    return LogicalQuery.of(bind(parse(sql), context), 3)


def scanned(query: LogicalQuery) -> list[tuple[str, list[str]]]:
    return [
        (scan.name, [scan.table.schema.by_id[i].name for i in scan.column_ids])
        for scan in query.scans
    ]


@pytest.mark.parametrize(
    ("sql", "scans"),
    [
        ("select x.a, y.b from t x, t y", [("__scan_3", ["a", "b"])]),
        ("select x.*, y.a from t x, t y",
         [("__scan_3", ["id", "a", "b", "s", "d", "flag"]), ("__scan_4", ["a"])]),
        ("select x.a, y.id from t x, t as of '2020-01-01' y",
         [("__scan_3", ["a"]), ("__scan_4", ["id"])]),
        ("select count(*) from events", [("__scan_3", ["at"])]),
        ("select 1", []),
    ],
)  # fmt: skip
def test_mentions_of_the_same_rows_share_a_scan(
    context: PlanContext, sql: str, scans: list[tuple[str, list[str]]]
) -> None:
    assert scanned(plan_scans(logical(sql, context), context)) == scans


def test_a_mention_reads_its_scan_under_its_own_name(context: PlanContext) -> None:
    query = plan_scans(logical('select t.a from "default".t where t.b = 1', context), context)
    assert display(query.tree) == "SELECT t.a FROM __scan_3 AS t WHERE t.b = 1"


def test_a_hidden_counter_in_use_is_left_out_of_a_star(context: PlanContext) -> None:
    query = hide_counters(logical("select * from logs order by auto_incrementing_id", context),
                          context)  # fmt: skip
    assert "EXCLUDE (logs.auto_incrementing_id)" in display(query.tree)
    unused = hide_counters(logical("select * from logs", context), context)
    assert display(unused.tree) == "SELECT * FROM logs"


def test_a_database_in_a_qualifier_is_no_part_of_the_engines_name(context: PlanContext) -> None:
    query = qualify_columns(logical('select "default".t.a from "default".t', context), context)
    assert '"t".a' in display(query.tree)
