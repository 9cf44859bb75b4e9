"""ON CONFLICT: which key it may be about, and which branches its rows take."""

import pytest

from pykudu_sql.planner.dml.conflict import check_conflict_columns
from pykudu_sql.planner.dml.insert_tail import Conflict
from pykudu_sql.planner.plan.change_plans import ConflictInsert, InsertReturning, Repeated
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import NotSupportedError, ProgrammingError, SourceSpan


def conflict(*columns: str) -> Conflict:
    return Conflict(columns, None, SourceSpan(7, 3))


def planned(sql: str, context: PlanContext) -> ConflictInsert:
    insert = plan(sql, context)
    assert isinstance(insert, ConflictInsert)
    return insert


def test_the_columns_named_must_be_the_key_in_any_order(context: PlanContext) -> None:
    events = context.catalog.table("events")
    for columns in ((), ("host", "at"), ("at", "host")):
        check_conflict_columns(events, conflict(*columns))
    with pytest.raises(ProgrammingError, match=r"no unique key of table 'events' is \(at\)") as e:
        check_conflict_columns(events, conflict("at"))
    assert (e.value.sqlstate, e.value.span) == ("42P10", SourceSpan(7, 3))


def test_rows_of_a_table_without_a_unique_key_never_conflict(context: PlanContext) -> None:
    logs = context.catalog.table("logs")
    check_conflict_columns(logs, conflict())
    with pytest.raises(NotSupportedError, match="rows never conflict"):
        check_conflict_columns(logs, conflict("day"))


def test_a_row_is_inserted_or_updated_and_twice_is_an_error(context: PlanContext) -> None:
    insert = planned(
        "insert into t (id, a) values (1, 2), (2, 3) on conflict (id) do update "
        "set a = excluded.a + a",
        context,
    )
    assert [branch.kind for branch in insert.change.branches] == [
        RowOpKind.INSERT,
        RowOpKind.UPDATE,
    ]
    assert (insert.repeated, insert.target_scan) == (Repeated.REFUSED, "__scan_0")


def test_a_query_that_reads_the_table_for_more_needs_all_of_it(context: PlanContext) -> None:
    insert = planned(
        "insert into t (id) values (1) on conflict do update set a = (select max(a) from t)",
        context,
    )
    assert insert.target_scan is None


def test_an_upsert_that_shows_rows_updates_what_it_names_and_the_last_counts(
    context: PlanContext,
) -> None:
    upsert = planned("upsert into t (id, a) values (1, 2) returning id", context)
    assert upsert.repeated is Repeated.LAST
    _, update = upsert.change.branches
    assert [column for column, _ in update.columns] == [0, 1]
    only_key = planned("upsert into t (id) values (1) returning id", context)
    assert [branch.kind for branch in only_key.change.branches] == [RowOpKind.INSERT]


def test_rows_that_are_numbered_are_always_new(context: PlanContext) -> None:
    insert = plan("insert ignore into logs values (1, 'x'), (2, 'y') returning day", context)
    assert isinstance(insert, InsertReturning)
