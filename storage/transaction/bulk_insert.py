"""Large INSERTs: their rows become rowsets of their own, written side by side, named at commit."""

from concurrent.futures import wait

from pykudu_sql.storage.ingest.bulk_writer import TabletShare, share_out, write_rowset
from pykudu_sql.storage.ingest.row_batch import RowBatch
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.transaction_host import TransactionHost
from pykudu_sql.storage.transaction.write_set import WriteSet


def write_bulk(host: TransactionHost, writes: WriteSet, batch: RowBatch) -> int:
    """Stage the rows of a large INSERT as rowsets.

    `batch`: validated. Returns the number of rows. Raises AlreadyPresentError: a key is there
    already, or given twice; nothing was done; DiskError: the disk refused; the transaction must be
    rolled back.
    """
    pool, table, operations = host.pool, batch.table, batch.operations
    shares = share_out(pool, batch)
    pending = [writes.on(table, host.tablets[table.tablets[share.tablet].id]) for share in shares]

    def check(target: PendingWrites, share: TabletShare) -> None:
        target.check(KeyedOperations(operations, share.keys, ()))

    list(pool.map(check, pending, shares))
    parts = [
        (writes.keep(table, target), part)
        for target, share in zip(pending, shares, strict=True)
        for part in share.rowsets()
    ]
    written = [
        pool.submit(write_rowset, target.tablet, operations.columns, part) for target, part in parts
    ]
    # What was written is staged, even if something else was not, so that rollback removes it.
    wait(written)
    for (target, _), rowset in zip(parts, written, strict=True):
        if rowset.exception() is None:
            target.stage((rowset.result(),))
    for rowset in written:
        rowset.result()
    return operations.length
