"""The relation `WRITTEN`, the rows as a statement writes them, and RETURNING over it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.executor.reading.queries import compute
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.branch_rows import (
    BranchRows,
    ascend,
    filled_column,
    picked_columns,
)
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.change_plans import (
    ACTION,
    WRITTEN,
    ChangeQuery,
    Returning,
    source_column_name,
    written_name,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.transaction.transaction import Transaction

_ACTIONS: Mapping[RowOpKind, str] = {
    RowOpKind.INSERT: "INSERT",
    RowOpKind.UPDATE: "UPDATE",
    RowOpKind.UPDATE_IGNORE: "UPDATE",
    RowOpKind.DELETE: "DELETE",
}


def written_relation(
    plan: ChangeQuery, shares: Sequence[BranchRows], rows: pa.Table, transaction: Transaction
) -> pa.Table:
    """The relation `WRITTEN`, in the order of the query's rows.

    Args:
        plan: a statement with RETURNING.
        shares: the rows of each branch.
        rows: the result of the statement's query.
        transaction: converts stored values to their columns' types.
    """
    returning = plan.returning
    assert returning is not None
    parts: list[pa.Table] = []
    for share in shares:
        stored = () if share.branch.kind is RowOpKind.INSERT else returning.before
        left = [each for each in stored if each[0] not in share.operations.columns]
        places = [place for _, place in left]
        picked = picked_columns(rows, [*places, *returning.source_columns], share.indices)
        ids = (column_id for column_id, _ in left)
        before = transaction.coerce(plan.table, dict(zip(ids, picked, strict=False)))
        part = written_columns(plan.table, returning, share.branch.kind, share.operations, before)
        for index, values in enumerate(picked[len(places) :]):
            part = part.append_column(source_column_name(index), values)
        parts.append(part)
    if not parts:
        return _nothing_written(plan, rows)
    indices = np.concatenate([share.indices for share in shares])
    image = pa.concat_tables(parts)
    return image if ascend(indices) else image.take(pa.array(np.argsort(indices, kind="stable")))


def _nothing_written(plan: ChangeQuery, rows: pa.Table) -> pa.Table:
    returning = plan.returning
    assert returning is not None
    none = rows.slice(0, 0)
    columns = {i: pa.array([], plan.table.schema.by_id[i].type.arrow) for i in returning.column_ids}
    empty = written_columns(
        plan.table, returning, RowOpKind.DELETE, RowOperations(RowOpKind.DELETE, columns, 0), {}
    )
    for index, position in enumerate(returning.source_columns):
        empty = empty.append_column(source_column_name(index), none.column(position))
    return empty


def written_columns(
    table: TableInfo,
    returning: Returning,
    kind: RowOpKind,
    operations: RowOperations,
    before: Mapping[int, pa.Array],
) -> pa.Table:
    """The rows as written: the values set, else those stored, else the defaults.

    `before`: the stored values of columns that are not set; none of rows that are new.
    """
    columns: dict[str, pa.Array] = {}
    for column_id in returning.column_ids:
        values = before.get(column_id)
        if values is None:
            # Functions of defaults have filled their columns by now, so no time is needed.
            values = filled_column(table, operations, column_id, StatementTime())
        columns[written_name(column_id)] = plain(values)
    columns[ACTION] = pa.array([_ACTIONS[kind]] * operations.length, pa.string())
    return pa.table(columns)


def compute_returning(
    state: SessionState,
    returning: Returning,
    written: pa.Table,
    parameters: ParameterValues,
    transaction: Transaction,
) -> EngineResult:
    """The result of RETURNING over the rows."""
    returned = compute(state, returning.query, parameters, transaction, {WRITTEN: written})
    return EngineResult(returned.table.rename_columns(list(returning.query.names)), returned.types)
