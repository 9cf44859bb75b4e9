"""The changes and versions of a table as a relation of the engine: rows, or a stream of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.statement_check import StatementCheck
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.plan import Scan
from pykudu_sql.planner.plan.query_plans import HistoryWindow
from pykudu_sql.storage.catalog.snapshots import Hold
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.rows.history_columns import HistoryKind
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.hybrid_time import LOGICAL_BITS
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.remote.history_scan import history_schema, scan_changes, scan_versions
from pykudu_sql.storage.remote.idle_history import hold_changes
from pykudu_sql.storage.scan.scan_token import batches_of
from pykudu_sql.storage.transaction.transaction import Transaction

_MICROS = pa.timestamp("us")
Read = Callable[[Sequence[int]], Iterator[pa.RecordBatch]]


class HistoryStream:
    """Changes or versions that are read anew whenever the engine reads them.

    `row_count`: how many are known of; there are more. `failure`, `check`: as of `StreamedScan`.
    """

    def __init__(
        self,
        read: Read,
        hold: Hold,
        rows: pa.Table,
        check: StatementCheck,
    ) -> None:
        """Nothing is kept of what was read.

        Args:
            read: reads columns, by their places.
            hold: keeps their history.
            rows: the first ones, at least one.
            check: ends readings with their statement.
        """
        self.schema = rows.schema
        self.row_count = rows.num_rows
        self.row_bytes = rows.nbytes / rows.num_rows
        self.failure: Exception | None = None
        self.check = check
        self._read = read
        self._hold = hold

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """A new reading; see `RowStream`."""
        try:
            yield from self._read(columns)
        except Exception as error:
            self.failure = error
            raise


def history_rows(
    state: SessionState,
    scan: Scan,
    window: HistoryWindow,
    predicate: Predicate | None,
    transaction: Transaction,
    most: int | None,
) -> Relation:
    """The rows of a scan of a table's history, times in microseconds.

    Only commits are history: what the transaction itself has written is not.

    Args:
        window: the scan's.
        predicate: leaves out tablets; rows are not filtered.
        transaction: the end of a window that has none, and the newest commit that is known of.
        most: bytes that are held; None for any number. What takes more is a stream.

    Raises HistoryPurgedError: the window begins before the history that is kept;
    SnapshotInFutureError: it ends in the future; CorruptionError, DiskError: the rows cannot be
    read.
    """
    table, store = scan.table, state.store
    own = replace(table.schema, columns=table.schema.columns[:-2])
    stored = replace(table, schema=own)
    metadata_ids = {column.id for column in table.schema.columns[-2:]}
    wanted_columns = [table.schema.by_id[column_id] for column_id in scan.column_ids]
    until = transaction.bound if window.until is None else window.until
    high = until if window.high is None else window.high
    # A transaction that began before a window of changes sees nothing of it.
    low = until if window.low is None else min(window.low, high)
    check = StatementCheck(state)
    stored_ids = [column.id for column in wanted_columns if column.id not in metadata_ids]
    history = history_schema(stored, stored_ids, window.kind)
    schema = pa.schema([_field(history.field(column.name), column) for column in wanted_columns])

    def read(places: Sequence[int]) -> Iterator[pa.RecordBatch]:
        columns = [wanted_columns[place] for place in places]
        column_ids = [column.id for column in columns if column.id not in metadata_ids]
        fields = [schema.field(place) for place in places]
        if window.kind is HistoryKind.CHANGES:
            batches = scan_changes(store, stored, low, high, column_ids, predicate)
        else:
            reach = (window.low, high)
            batches = scan_versions(store, stored, reach, until, column_ids, predicate)
        for batch in batches:
            check()
            arrays = [_cells(batch.column(field.name), field) for field in fields]
            yield from batches_of(pa.schema(fields), arrays, batch.num_rows)

    first_reading = read(range(len(wanted_columns)))
    batches: list[pa.RecordBatch] = []
    size = 0
    for batch in first_reading:
        batches.append(batch)
        size += batch.nbytes
        if most is not None and size > most:
            if window.kind is HistoryKind.CHANGES:
                hold = hold_changes(store, stored, low, high)
            else:
                hold = store.history.hold_all(stored)
            return HistoryStream(read, hold, pa.Table.from_batches(batches, schema), check)
    rows: Relation = pa.Table.from_batches(batches, schema)
    return rows


def _field(field: pa.Field, column: ColumnSchema) -> pa.Field:
    """A column of the relation; `field`: as history scans have it, times as hybrid times."""
    is_time = pa.types.is_uint64(field.type) and column.type.kind is Kind.UNIXTIME_MICROS
    return pa.field(field.name, _MICROS if is_time else field.type)


def _cells(cells: pa.Array, field: pa.Field) -> pa.Array:
    """The cells of a column of the relation."""
    if field.type == _MICROS and pa.types.is_uint64(cells.type):
        micros = pc.shift_right(cells, pa.scalar(LOGICAL_BITS, pa.uint64())).cast(pa.int64())
        return micros.cast(_MICROS)
    return cells
