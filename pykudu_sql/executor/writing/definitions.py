"""CREATE, DROP and ALTER TABLE.

They take effect at once and are durable when they return, so they stand outside transactions.
"""

from contextlib import closing

import pyarrow as pa

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.row_stream import (
    ArrowColumns,
    RowStream,
    insert_rows,
    query_rows,
)
from pykudu_sql.planner.plan.plan import AlterTable, CreateTable, DropTable
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.rows.row_result import RowErrorMode


def create_table(state: SessionState, plan: CreateTable) -> Outcome:
    """CREATE TABLE; rows of an AS query are committed before it returns.

    If they cannot be written, the table is not created either.
    """
    if plan.if_not_exists and plan.name in state.store.catalog.tables:
        return _done("Table already exists.")
    if plan.query is not None:
        with closing(query_rows(state, plan.query, (), state.store.begin())) as rows:
            return _create_as(state, plan, rows)
    _create(state, plan)
    return _done(_created(plan))


def _create(state: SessionState, plan: CreateTable) -> TableInfo:
    return state.store.create_table(
        plan.name, plan.schema, plan.partition_schema, plan.comment, plan.properties
    )


def _created(plan: CreateTable) -> str:
    return " ".join(("Table has been created.", *plan.notes))


def _create_as(state: SessionState, plan: CreateTable, rows: RowStream) -> Outcome:
    """Create a table when the first rows of its query are there, and insert all of them."""
    table = _create(state, plan)
    try:
        inserted = _fill(state, table, rows)
    except BaseException:
        state.store.drop_table(plan.name)
        raise
    return Outcome(None, inserted, f"{_created(plan)} Inserted {inserted} row(s)")


def _fill(state: SessionState, table: TableInfo, rows: RowStream) -> int:
    ids = [column.id for column in table.schema.visible_columns]

    def columns_of(chunk: pa.Table) -> ArrowColumns:
        state.checkpoint()
        return dict(zip(ids, chunk.columns, strict=True))

    results = state.transactions.write_alone(
        lambda t: insert_rows(RowErrorMode.FAIL, t, table, rows, columns_of)
    )
    return results.applied


def drop_table(state: SessionState, plan: DropTable) -> Outcome:
    """DROP TABLE."""
    catalog = state.store.catalog
    if plan.if_exists and plan.name not in catalog.tables:
        return _done("Table does not exist.")
    state.store.drop_table(plan.name)
    return _done("Table has been dropped.")


def alter_table(state: SessionState, plan: AlterTable) -> Outcome:
    """ALTER TABLE, all steps or none."""
    if plan.steps:
        state.store.alter_table(plan.table.name, plan.steps)
    return _done("Table has been altered.")


def _done(message: str) -> Outcome:
    return Outcome(None, -1, message)
