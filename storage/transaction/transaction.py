"""Transactions: one snapshot to read, one commit for all that was written.

Snapshot isolation with first committer wins: reads see the snapshot and the transaction's own
writes; at commit, a key that another transaction changed since is a SerializationError. Writes
stay in the transaction's own stores until then, but for large inserts, whose rowsets are written
at once and named by the manifest only at commit, and large changes, whose delta files are. A table
that a transaction makes is there for others from the commit on, with its rows, or never was.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.catalog.snapshots import Hold
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.commit.committer import AppliedCommit
from pykudu_sql.storage.commit.new_table import NewTable
from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.ctrl_c import DeferSigint, acquire_lock
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, StatementTime, Timestamp
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import InterfaceError, OperationalError, SerializationError
from pykudu_sql.storage.ingest.bulk_writer import coerce_columns
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations, KeyedRow
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.addressed_rows import AddressedRows
from pykudu_sql.storage.transaction.batch_writer import BatchWriter
from pykudu_sql.storage.transaction.bulk_change import write_changes
from pykudu_sql.storage.transaction.bulk_operations import LEAST_ROWS, write_located
from pykudu_sql.storage.transaction.resulting_rows import check_row_result
from pykudu_sql.storage.transaction.row_writer import keyed_row
from pykudu_sql.storage.transaction.transaction_reads import TransactionReads
from pykudu_sql.storage.transaction.transaction_services import (
    TransactionServices,
    check_rows_still_fit,
    with_new_table,
)
from pykudu_sql.storage.transaction.write_set import Savepoint, WriteSet

_LARGE_BYTES = 1 << 20
_COUNTED_ROWS = 32


class Transaction(TransactionReads):
    """One transaction, used by one thread at a time.

    Attributes:
        time: of the statement that writes, for defaults; of the first use unless it is replaced.
        cancel_check: called between the steps of large writes; after what it raises the transaction
            must go back to a savepoint before the write.
    """

    def __init__(self, services: TransactionServices, snapshot: Hold) -> None:
        """Begin at a snapshot, whose history is kept until the transaction ends.

        So is that of the earlier moments that it reads.
        """
        super().__init__(services, snapshot)
        self._new_tables: list[NewTable] = []
        self._single_rows = 0
        self.cancel_check: CancelCheck = never_cancelled
        self.time = StatementTime(services.committer.clock.now)
        self._ended = False

    @property
    def has_writes(self) -> bool:
        """Whether anything was written."""
        return bool(self._writes.by_tablet or self._new_tables)

    def create_table(
        self, table: TableInfo, *, replaces: bool = False, read_bound: SnapshotBound | None = None
    ) -> TableInfo:
        """Make a table, which only this transaction sees until it commits, and no savepoint ends.

        Args:
            replaces: whether it takes the place of the table of its name, if there is one then.
            read_bound: see `NewTable`; a commit since then is a conflict.

        Returns it as it is to be written. Raises DuplicateObjectError: the name is taken.
        """
        self._open()
        new = self._services.definitions.new_table(table, replaces, read_bound)
        self._new_tables.append(new)
        self._services = with_new_table(self._services, new)
        return new.info

    def write(
        self, table: TableInfo, operations: RowOperations, mode: RowErrorMode = RowErrorMode.FAIL
    ) -> RowResults:
        """Do a batch of operations.

        Args:
            operations: what to do. A key may repeat: where rows are collected, its rows are done in
                their order. Rows named by addresses are changed by UPDATE_IGNORE or DELETE, without
                columns of the key.
            mode: what becomes of rows that do not fit.

        Returns what became of the rows. Raises IntegrityError, DataError: a row does not fit;
        nothing was done; NotNullError, ProgrammingError: the set of columns does not; nothing was
        done; InterfaceError: addresses are of another table, or the transaction wrote since they
        were given, or the rows with them are to be collected; nothing was done; DiskError: the disk
        refused; the transaction must be rolled back; OperationalError: what was written before
        takes more memory than statements may have (53200); nothing was done.
        """
        self._open()
        self._check_room()
        if operations.addresses is None:
            return self._batch_writer().write(table, operations, mode)
        addressed = self._take_addressed(table)
        if mode is RowErrorMode.COLLECT:
            raise InterfaceError("rows can only be reported by their keys, not by addresses")
        changed = addressed.write(operations)
        return RowResults(changed, operations.length - changed, 0, ())

    def _batch_writer(self) -> BatchWriter:
        return BatchWriter(self._writing, self._writes, self.time)

    @property
    def _writing(self) -> TransactionServices:
        return replace(self._services, cancel_check=self.cancel_check)

    def _check_room(self) -> None:
        """See that what was written so far leaves room in memory for more."""
        self._services.budget.check(self._writes.memory, "the changes of this transaction")

    def _take_addressed(self, table: TableInfo) -> AddressedRows:
        """The rows that the latest scan has addressed, which can be written once."""
        addressed, self._addressed = self._addressed, None
        if addressed is None or addressed.table is not table:
            raise InterfaceError(f"no scan has given addresses of rows of table '{table.name}'")
        return addressed

    @property
    def addressed_in_memory(self) -> int:
        """How many rows in memory the latest scan has addressed, whose changes get no files."""
        return 0 if self._addressed is None else self._addressed.in_memory

    def change(self, table: TableInfo, batches: Iterable[RowOperations]) -> int:
        """Change rows that come in batches, all or none, in memory for one batch at a time.

        `batches`: of rows named by addresses, as for `write`, each taken when the one before is
        written; all of one kind. Returns the number of rows changed. Raises: as `write`, or what
        taking a batch raises; nothing was done.
        """
        self._open()
        return write_changes(self._writing, self._take_addressed(table), batches)

    def insert(self, table: TableInfo, batches: Iterable[RowOperations]) -> int:
        """Insert rows that come in batches, all or none, in memory for one batch at a time.

        `batches`: of kind INSERT, each taken when the one before is written. Returns the number of
        rows. Raises IntegrityError, DataError: a row does not fit; NotNullError, ProgrammingError:
        the set of columns does not; DiskError: the disk refused; or what taking a batch raises;
        nothing was done.
        """
        self._open()
        return self._batch_writer().insert(table, batches)

    def write_batches(self, table: TableInfo, batches: Iterable[RowOperations]) -> RowResults:
        """Do operations by key that come in batches, all or none, in memory for one at a time.

        `batches`: of one kind but INSERT, each taken when the one before is written. Rows that they
        bring are seen by scans that begin meanwhile. Returns what became of the rows. Raises
        IntegrityError, DataError: a row does not fit; NotNullError, ProgrammingError: the set of
        columns does not; DiskError: the disk refused; or what taking a batch raises; the
        transaction must go back to a savepoint before it.
        """
        self._open()
        return self._batch_writer().write_batches(table, batches)

    def collect_batches(
        self, table: TableInfo, batches: Iterable[RowOperations]
    ) -> Iterator[RowResults]:
        """Do those operations that fit, which come in batches, in memory for one at a time.

        `batches`: of one kind, each taken when the one before is written. Yields what became of the
        rows of each; they are part of the transaction once all were taken. Raises
        ProgrammingError: the set of columns does not fit; DiskError: the disk refused;
        OperationalError: what was written takes more memory than statements may have (53200); or
        what taking a batch raises; the transaction must go back to a savepoint before it.
        """
        self._open()

        def checked(batch: RowOperations) -> RowOperations:
            self._check_room()
            return batch

        writer = self._batch_writer()
        return writer.collect_batches(table, map(checked, batches))

    def number(self, table: TableInfo, operations: RowOperations) -> RowOperations:
        """An INSERT of a table that counts its rows, as the UPSERT of the numbers it is given.

        For those who want to know the numbers; `write` does the same by itself. `operations`: what
        to do; of other tables and kinds they are left as they are. Raises ValueOutOfRangeError: the
        counter is used up.
        """
        if table.schema.identity is not None:
            return self._services.auto_increment.number(table, operations)
        if not table.schema.auto_incrementing or operations.kind is not RowOpKind.INSERT:
            return operations
        columns, length = operations.columns, operations.length
        if table.schema.key_ids[-1] not in columns:
            columns = self._services.auto_increment.number(table, operations).columns
        return RowOperations(RowOpKind.UPSERT, columns, length)

    def coerce(
        self, table: TableInfo, columns: Mapping[int, pa.Array | pa.ChunkedArray]
    ) -> dict[int, pa.Array]:
        """Columns of any Arrow type, by id, as `write` takes them.

        Raises DataError: a value does not fit its column.
        """
        return coerce_columns(self._services.pool, table.schema, columns)

    def write_row(self, table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell]) -> int:
        """Do one operation on one row; as `write` for a batch of one.

        `cells`: by column id, the key's among them.
        """
        return self._write_row(table, kind, cells)[0]

    def insert_row(self, table: TableInfo, cells: Mapping[int, Cell]) -> Mapping[int, Cell]:
        """Insert one row; its cells, with defaults and the number that it got.

        `cells`: by column id. Raises: as `write_row`.
        """
        return self._write_row(table, RowOpKind.INSERT, cells)[1].cells

    def _write_row(
        self, table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell]
    ) -> tuple[int, KeyedRow]:
        self._open()
        self._single_rows += 1
        if self._single_rows % _COUNTED_ROWS == 0:
            self._check_room()
        tablet, row = keyed_row(self._services, table, kind, cells, self.time)
        pending = self._writes.on(table, tablet)
        check_row_result(table, row, lambda columns: pending.read_row(row.probe, columns))
        changed = pending.write_row(row)
        self._writes.keep(table, pending)
        return changed, row

    def savepoint(self) -> Savepoint:
        """The place that the transaction has reached. Raises InterfaceError: it has ended."""
        if self._ended:
            raise InterfaceError("the transaction has ended")
        return self._writes.savepoint()

    def rollback_to(self, savepoint: Savepoint) -> None:
        """Forget what was written since a savepoint of this transaction; it stays valid.

        Raises InterfaceError: the transaction has ended; DiskError, CorruptionError: rows cannot be
        read; the transaction is rolled back.
        """
        if self._ended:
            raise InterfaceError("the transaction has ended")
        self._addressed = None
        try:
            self._writes.rollback_to(savepoint)
        except BaseException:
            self.rollback()
            raise

    def _open(self) -> None:
        if self._ended:
            raise InterfaceError("the transaction has ended")
        self._services.committer.check_writable()

    def writes_to(self, table: TableInfo, tablet_id: str) -> PendingWrites:
        """The transaction's own writes to a tablet, for those who bring rowsets."""
        self._open()
        return self._writes.keep(table, self._writes.on(table, self._services.tablets[tablet_id]))

    def change_located(
        self, pending: PendingWrites, batch: KeyedOperations, located: Located
    ) -> None:
        """Do operations whose rows `PendingWrites.check` has found; many go to files.

        `pending`: of `writes_to`; `batch`: of any kind but INSERT. Raises DiskError: the disk
        refused; the transaction must be rolled back.
        """
        if np.count_nonzero(located.alive) < LEAST_ROWS:
            pending.write(batch, located)
        else:
            write_located(self._writing, pending, batch, located)

    def commit(
        self,
        durable: bool,
        batch: WriterBatch | None = None,
        cancel_check: CancelCheck = never_cancelled,
    ) -> Timestamp | None:
        """Commit.

        Args:
            durable: return only once the commit survives a power loss.
            batch: of a writer, to be noted as done.
            cancel_check: called while the commit waits for maintenance or for other commits.

        Returns the commit's hybrid time, None when nothing was written. Raises SerializationError:
        another transaction came first, whose commit is visible by now; this one is rolled back;
        DuplicateObjectError: another one made a table of the same name; ReadOnlyError, DiskError:
        it could not be made durable; or what `cancel_check` raises; this one is rolled back.
        """
        if self._ended:
            raise InterfaceError("the transaction has ended")
        if not self.has_writes and batch is None:
            self._end()
            return None
        if self._services.budget.is_pressed or self._writes.memory >= _LARGE_BYTES:
            self._relieve(cancel_check)
        try:
            with self._tablets_at_rest(cancel_check), DeferSigint():
                return self._commit(durable, batch)
        except SerializationError:
            with suppress(OperationalError):  # after a minute it may be tried again without
                self._services.committer.timestamps.wait_until_visible(cancel_check)
            raise

    def _relieve(self, cancel_check: CancelCheck) -> None:
        """Have changes in memory flushed before more come there.

        Raises what `cancel_check` raises; the transaction is rolled back.
        """
        try:
            self._services.relieve(cancel_check)
        except BaseException:
            self.rollback()
            raise

    def _commit(self, durable: bool, batch: WriterBatch | None) -> Timestamp:
        committer = self._services.committer
        try:
            with ExitStack() as folders:
                for new in self._new_tables:
                    folders.enter_context(self._services.definitions.folders(new.tablets))
                commit = self._apply(batch)
        except BaseException:
            self.rollback()
            raise
        self._end()
        self._writes = WriteSet(self.bound)
        committer.finish(commit, durable)
        return commit.timestamp

    def _apply(self, batch: WriterBatch | None) -> AppliedCommit:
        committer, definitions = self._services.committer, self._services.definitions
        try:
            pending = committer.publish(list(self._writes.by_tablet.values()))
            self._writes.by_tablet = {writes.tablet.id: writes for writes in pending}
            with committer.lock, ExitStack() as adding:
                self._check_tables()
                for new in self._new_tables:
                    adding.enter_context(definitions.adding(new))
                replaced = definitions.replaced(self._new_tables)
                infos = [new.info for new in self._new_tables]
                return committer.apply(pending, batch, infos, replaced)
        except BaseException:
            self._writes.discard()  # before their folders go
            raise

    @contextmanager
    def _tablets_at_rest(self, cancel_check: CancelCheck) -> Iterator[None]:
        """A block in which no maintenance changes rowsets that get delta files of the commit.

        Raises what `cancel_check` raises during the wait for that; the transaction is rolled back.
        """
        with ExitStack() as locks:
            try:
                for _, pending in sorted(self._writes.by_tablet.items()):
                    if pending.files.changes_rowsets:
                        rest = acquire_lock(pending.tablet.maintenance_lock, cancel_check)
                        locks.enter_context(rest)
            except BaseException:
                self.rollback()
                raise
            yield

    def _check_tables(self) -> None:
        for table in self._writes.tables:
            check_rows_still_fit(self._services, table)

    def rollback(self) -> None:
        """Forget everything written."""
        self._end()
        self._writes.discard()

    def _end(self) -> None:
        """Give claims back; scans that still stream keep theirs."""
        self._ended = True
        self._snapshot = Hold(self.bound)
        self._past = {}
        self._addressed = None
