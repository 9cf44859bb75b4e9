"""Scans of a query as relations of the engine: whole tables, or streams where they are too large.

Scans are whole tables, the smallest ones first, until `scan_memory_bytes` are used up: all rows of
a table, or those that match where a sample of it says that they fit (`bounded_rows`). What would
take more than is left is a stream, also in a join, and the engine is told about how many rows it
has (`engine.sized_stream`): what is in memory does not grow with the tables, and a relation that
the query mentions twice is scanned twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.frame_scan import frame_relation
from pykudu_sql.executor.reading.history_rows import history_rows
from pykudu_sql.executor.reading.row_batches import observed_scan
from pykudu_sql.executor.reading.statement_check import StatementCheck
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.planner.plan.plan import Scan
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.remote.system_tables import rows_at
from pykudu_sql.storage.scan.bounded_rows import exceeds, read_within, rows_to_read, with_ranges
from pykudu_sql.storage.scan.column_words import words_of
from pykudu_sql.storage.scan.scan_token import batches_of
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock, TextForm
from pykudu_sql.storage.transaction.transaction import Transaction


class StreamedScan:
    """A relation that is scanned anew whenever it is read.

    `failure`: the error that ended a scan early; the engine's own error hides it; `check`: ends
    readings with their statement.
    """

    def __init__(self, scan: TableScan, state: SessionState, transaction: Transaction) -> None:
        """Nothing is read yet.

        Args:
            state: of the session, whose running statement may be cancelled.
            transaction: keeps the history that the scan needs as long as it is here.
        """
        self.transaction = transaction
        self.schema = scan.batch_schema
        self.row_count = rows_to_read(scan)
        self.row_bytes: float = scan.row_bytes
        self.failure: Exception | None = None
        self.check = StatementCheck(state)
        self._scan = scan

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """A new scan; see `RowStream`."""
        read = sorted(columns)
        schema = pa.schema([self.schema.field(position) for position in columns])
        order = [read.index(position) for position in columns]
        for block in self.blocks(read):
            arrays = [block.columns[position] for position in order]
            yield from batches_of(schema, arrays, block.length)

    def blocks(self, columns: Sequence[int]) -> Iterator[RowBlock]:
        """A new scan, texts with the dictionaries of their files; `columns`: places, ascending."""
        # Made here, since one that is kept would keep the snapshot until cycles are collected.
        scan = replace(self._scan.project(columns), cancel_check=self.check)
        try:
            yield from scan.stretches()
        except Exception as error:
            self.failure = error
            raise

    def words(self, column: int, most: int) -> pa.Array | None:
        """The texts of a column, by its place; None if they are not at hand, or more than `most`.

        Raises CorruptionError: a dictionary is not what was written.
        """
        return words_of(self._scan, self._scan.columns[column], most)


def pruned_scan(
    scan: Scan,
    predicate: Predicate | None,
    transaction: Transaction,
    stats: ScanStats | None = None,
) -> TableScan:
    """A scan, its tablets pruned, for what its metadata say; see `relation_of`."""
    return transaction.scan(*_readable(scan, predicate, transaction), stats)


def rows_to_scan(scan: Scan, predicate: Predicate | None, transaction: Transaction) -> int:
    """Rows in the tablets that a scan has to look at, of which not all need match."""
    return transaction.rows_to_scan(*_readable(scan, predicate, transaction))


def _readable(
    scan: Scan, predicate: Predicate | None, transaction: Transaction
) -> tuple[TableInfo, ScanSpec, SnapshotBound | None]:
    """What a transaction is to read for a scan, whose moment has become readable."""
    if scan.bound is not None:
        transaction.wait_until_readable(scan.bound)
    spec = ScanSpec(
        scan.column_ids, predicate, scan.limit, scan.order, scan.addressed, scan.validity_ids
    )
    return scan.table, spec, scan.bound


def prepared_scan(
    state: SessionState,
    scan: Scan,
    predicate: Predicate | None,
    transaction: Transaction,
    stats: ScanStats | None = None,
    texts: TextForm = TextForm.STRINGS,
) -> TableScan:
    """A scan that can be cancelled and whose progress is shown, not read yet."""
    pruned = pruned_scan(scan, predicate, transaction, stats)
    return observed_scan(state, scan.table, pruned, texts)


def relation_of(
    state: SessionState,
    scan: Scan,
    predicate: Predicate | None,
    transaction: Transaction,
    stats: ScanStats | None = None,
    most: int | None = None,
) -> Relation:
    """The rows of one scan of a query; a superset of those that matter.

    Args:
        predicate: the scan's own, its parameters filled in, and what joins add to it.
        transaction: what it sees, unless the scan has a moment of its own.
        stats: counts what is read and what is not.
        most: bytes that are held; None for any number. What may take more is a stream.

    Raises HistoryPurgedError: the moment lies before the history that is kept;
    SnapshotInFutureError: it has not come yet; CorruptionError, DiskError: the rows cannot be read.
    """
    if isinstance(scan.table, FrameTable):
        return frame_relation(state, scan.table, scan.column_ids)
    if is_system(scan.table):
        names = [scan.table.schema.by_id[i].name for i in scan.column_ids]
        bound = scan.bound
        catalog = transaction.catalog if bound is None else transaction.catalog_at(bound)
        listed: Relation = rows_at(catalog, state.store, scan.table)
        return listed.select(names)
    if scan.history is not None:
        return history_rows(state, scan, scan.history, predicate, transaction, most)
    table_scan = prepared_scan(state, scan, predicate, transaction, stats, TextForm.VIEWS)
    if most is None or not exceeds(table_scan, most):
        rows: Relation = table_scan.to_table()
        return rows
    table_scan = with_ranges(table_scan)
    fitting = read_within(table_scan, most) if scan.limit is None else None
    if fitting is not None:
        return fitting
    # The engine stops reading a stream by itself, and needs no more rows than it wants.
    unlimited = replace(table_scan.spec, limit=None, order=ScanOrder.NONE)
    streamed = replace(table_scan, spec=unlimited, texts=TextForm.STRINGS)
    return StreamedScan(streamed, state, transaction)


def rows_at_hand(relations: Mapping[str, Relation]) -> int:
    """Rows of the relations that are whole tables."""
    return sum(r.num_rows for r in relations.values() if isinstance(r, pa.Table))
