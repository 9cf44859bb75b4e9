"""Large UPDATEs and DELETEs of rows that a scan has addressed, in memory for one batch at a time.

The rows come in batches that are not in memory together. What a batch changes of a rowset on disk
is written to a delta file at once (`filed_changes`).
"""

from collections.abc import Iterable

from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.transaction.addressed_rows import AddressedRows
from pykudu_sql.storage.transaction.filed_changes import FiledChanges
from pykudu_sql.storage.transaction.transaction_services import TransactionServices


def write_changes(
    services: TransactionServices,
    addressed: AddressedRows,
    batches: Iterable[RowOperations],
) -> int:
    """Stage the changes of a large UPDATE or DELETE.

    Args:
        services: of the transaction.
        addressed: the rows that a scan has found.
        batches: of addresses of these, each taken when the one before is written.

    Returns the number of rows changed. Raises NotNullError, ValueTooLargeError: a cell does not
    fit; InterfaceError: the tablets were written since the scan; DiskError: the disk refused; or
    what taking a batch raises; nothing was done.
    """
    changes = FiledChanges(services)
    try:
        for operations in batches:
            counter = progress.counter("writing changes", operations.length)
            changes.add(share for share in addressed.shares(operations) if not share[1].is_idle)
            counter.add(operations.length)
            del operations  # before the next one is taken
        return changes.stage(addressed.keep)
    except BaseException:
        changes.discard()
        raise
