"""CREATE, DROP and ALTER TABLE.

They take effect at once and are durable when they return, so they stand outside transactions.
"""

import pyarrow as pa

from pykudu_sql.executor.reading.queries import answer
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.executor.writing.writes import write_columns
from pykudu_sql.planner.plan.plan import AlterTable, CreateTable, DropTable, Query
from pykudu_sql.planner.plan.value import ParameterValues
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode


def create_table(state: SessionState, plan: CreateTable, parameters: ParameterValues) -> Outcome:
    """CREATE TABLE; rows of an AS query are committed before it returns.

    If they cannot be written, the table is not created either.
    """
    if plan.if_not_exists and plan.name in state.store.catalog.tables:
        return _done("Table already exists.")
    rows = None if plan.query is None else _query_rows(state, plan.query, parameters)
    table = state.store.create_table(
        plan.name, plan.schema, plan.partition_schema, plan.comment, plan.properties
    )
    message = " ".join(("Table has been created.", *plan.notes))
    if rows is None:
        return _done(message)
    try:
        inserted = _fill(state, table, rows)
    except BaseException:
        state.store.drop_table(plan.name)
        raise
    return Outcome(None, inserted, f"{message} Inserted {inserted} row(s)")


def _query_rows(state: SessionState, query: Query, parameters: ParameterValues) -> pa.Table:
    return storable(answer(state, query, parameters, state.store.begin()))


def _fill(state: SessionState, table: TableInfo, rows: pa.Table) -> int:
    ids = [column.id for column in table.schema.visible_columns]
    columns = dict(zip(ids, rows.columns, strict=True))
    insert = RowOpKind.INSERT
    results = state.transactions.write_alone(
        lambda t: write_columns(RowErrorMode.FAIL, t, table, insert, columns)
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
