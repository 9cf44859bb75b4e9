"""SHOW COLUMN STATS as a query: one scan, a row a column."""

from pykudu_sql.planner.commands.column_stats import column_stats_sql, plan_column_stats
from pykudu_sql.planner.plan.context import PlanContext


def test_each_column_is_measured_by_its_type(context: PlanContext) -> None:
    sql = column_stats_sql(context.catalog.table("t"))
    assert "max(strlen(s))" in sql
    assert "max(CASE WHEN id IS NOT NULL THEN 8 END)" in sql
    assert "octet_length(raw)" in column_stats_sql(context.catalog.table("kinds"))


def test_only_flags_are_counted_as_true_and_false(context: PlanContext) -> None:
    sql = column_stats_sql(context.catalog.table("t"))
    assert sql.count("WHEN NOT") == sql.count("CASE WHEN flag THEN 1 END") == 1


def test_one_scan_reads_all_visible_columns(context: PlanContext) -> None:
    query = plan_column_stats(context.catalog.table("logs"), context)
    (scan,) = query.scans
    assert [scan.table.schema.by_id[i].name for i in scan.column_ids] == ["day", "msg"]
    assert query.names[:3] == ("Column", "Type", "#Distinct Values")
