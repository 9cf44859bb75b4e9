"""CREATE, DROP and ALTER TABLE.

They take effect at once and are durable when they return, so they stand outside transactions.
"""

from contextlib import closing

import pyarrow as pa

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import (
    ArrowColumns,
    ChunkedRows,
    query_rows,
    write_rows,
)
from pykudu_sql.planner.plan.plan import AlterTable, CreateTable, DropTables
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.catalog.namespace import listed_views
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import DuplicateObjectError
from pykudu_sql.storage.transaction.transaction import Transaction


def create_table(state: SessionState, plan: CreateTable) -> Outcome:
    """CREATE TABLE; with the rows of an AS query, in one commit."""
    try:
        return _create(state, plan)
    except DuplicateObjectError:
        if plan.if_not_exists and plan.name in state.store.catalog.tables:
            return _message("Table already exists.")
        raise


def _create(state: SessionState, plan: CreateTable) -> Outcome:
    if plan.if_not_exists and plan.name in state.store.catalog.tables:
        return _message("Table already exists.")
    if plan.query is not None:
        transaction = state.transactions.passing()
        with closing(query_rows(state, plan.query, (), transaction)) as rows:
            return _create_as(state, plan, rows, transaction.bound)
    if plan.replaces:
        return _replace(state, plan)
    state.store.definitions.create_table(_new_table(plan))
    return _message(_created(state, plan))


def _replace(state: SessionState, plan: CreateTable) -> Outcome:
    """Create a table without rows in the place of the one that has its name, if there is one."""
    table = _new_table(plan)
    summary = _created(state, plan)

    def make(transaction: Transaction) -> RowResults:
        transaction.create_table(table, replaces=True)
        return RowResults(0, 0, 0, ())

    state.transactions.write_alone(make, state.store.begin)
    return _message(summary)


def _new_table(plan: CreateTable) -> TableInfo:
    return new_table(
        plan.name,
        plan.schema,
        plan.partition_schema,
        plan.comment,
        plan.properties,
        plan.checks,
    )


def _created(state: SessionState, plan: CreateTable) -> str:
    is_there = plan.replaces and plan.name in state.store.catalog.tables
    summary = "Table has been replaced." if is_there else "Table has been created."
    return " ".join((summary, *plan.notes))


def _create_as(
    state: SessionState, plan: CreateTable, rows: ChunkedRows, bound: SnapshotBound
) -> Outcome:
    """Create a table with all rows of its query, read at `bound`, the first of which are there."""
    read_bound = bound if _reads_replaced(plan) else None
    table, summary = _new_table(plan), _created(state, plan)
    ids = [column.id for column in table.schema.visible_columns]

    def columns_of(chunk: pa.Table) -> ArrowColumns:
        state.check_cancelled()
        return dict(zip(ids, chunk.columns, strict=True))

    def fill(transaction: Transaction) -> RowResults:
        created = transaction.create_table(table, replaces=plan.replaces, read_bound=read_bound)
        with state.followed():
            return write_rows(
                RowErrorMode.FAIL, transaction, created, RowOpKind.INSERT, rows, columns_of
            )

    inserted = state.transactions.write_alone(fill, state.store.begin).applied
    return Outcome(None, inserted, f"{summary} Inserted {inserted} row(s)")


def _reads_replaced(plan: CreateTable) -> bool:
    """Whether a query reads, as it is now, the table that its rows replace."""
    scans = () if plan.query is None or not plan.replaces else plan.query.scans
    return any(scan.table.name == plan.name and scan.bound is None for scan in scans)


def drop_tables(state: SessionState, plan: DropTables) -> Outcome:
    """DROP TABLE: all that it names, in one edit."""
    tables = state.store.catalog.tables
    names = [name for name in plan.names if not plan.if_exists or name in tables]
    if names:
        state.store.drop_tables(names, [view.id for view in plan.views])
    too = f" {listed_views(plan.views).capitalize()} too." if plan.views else ""
    if len(plan.names) > 1:
        return _message(f"{len(names)} of {len(plan.names)} tables have been dropped.{too}")
    return _message(f"Table has been dropped.{too}" if names else "Table does not exist.")


def alter_table(state: SessionState, plan: AlterTable) -> Outcome:
    """ALTER TABLE, all steps or none; then the views that read the table are updated."""
    if plan.steps:
        state.store.alter_table(plan.table.name, plan.steps)
    for planned, changed in plan.views:
        if state.store.catalog.views.get(planned.name) == planned:
            state.store.definitions.put_object(changed)
    return _message(" ".join((plan.message, *plan.notes)))


def _message(message: str) -> Outcome:
    return Outcome(None, -1, message)
