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
from pykudu_sql.storage.catalog.catalog import new_table
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.errors import DuplicateObjectError
from pykudu_sql.storage.transaction.transaction import Transaction


def create_table(state: SessionState, plan: CreateTable) -> Outcome:
    """CREATE TABLE; with the rows of an AS query, in one commit."""
    try:
        return _create(state, plan)
    except DuplicateObjectError:
        if plan.if_not_exists and plan.name in state.store.catalog.tables:
            return _done("Table already exists.")
        raise


def _create(state: SessionState, plan: CreateTable) -> Outcome:
    if plan.if_not_exists and plan.name in state.store.catalog.tables:
        return _done("Table already exists.")
    if plan.query is not None:
        with closing(query_rows(state, plan.query, (), state.store.begin())) as rows:
            return _create_as(state, plan, rows)
    state.store.create_table(
        plan.name, plan.schema, plan.partition_schema, plan.comment, plan.properties
    )
    return _done(_created(plan))


def _created(plan: CreateTable) -> str:
    return " ".join(("Table has been created.", *plan.notes))


def _create_as(state: SessionState, plan: CreateTable, rows: RowStream) -> Outcome:
    """Create a table with all rows of its query, the first of which are there."""
    table = new_table(plan.name, plan.schema, plan.partition_schema, plan.comment, plan.properties)
    ids = [column.id for column in table.schema.visible_columns]

    def columns_of(chunk: pa.Table) -> ArrowColumns:
        state.checkpoint()
        return dict(zip(ids, chunk.columns, strict=True))

    def fill(transaction: Transaction) -> RowResults:
        created = transaction.create_table(table)
        with state.followed():
            return insert_rows(RowErrorMode.FAIL, transaction, created, rows, columns_of)

    inserted = state.transactions.write_alone(fill).applied
    return Outcome(None, inserted, f"{_created(plan)} Inserted {inserted} row(s)")


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
