"""RESTORE TABLE: two queries find what differs between then and now."""

from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl.restore import plan_restore
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.write_plans import RestoreTable
from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn, RenameColumn, apply_steps
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import (
    HistoryPurgedError,
    NotSupportedError,
    ReadOnlyError,
    SyntaxError,
    UndefinedTableError,
)

PAST = "'2023-01-01'"


def restored(sql: str, context: PlanContext) -> RestoreTable:
    planned = plan_restore(TokenStream(sql), context)
    assert isinstance(planned, RestoreTable)
    return planned


def since(context: PlanContext, table: TableInfo) -> PlanContext:
    """The world in which a table is now another than at every moment before."""
    tables = {**context.catalog.tables, table.name: table}
    return replace(context, catalog=replace(context.catalog, tables=tables))


def test_one_query_finds_keys_to_delete_and_one_the_rows_to_write(context: PlanContext) -> None:
    planned = restored(f"restore table U to {PAST}", context)
    assert planned.table.name == "u"
    assert planned.deleted.names == ("id",)
    assert planned.rows.names == ("id", "t_id", "name", "note")
    assert planned.column_ids == (0, 1, 2, 3)
    scans = (*planned.deleted.scans, *planned.rows.scans)
    assert len({scan.name for scan in scans}) == len(scans)
    assert {scan.bound is None for scan in scans} == {True, False}


def test_columns_are_matched_though_they_were_renamed_or_added_since(
    context: PlanContext,
) -> None:
    z = ColumnSchema(0, "z", parse_type("INT"))
    u = apply_steps(context.catalog.table("u"), (RenameColumn("name", "title"), AddColumn(z)))
    planned = restored(f"restore table u to {PAST}", since(context, u))
    assert planned.rows.names == ("id", "t_id", "title", "note")


def test_a_column_that_was_dropped_since_cannot_be_filled(context: PlanContext) -> None:
    u = apply_steps(context.catalog.table("u"), (DropColumn("name"),))
    with pytest.raises(NotSupportedError, match="column 'name' of that moment was dropped"):
        restored(f"restore table u to {PAST}", since(context, u))


def test_a_table_of_that_name_that_was_dropped_is_another_one(context: PlanContext) -> None:
    u = replace(context.catalog.table("u"), id="another")
    with pytest.raises(UndefinedTableError, match="did not exist at that moment") as caught:
        restored(f"restore table u to {PAST}", since(context, u))
    assert "SHOW DROPPED TABLES" in (caught.value.hint or "")


def test_a_moment_before_the_history_is_named_as_such(context: PlanContext) -> None:
    past = replace(context.catalog, tables={}, complete_since=4711)
    context = replace(context, catalog_at=lambda bound: past)
    with pytest.raises(HistoryPurgedError, match="does not reach back to a table 'u'"):
        restored(f"restore table u to {PAST}", context)


def test_a_session_that_reads_the_past_cannot_restore(context: PlanContext) -> None:
    with pytest.raises(ReadOnlyError):
        restored(f"restore table u to {PAST}", context.within("default", 4711))
    for sql in ("restore table u", "restore u to '2023-01-01'", "restore table u to"):
        with pytest.raises(SyntaxError):
            restored(sql, context)
