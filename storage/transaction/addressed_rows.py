"""The rowsets whose rows a scan addresses, kept until the rows are written.

What the scan saw is what is written to: each tablet's writes are those that the scan read through,
with the tablet's rowsets of that moment. If the tablet exchanges rowsets meanwhile, that is noticed
at commit, as for every transaction that is older than its tablets (`PendingWrites.rebase`).
"""

from collections.abc import Iterator, Sequence

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.errors import InterfaceError
from pykudu_sql.storage.ingest.row_batch import complete
from pykudu_sql.storage.ingest.validation import raise_first, validate
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.row_address import shares
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.addressed_operations import AddressedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.resulting_rows import check_addressed
from pykudu_sql.storage.transaction.write_set import WriteSet

# A rowset, and a transaction's uncommitted changes of it.
WrittenRowSet = tuple[MemRowSet | DiskRowSet, OwnDeltas | None]


class AddressedRows:
    """All rows of some tablets as one transaction sees them now.

    `table`: that the tablets belong to.
    """

    def __init__(self, table: TableInfo, writes: WriteSet, tablets: Sequence[Tablet]) -> None:
        """Address the rows of some tablets.

        `table`: that they belong to; `tablets`: whose rows are scanned.
        """
        self.table = table
        self._writes = writes
        pending = [writes.on(table, tablet) for tablet in tablets]
        self._lengths = [(each, each.length) for each in pending]
        self._rowsets = [(each, rowset) for each in pending for rowset in each.rowsets]

    def rowsets(self) -> Sequence[WrittenRowSet]:
        """The rowsets, in the order in which addresses number them."""
        return [(rowset, pending.own.get(rowset.id)) for pending, rowset in self._rowsets]

    @property
    def in_memory(self) -> int:
        """How many rows are in memory, where their changes stay too."""
        return sum(len(each) for _, each in self._rowsets if isinstance(each, MemRowSet))

    def write(self, operations: RowOperations) -> int:
        """Write to rows by their addresses; see `Transaction.write`.

        Returns the number of rows changed. Raises: as `shares`.
        """
        shares_ = list(self.shares(operations))
        return sum(self.keep(pending).write_at(batch) for pending, batch in shares_)

    def shares(
        self, operations: RowOperations
    ) -> Iterator[tuple[PendingWrites, AddressedOperations]]:
        """What operations on rows by their addresses do to each rowset, and whose writes these are.

        Raises NotNullError, ValueTooLargeError: a cell does not fit; CheckViolationError: a row
        breaks a constraint; InterfaceError: the rows have no addresses, or the tablets were written
        since these were given.
        """
        if operations.addresses is None:
            raise InterfaceError(f"rows of table '{self.table.name}' are given without addresses")
        changes = validate(complete(self.table, operations), raise_first).changed
        self._check_unwritten()
        for share in shares(operations.addresses):
            pending, rowset = self._rowsets[share.rowset_index]
            cells = {i: share.cells(operations.columns[i]) for i in changes.ids}
            changed = AddressedOperations(operations.kind, cells, rowset, share.ordinals)
            check_addressed(self.table, pending, changed)
            yield pending, changed

    def keep(self, pending: PendingWrites) -> PendingWrites:
        """Count writes among those of the transaction."""
        return self._writes.keep(self.table, pending)

    def _check_unwritten(self) -> None:
        by_tablet = self._writes.by_tablet
        for pending, length in self._lengths:
            if by_tablet.get(pending.tablet.id, pending) is not pending or pending.length != length:
                raise InterfaceError(
                    f"rows of table '{self.table.name}' were written since they were addressed",
                    hint="scan the table again",
                )
