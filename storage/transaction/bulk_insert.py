"""Large INSERTs: their rows become rowsets of their own, written side by side, named at commit.

The rows come in one batch, or in many that are not in memory together. Each batch is sorted, looked
for in the table and written; then keys that came in two batches are looked for (`shared_keys`). The
rowsets become part of the transaction when that is done, and are removed if it fails.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import field

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.ingest.bulk_writer import TabletShare, share_out, write_rowset
from pykudu_sql.storage.ingest.routing import duplicate_key_error
from pykudu_sql.storage.ingest.row_batch import RowBatch
from pykudu_sql.storage.ingest.shared_keys import first_shared_key
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.transaction_services import TransactionServices
from pykudu_sql.storage.transaction.write_set import WriteSet


@dataclass(frozen=True, slots=True)
class _TabletRowSets:
    """What an INSERT wrote to one tablet so far.

    `pending`: the transaction's writes there, as they were before.
    """

    pending: PendingWrites
    rowsets: list[DiskRowSet] = field(default_factory=list)


def write_bulk(
    services: TransactionServices, writes: WriteSet, table: TableInfo, batches: Iterable[RowBatch]
) -> int:
    """Stage the rows of a large INSERT as rowsets.

    `batches`: validated, each taken when the one before is written. Returns the number of rows.
    Raises AlreadyPresentError: a key is there already, or given twice; DiskError: the disk refused;
    or what taking a batch raises; nothing was done.
    """
    rows = 0
    written: dict[int, _TabletRowSets] = {}
    try:
        for batch in batches:
            _write(services, writes, batch, written)
            rows += batch.operations.length
            del batch  # before the next one is taken
        _check_distinct(services, table, list(written.values()))
    except BaseException:
        for share in written.values():
            for rowset in share.rowsets:
                with suppress(Error):  # the next opening removes it
                    share.pending.files.discard(rowset)
        raise
    for share in written.values():
        writes.keep(table, share.pending).stage(share.rowsets)
    return rows


def _write(
    services: TransactionServices,
    writes: WriteSet,
    batch: RowBatch,
    written: dict[int, _TabletRowSets],
) -> None:
    """Write a batch to rowsets; those that could be written are noted whatever happens."""
    pool, table, operations = services.pool, batch.table, batch.operations
    if not operations.length:
        return
    sorting = progress.counter(f"sorting {table.name}")
    shares = share_out(pool, batch)
    for share in shares:
        if share.tablet not in written:
            tablet = services.tablets[table.tablets[share.tablet].id]
            written[share.tablet] = _TabletRowSets(writes.on(table, tablet))

    def check(share: TabletShare) -> None:
        pending = written[share.tablet].pending
        pending.check_sorted(KeyedOperations(operations, share.keys, ()))

    services.cancel_check()
    list(pool.map(check, shares))
    sorting.total = sorting.done
    parts = [part for share in shares for part in share.rowsets()]
    counter = progress.counter(f"writing {table.name}", operations.length)
    columns = operations.columns

    def write(part: TabletShare) -> DiskRowSet:
        rows = _ColumnProgress(counter, len(part.keys), len(columns))

        def begin_column() -> None:
            services.cancel_check()
            rows.begin_column()

        try:
            return write_rowset(written[part.tablet].pending.tablet, columns, part, begin_column)
        finally:
            rows.finish()

    tasks = [pool.submit(write, part) for part in parts]
    try:
        wait(tasks)
    finally:  # after Ctrl-C, too: what is being written cannot be removed before it is
        for task in tasks:
            task.cancel()
        wait(tasks)
        for part, task in zip(parts, tasks, strict=True):
            if not task.cancelled() and task.exception() is None:
                written[part.tablet].rowsets.append(task.result())
    for task in tasks:
        task.result()


class _ColumnProgress:
    """Counts the rows of a rowset, an equal part of them for each column that is written."""

    def __init__(self, counter: progress.Counter, rows: int, columns: int) -> None:
        """Nothing is written yet."""
        self._counter = counter
        self._rows, self._columns = rows, columns
        self._columns_begun = self._rows_counted = 0

    def begin_column(self) -> None:
        """A column begins, so those before it are written; or all are, behind the last."""
        self._count(self._rows * self._columns_begun // (self._columns + 1))
        self._columns_begun += 1

    def finish(self) -> None:
        """The rowset is done with."""
        self._count(self._rows)

    def _count(self, rows: int) -> None:
        self._counter.add(rows - self._rows_counted)
        self._rows_counted = rows


def _check_distinct(
    services: TransactionServices, table: TableInfo, written: Sequence[_TabletRowSets]
) -> None:
    """See that no key came in two batches. Raises AlreadyPresentError: one did."""
    encoder = table.key_encoder
    shared_keys = services.pool.map(lambda share: first_shared_key(encoder, share.rowsets), written)
    repeated = next((key for key in shared_keys if key is not None), None)
    if repeated is not None:
        cells = zip(table.schema.key_columns, encoder.decode_one(repeated), strict=True)
        columns = {column.id: cells_to_array([cell], column.type) for column, cell in cells}
        raise duplicate_key_error(table, columns, 0)
