"""Transactions: one snapshot to read, one commit for all that was written.

Snapshot isolation with first committer wins: reads see the snapshot and the transaction's own
writes; at commit, a key that another transaction changed since is a SerializationError. Writes
stay in the transaction's own stores until then, but for large inserts, whose rowsets are written
at once and named by the manifest only at commit.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import wait
from itertools import chain

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.bulk_writer import (
    BULK_ROWS,
    TabletShare,
    coerce_columns,
    share_out,
    write_rowset,
)
from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.common.key_encoder import KeyEncoder
from pykudu_sql.storage.common.partition_pruner import prune
from pykudu_sql.storage.common.row_operation import RowOperations, RowOpKind, check_set
from pykudu_sql.storage.common.row_result import RowResults
from pykudu_sql.storage.common.scan_spec import ScanSpec
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.common.types import Cell
from pykudu_sql.storage.errors import (
    InterfaceError,
    UncoveredRangeError,
)
from pykudu_sql.storage.row_sieve import Places, RowSieve
from pykudu_sql.storage.row_writer import keyed_row
from pykudu_sql.storage.table import (
    TabletRows,
    assemble,
    assign,
    choose,
    complete,
    set_columns,
    split,
    take,
)
from pykudu_sql.storage.tablet.keyed_operations import KeyedOperations
from pykudu_sql.storage.tablet.locator import Located, OwnChanges
from pykudu_sql.storage.tablet.pending_writes import PendingWrites
from pykudu_sql.storage.tablet.rowset import RowBlock, RowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.transaction_host import TransactionHost, check_writable_still

PARALLEL_ROWS = 200_000


class Transaction:
    """One transaction, used by one thread at a time.

    Attributes:
        bound: of its snapshot.
    """

    def __init__(self, host: TransactionHost, bound: int) -> None:
        """Begin at a snapshot."""
        self.bound = bound
        self._host = host
        self._pending: dict[str, PendingWrites] = {}
        self._written: list[TableInfo] = []
        self._ended = False

    @property
    def has_writes(self) -> bool:
        """Whether anything was written."""
        return bool(self._pending)

    def table_scan(self, table: TableInfo, spec: ScanSpec, bound: int | None = None) -> pa.Table:
        """The rows of a table, save those that no matching row can be among.

        Args:
            table: as of the moment that is read.
            spec: which columns, and what they are wanted for.
            bound: of another snapshot, for AS OF; None reads the transaction's own, with its
                own writes.
        """
        columns = tuple(table.schema.by_id[i] for i in spec.column_ids)
        blocks = self._blocks(table, columns, spec, bound)
        if spec.limit is not None:
            blocks = _until(blocks, spec.limit)
        return assemble(columns, blocks)

    def _blocks(
        self, table: TableInfo, columns: Sequence[ColumnSchema], spec: ScanSpec, bound: int | None
    ) -> Iterator[RowBlock]:
        at = self.bound if bound is None else bound
        chosen = prune(table.schema, table.partition_schema, spec.predicate)
        reads: list[tuple[Tablet, RowSet, OwnChanges]] = []
        for index in chosen:
            tablet = self._host.tablets[table.tablets[index].id]
            pending = self._pending.get(tablet.id) if bound is None else None
            if pending is None:
                reads += [(tablet, rowset, {}) for rowset in tablet.components.rowsets]
            else:
                reads += [(tablet, rowset, pending.own) for rowset in pending.rowsets]

        def read(one: tuple[Tablet, RowSet, OwnChanges]) -> list[RowBlock]:
            tablet, rowset, own = one
            return list(tablet.scan(columns, spec.predicate, at, (rowset,), own))

        rows = sum(rowset.row_count(at) for _, rowset, _ in reads)
        if spec.limit is None and len(reads) > 1 and rows > PARALLEL_ROWS:
            return chain.from_iterable(self._host.pool.map(read, reads))
        return chain.from_iterable(map(read, reads))

    def lookup(
        self,
        table: TableInfo,
        key: tuple[Cell, ...],
        column_ids: Sequence[int],
        bound: int | None = None,
    ) -> tuple[Cell, ...] | None:
        """One row's cells by its key, or None.

        Args:
            table: as of the moment that is read.
            key: cells in key order.
            column_ids: wanted.
            bound: as for `table_scan`.
        """
        by_id = table.schema.by_id
        columns = [by_id[i] for i in column_ids]
        tablet = self._tablet_of(table, key)
        if tablet is None:
            return None
        probe = tablet.probe(key)
        if bound is not None or not self._pending:
            return tablet.read_row(probe, columns, self.bound if bound is None else bound)
        pending = self._pending.get(tablet.id)
        if pending is None:
            return tablet.read_row(probe, columns, self.bound)
        return pending.read_row(probe, columns)

    def _tablet_of(self, table: TableInfo, key: tuple[Cell, ...]) -> Tablet | None:
        if len(table.tablets) == 1 and not table.partition_schema.range_column_ids:
            return self._host.tablets[table.tablets[0].id]
        try:
            index = table.assigner.assign_one(dict(zip(table.schema.key_ids, key, strict=True)))
        except UncoveredRangeError:
            return None
        return self._host.tablets[table.tablets[index].id]

    def write(self, table: TableInfo, operations: RowOperations) -> int:
        """Do a batch of operations, all or nothing.

        Args:
            table: of the transaction's snapshot.
            operations: what to do.

        Returns:
            The number of rows changed.

        Raises:
            IntegrityError, DataError: a row does not fit; nothing was done.
            DiskError: the disk refused; the transaction must be rolled back.
        """
        self._open()
        check_set(table.schema, operations.kind, operations.columns, table.name)
        changed = set_columns(table.schema, operations.kind, operations.columns)
        full = complete(table, self._host.auto_increment.number(table, operations))
        if not full.length:
            return 0
        encoder = self._key_encoder(table)
        if full.kind is RowOpKind.INSERT and full.length >= BULK_ROWS:
            return self._write_bulk(table, encoder, full)
        rows = assign(table, encoder, full, changed)
        checked: list[tuple[PendingWrites, KeyedOperations, Located]] = []
        for part in split(rows):
            pending = self._pending_for(table, self._host.tablets[table.tablets[part.tablet].id])
            checked.append((pending, part.batch, pending.check(part.batch)))
        return sum(
            self._keep(table, pending).write(batch, found) for pending, batch, found in checked
        )

    def _key_encoder(self, table: TableInfo) -> KeyEncoder:
        if not table.tablets:
            return KeyEncoder(table.schema.key_columns)
        return self._host.tablets[table.tablets[0].id].key_encoder

    def write_each(self, table: TableInfo, operations: RowOperations) -> RowResults:
        """Do those rows of a batch that fit, and report the others: Kudu's way.

        Args:
            table: of the transaction's snapshot.
            operations: what to do; a key may repeat, and its rows are done in their order.

        Returns:
            What became of the rows.

        Raises:
            NotNullError, ProgrammingError: the set of columns does not fit; nothing was done.
            DiskError: the disk refused; the transaction must be rolled back.
        """
        self._open()
        sieve, encoder = RowSieve(table, operations), self._key_encoder(table)
        rows = sieve.sift(self._host.auto_increment, encoder)
        shares: list[tuple[PendingWrites, TabletRows, Located, list[Places]]] = []
        for part in split(rows):
            pending = self._pending_for(table, self._host.tablets[table.tablets[part.tablet].id])
            found = pending.locate(part.batch.keys)
            shares.append((pending, part, found, sieve.rounds(pending, part, found)))
        fit = [part.places[places] for _, part, _, rounds in shares for places in rounds]
        if operations.kind.numbers and sum(map(len, fit)) >= BULK_ROWS:
            chosen = np.sort(np.concatenate(fit))
            columns = take(rows.operations.columns, chosen)
            self._write_bulk(table, encoder, RowOperations(RowOpKind.INSERT, columns, len(chosen)))
            return sieve.results()
        for pending, part, found, rounds in shares:
            self._write_rounds(table, pending, part.batch, found, rounds)
        return sieve.results()

    def _write_rounds(
        self,
        table: TableInfo,
        pending: PendingWrites,
        batch: KeyedOperations,
        found: Located,
        rounds: Sequence[Places],
    ) -> None:
        """Write batches of distinct keys one after the other; `found` is true for the first."""
        for number, places in enumerate(rounds):
            if len(places):
                chosen = choose(batch, places)
                located = pending.locate(chosen.keys) if number else found.take(places)
                self._keep(table, pending).write(chosen, located)

    def _write_bulk(self, table: TableInfo, encoder: KeyEncoder, operations: RowOperations) -> int:
        """Stage the rows of a large INSERT as rowsets, written side by side."""
        pool = self._host.pool
        shares = share_out(pool, table, encoder, operations)
        pending = [
            self._pending_for(table, self._host.tablets[table.tablets[share.tablet].id])
            for share in shares
        ]

        def check(target: PendingWrites, share: TabletShare) -> None:
            target.check(KeyedOperations(operations, share.keys, ()))

        list(pool.map(check, pending, shares))
        parts = [
            (self._keep(table, target), part)
            for target, share in zip(pending, shares, strict=True)
            for part in share.rowsets()
        ]
        written = [
            pool.submit(write_rowset, target.tablet, operations.columns, part)
            for target, part in parts
        ]
        # What was written is staged, even if something else was not, so that rollback removes it.
        wait(written)
        for (target, _), rowset in zip(parts, written, strict=True):
            if rowset.exception() is None:
                target.stage((rowset.result(),))
        for rowset in written:
            rowset.result()
        return operations.length

    def coerce(
        self, table: TableInfo, columns: Mapping[int, pa.Array | pa.ChunkedArray]
    ) -> dict[int, pa.Array]:
        """Columns of any Arrow type, by id, as `write` takes them.

        Raises:
            DataError: a value does not fit its column.
        """
        return coerce_columns(self._host.pool, table.schema, columns)

    def write_row(self, table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell]) -> int:
        """Do one operation on one row; as `write` for a batch of one.

        Args:
            table: of the transaction's snapshot.
            kind: what to do.
            cells: by column id, the key's among them.
        """
        self._open()
        tablet, row = keyed_row(self._host, table, kind, cells)
        pending = self._pending_for(table, tablet)
        changed = pending.write_row(row)
        self._keep(table, pending)
        return changed

    def _pending_for(self, table: TableInfo, tablet: Tablet) -> PendingWrites:
        return self._pending.get(tablet.id) or PendingWrites(tablet, table.name, self.bound)

    def _keep(self, table: TableInfo, pending: PendingWrites) -> PendingWrites:
        self._pending[pending.tablet.id] = pending
        if not any(known is table for known in self._written):
            self._written.append(table)
        return pending

    def _open(self) -> None:
        if self._ended:
            raise InterfaceError("the transaction has ended")
        self._host.committer.check_writable()

    def commit(self, durable: bool) -> int | None:
        """Commit.

        Args:
            durable: return only once the commit survives a power loss.

        Returns:
            The commit's hybrid time, None when nothing was written.

        Raises:
            SerializationError: another transaction came first; this one is rolled back.
            ReadOnlyError, DiskError: it could not be made durable.
        """
        if self._ended:
            raise InterfaceError("the transaction has ended")
        if not self._pending:
            self._ended = True
            return None
        committer = self._host.committer
        try:
            with committer.lock:
                self._check_tables()
                pending = list(self._pending.values())
                commit = committer.apply(pending)
        except BaseException:
            self.rollback()
            raise
        self._ended = True
        self._pending = {}
        committer.finish(commit, durable)
        return commit.timestamp

    def _check_tables(self) -> None:
        for table in self._written:
            check_writable_still(self._host, table)

    def rollback(self) -> None:
        """Forget everything written."""
        self._ended = True
        for pending in self._pending.values():
            pending.discard_staged()
        self._pending = {}


def _until(blocks: Iterator[RowBlock], limit: int) -> Iterator[RowBlock]:
    """Blocks until they hold at least `limit` rows."""
    rows = 0
    while rows < limit:
        block = next(blocks, None)
        if block is None:
            return
        rows += block.length
        yield block
