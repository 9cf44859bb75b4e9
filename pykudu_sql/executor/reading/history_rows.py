"""The changes and versions of a table as a relation of the engine."""

from collections.abc import Container, Iterator
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.plan import Scan
from pykudu_sql.planner.plan.query_plans import HistoryWindow
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.rows.history_columns import HistoryKind
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.hybrid_time import LOGICAL_BITS
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.remote.history_scan import history_schema, scan_changes, scan_versions
from pykudu_sql.storage.transaction.transaction import Transaction


def history_rows(
    state: SessionState,
    scan: Scan,
    window: HistoryWindow,
    predicate: Predicate | None,
    transaction: Transaction,
) -> pa.Table:
    """The rows of a scan of a table's history, times in microseconds.

    Only commits are history: what the transaction itself has written is not.

    Args:
        window: the scan's.
        predicate: leaves out tablets; rows are not filtered.
        transaction: the end of a window that has none, and the newest commit that is known of.

    Raises HistoryPurgedError: the window begins before the history that is kept;
    SnapshotInFutureError: it ends in the future; CorruptionError, DiskError: the rows cannot be
    read.
    """
    table, store = scan.table, state.store
    own = replace(table.schema, columns=table.schema.columns[:-2])
    stored = replace(table, schema=own)
    metadata_ids = {c.id for c in table.schema.columns[-2:]}
    requested_columns = [table.schema.by_id[i] for i in scan.column_ids]
    column_ids = [column.id for column in requested_columns if column.id not in metadata_ids]
    until = transaction.bound if window.until is None else window.until
    high = until if window.high is None else window.high
    if window.kind is HistoryKind.CHANGES:
        # A transaction that began before the window sees nothing of it.
        low = until if window.low is None else min(window.low, high)
        batches = scan_changes(store, stored, low, high, column_ids, predicate)
    else:
        reach = (window.low, high)
        batches = scan_versions(store, stored, reach, until, column_ids, predicate)
    schema = history_schema(stored, column_ids, window.kind)
    whole = pa.Table.from_batches(_checked(state, batches), schema)
    return pa.table(
        {c.name: _history_columns(whole.column(c.name), c, metadata_ids) for c in requested_columns}
    )


def _history_columns(
    cells: pa.ChunkedArray, column: ColumnSchema, metadata_ids: Container[int]
) -> pa.ChunkedArray:
    """A column's cells; hybrid times as times."""
    if column.id in metadata_ids and column.type.kind is Kind.UNIXTIME_MICROS:
        micros = pc.shift_right(cells, pa.scalar(LOGICAL_BITS, pa.uint64())).cast(pa.int64())
        return micros.cast(pa.timestamp("us"))
    return cells


def _checked(state: SessionState, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        state.check_cancelled()
        yield batch
