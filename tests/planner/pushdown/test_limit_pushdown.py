"""How far a query of one table has to read it, and what its metadata answers."""

import pytest

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.limit_pushdown import RowLimit, row_limit, summaries
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder


def limit(sql: str, context: PlanContext) -> RowLimit | None:
    bound = bind(parse(sql), context)
    return row_limit(bound.tree, bound)


def summary(sql: str, context: PlanContext) -> list[tuple[str, int | None]]:
    bound = bind(parse(sql), context)
    return [(str(each.kind), each.column_id) for each in summaries(bound.tree, bound)]


@pytest.mark.parametrize(
    ("sql", "rows", "expected", "order"),
    [
        ("select a from t limit 5 offset 2", 7, 5, ScanOrder.NONE),
        ("select a + 1 from t where b > 1 limit 0", 0, 0, ScanOrder.NONE),
        ("select * from t order by id limit 3", 3, 3, ScanOrder.KEY),
        ("select a as id from t order by t.id limit 3", 3, 3, ScanOrder.KEY),
        ("select value from events order by host limit 1", 1, 1, ScanOrder.KEY),
        ("select host from events order by host, at limit 1", 1, 1, ScanOrder.KEY),
    ],
)
def test_a_query_of_rows_reads_no_more_than_its_limit(
    context: PlanContext, sql: str, rows: int, expected: int, order: ScanOrder
) -> None:
    assert limit(sql, context) == RowLimit(rows, expected, order)


@pytest.mark.parametrize(
    "sql",
    [
        "select a from t limit 5%", "select a from t order by id limit 5 percent offset 1",
        "select a from t", "select a from t limit 1 + 1", "select a from t limit ?",
        "select a from t limit 1 offset ?", "select distinct a from t limit 1",
        "select max(a) from t limit 1", "select a from t where a in (select 1) limit 1",
        "select t.a from t, u limit 1", "select a from (select * from t) limit 1",
        "select a from t order by a limit 1", "select a from t order by id desc limit 1",
        "select a as id from t order by id limit 1", "select at from events order by at limit 1",
        "select at from events order by host, at, value limit 1",
    ],
)  # fmt: skip
def test_other_queries_read_on(context: PlanContext, sql: str) -> None:
    assert limit(sql, context) is None


def test_counts_and_ends_of_a_whole_table_come_from_metadata(context: PlanContext) -> None:
    sql = "select count(*), min(a) as least, max(id), count(id) from t"
    assert summary(sql, context) == [("COUNT", None), ("MIN", 1), ("MAX", 0), ("COUNT", None)]


@pytest.mark.parametrize(
    "sql",
    [
        "select count(a) from t", "select count(distinct id) from t", "select sum(a) from t",
        "select min(a + 1) from t", "select max(a, 2) from t", "select count(*), a from t",
        "select min(a) filter (where a > 1) from t", "select count(*) from t where a = 1",
        "select count(*) from t, u", "select count(*) from t limit 1",
        "select count(*) from sys.tables",
    ],
)  # fmt: skip
def test_what_depends_on_single_rows_does_not(context: PlanContext, sql: str) -> None:
    assert summary(sql, context) == []
