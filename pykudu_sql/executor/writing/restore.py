"""RESTORE TABLE: surplus rows are deleted, different ones written, in one commit."""

import pyarrow as pa

from pykudu_sql.executor.reading.queries import compute
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import RestoreTable
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.transaction.transaction import Transaction


def restore_table(state: SessionState, plan: RestoreTable, parameters: ParameterValues) -> Outcome:
    """RESTORE TABLE: write the rows of an earlier snapshot again.

    Raises HistoryPurgedError: history does not reach back so far; UncoveredRangeError: a row's
    range partition was dropped; SerializationError: another session changed the same rows first.
    """

    def restore(transaction: Transaction) -> int:
        # Both are read before anything is written: a statement never sees its own effects.
        deleted = compute(state, plan.deleted, parameters, transaction).table
        rows = compute(state, plan.rows, parameters, transaction).table
        deleted = _write(
            transaction, plan, RowOpKind.DELETE_IGNORE, deleted, plan.table.schema.key_ids
        )
        written = _write(transaction, plan, RowOpKind.UPSERT, rows, plan.column_ids)
        return deleted + written

    changed = state.transactions.write(restore)
    return Outcome(rowcount=changed, message=f"Table '{plan.table.name}' has been restored.")


def _write(
    transaction: Transaction,
    plan: RestoreTable,
    kind: RowOpKind,
    rows: pa.Table,
    column_ids: tuple[int, ...],
) -> int:
    if not rows.num_rows:
        return 0
    columns = transaction.coerce(plan.table, dict(zip(column_ids, rows.columns, strict=True)))
    operations = RowOperations(kind, columns, rows.num_rows)
    return transaction.write(plan.table, operations).applied
