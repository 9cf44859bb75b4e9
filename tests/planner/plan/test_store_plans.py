"""Statements about the whole database, as EXPLAIN heads them."""

from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.store_plans import (
    CreateSnapshot,
    Flush,
    Optimize,
    SetDatabase,
    UndropTable,
    Vacuum,
)


def test_maintenance_names_its_table_or_says_that_it_is_of_all(context: PlanContext) -> None:
    t = context.catalog.table("t")
    assert [Flush(t).headline, Flush().headline] == ["FLUSH t", "FLUSH all tables"]
    assert [Vacuum(t).headline, Vacuum().headline] == ["VACUUM t", "VACUUM all tables"]


def test_optimize_says_whether_everything_is_compacted(context: PlanContext) -> None:
    t = context.catalog.table("t")
    assert Optimize(t).headline == "OPTIMIZE t"
    assert Optimize(t, full=True).headline == "OPTIMIZE t FULL"


def test_history_and_options_are_headed_by_their_names_and_never_kept() -> None:
    plans = [SetDatabase("x", None), UndropTable("t", "u"), CreateSnapshot("s", comment="c")]
    assert [each.headline for each in plans] == [
        "SET DATABASE x",
        "UNDROP TABLE t",
        "CREATE SNAPSHOT s",
    ]
    assert not any(each.cacheable or each.parameters for each in plans)
