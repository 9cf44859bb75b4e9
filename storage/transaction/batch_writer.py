"""The write path of all batches of a transaction.

    complete -> validate -> route -> locate -> decide -> apply

`ingest` completes rows, validates them and finds their tablets; a tablet's `PendingWrites` locates
their keys and applies what is left. In between is decided what each row does: of rows that are done
all or none (`RowErrorMode.FAIL`) the first reason of any step ends the statement, and of rows with
one key one counts; where rows stand for themselves (`COLLECT`) each step takes out the rows that it
refuses, and the others are done as if one after another (`row_collector`).

A large INSERT leaves the road behind `validate`, or behind `decide` where rows are collected, and
becomes rowsets (`bulk_insert`); so do all rows that come in several batches (`bulk_operations`).
Rows named by addresses need neither route nor locate: the scan that gave them has found them
(`addressed_rows`).
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import cancellable
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS
from pykudu_sql.storage.ingest.routing import (
    RoutedRows,
    TabletRows,
    deduplicate,
    route,
    split,
    take_rows,
)
from pykudu_sql.storage.ingest.row_batch import Positions, RowBatch, check_set, complete
from pykudu_sql.storage.ingest.validation import Refuse, raise_first, validate
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.bulk_insert import write_bulk
from pykudu_sql.storage.transaction.bulk_operations import (
    LocatedShare,
    RoutedBatch,
    inserts_of,
    write_operations,
    write_shares,
)
from pykudu_sql.storage.transaction.filed_changes import FiledChanges
from pykudu_sql.storage.transaction.resulting_rows import violation_of
from pykudu_sql.storage.transaction.row_collector import RowCollector
from pykudu_sql.storage.transaction.transaction_services import TransactionServices
from pykudu_sql.storage.transaction.write_set import WriteSet

_STEP_ROWS = 1 << 18  # that are written to memory before the statement may be cancelled again
_UPDATES = (RowOpKind.UPDATE, RowOpKind.UPDATE_IGNORE)


@dataclass(frozen=True, slots=True)
class _Share:
    """A tablet's rows of a batch that stand for themselves.

    Attributes:
        pending: the transaction's writes to the tablet.
        part: the rows that no rule refuses.
        located: where their keys are.
        rounds: those that have an effect, in batches of distinct keys to be written in this order;
            `located` is true for the first.
    """

    pending: PendingWrites
    part: TabletRows
    located: Located
    rounds: Sequence[Positions]


class BatchWriter:
    """Writes batches of rows, named by their keys, into a write set."""

    def __init__(
        self, services: TransactionServices, writes: WriteSet, time: StatementTime
    ) -> None:
        """`services`, `writes`, `time`: those of the transaction that it writes for."""
        self._services = services
        self._writes = writes
        self._time = time

    def write(self, table: TableInfo, operations: RowOperations, mode: RowErrorMode) -> RowResults:
        """Do a batch of operations; see `Transaction.write`."""
        if mode is RowErrorMode.COLLECT:
            return self._write_each(table, operations)
        changed = self._write_all(self._validated(table, operations, raise_first))
        return RowResults(changed, operations.length - changed, 0, ())

    def insert(self, table: TableInfo, batches: Iterable[RowOperations]) -> int:
        """Insert rows that come in batches; see `Transaction.insert`."""
        # A comprehension would hold the batch before while the next one is taken.
        validated = map(lambda batch: self._counted(table, batch), batches)
        return write_bulk(self._services, self._writes, table, validated)

    def write_batches(self, table: TableInfo, batches: Iterable[RowOperations]) -> RowResults:
        """Do operations that come in batches; see `Transaction.write_batches`."""
        rows = 0

        def validated(operations: RowOperations) -> RowBatch:
            nonlocal rows
            rows += operations.length
            return self._counted(table, operations)

        changed = write_operations(self._services, self._writes, map(validated, batches))
        return RowResults(changed, rows - changed, 0, ())

    def _validated(self, table: TableInfo, operations: RowOperations, refuse: Refuse) -> RowBatch:
        """The rows whose cells fit, complete and numbered."""
        check_set(table.schema, operations.kind, operations.columns, table.name)
        numbered = self._services.auto_increment.number(table, operations)
        return validate(complete(table, numbered, self._time), refuse)

    def _counted(self, table: TableInfo, operations: RowOperations) -> RowBatch:
        """Rows for files, all of which fit; the numbers that they bring are noted."""
        batch = self._validated(table, operations, raise_first)
        self._services.auto_increment.note_rows(table, batch.operations)
        return batch

    def _routed(self, batch: RowBatch, refuse: Refuse) -> RoutedRows:
        """The rows that a tablet takes; the numbers that they bring are noted."""
        rows = route(batch, refuse)
        self._services.auto_increment.note_rows(batch.table, rows.operations)
        return rows

    def _write_all(self, batch: RowBatch) -> int:
        """Write all rows or none; the number of rows changed."""
        if not batch.operations.length:
            return 0
        table, kind = batch.table, batch.operations.kind
        if kind is RowOpKind.INSERT and batch.operations.length >= BULK_ROWS:
            self._services.auto_increment.note_rows(table, batch.operations)
            return write_bulk(self._services, self._writes, table, (batch,))
        cancel_check = self._services.cancel_check
        cancel_check()
        routed = self._routed(batch, raise_first)
        cancel_check()
        rows = deduplicate(table, routed)
        checked: list[tuple[PendingWrites, KeyedOperations, Located]] = []
        repeats = 0
        for part in split(rows):
            cancel_check()
            pending = self._pending(table, part)
            located = pending.check(part.batch)
            violation = violation_of(table, pending, part.batch, located)
            if violation is not None:
                raise_first(batch, violation)
            repeats += rows.repeated_changes(part, located.alive)
            checked.append((pending, part.batch, located))
        return repeats + sum(
            self._write_steps(self._writes.keep(table, pending), keyed, located)
            for pending, keyed, located in checked
        )

    def _write_steps(self, pending: PendingWrites, batch: KeyedOperations, located: Located) -> int:
        """Write the rows of a tablet; the number of rows changed."""
        rows, changed = len(batch.keys), 0
        for first in cancellable(range(0, rows, _STEP_ROWS), self._services.cancel_check):
            places = np.arange(first, min(first + _STEP_ROWS, rows))
            is_all = len(places) == rows
            part = (batch, located) if is_all else (take_rows(batch, places), located.take(places))
            changed += pending.write(*part)
        return changed

    def collect_batches(
        self, table: TableInfo, batches: Iterable[RowOperations]
    ) -> Iterator[RowResults]:
        """Do operations that come in batches, as far as they fit; see `Transaction`."""
        changes = FiledChanges(self._services)
        try:
            yield from map(lambda batch: self._file_each(table, batch, changes), batches)
            changes.stage(lambda pending: pending)
        except BaseException:
            changes.discard()
            raise

    def _file_each(
        self, table: TableInfo, operations: RowOperations, changes: FiledChanges
    ) -> RowResults:
        """Write the rows that fit to files, DELETEs excepted, and report the others."""
        collector = RowCollector(table, operations.length)
        batch, rows, shares = self._decided(table, operations, collector)
        tablet_shares = [
            _Share(self._writes.keep(table, each.pending), each.part, each.located, each.rounds)
            for each in shares
        ]
        if not operations.kind.may_insert and operations.kind not in _UPDATES:
            # The next batch has to see what was deleted, which takes little but the keys.
            for each in tablet_shares:
                self._write_rounds(table, each)
            return collector.results()
        routed = RoutedBatch(batch, rows)
        for number in range(max((len(each.rounds) for each in tablet_shares), default=0)):
            located = [share for each in tablet_shares for share in _round_of(table, each, number)]
            write_shares(self._services, self._writes, routed, located, changes)
        return collector.results()

    def _decided(
        self, table: TableInfo, operations: RowOperations, collector: RowCollector
    ) -> tuple[RowBatch, RoutedRows, Sequence[_Share]]:
        """The rows that fit, by tablet; the others are noted."""
        batch = self._validated(table, operations, collector.refuse)
        rows = self._routed(batch, collector.refuse)
        shares: list[_Share] = []
        for part in split(rows):
            self._services.cancel_check()
            pending = self._pending(table, part)
            located = pending.locate(part.batch.keys)
            positions = rows.positions[part.indices]
            violation = violation_of(table, pending, part.batch, located)
            if violation is not None:
                remaining = collector.refuse_share(part.batch, positions, violation)
                part = TabletRows(
                    part.tablet, take_rows(part.batch, remaining), part.indices[remaining]
                )
                located, positions = located.take(remaining), positions[remaining]
            rounds = collector.decide(pending, part.batch, located, positions)
            shares.append(_Share(pending, part, located, rounds))
        return batch, rows, shares

    def _write_each(self, table: TableInfo, operations: RowOperations) -> RowResults:
        """Write the rows that fit, and report the others."""
        collector = RowCollector(table, operations.length)
        batch, rows, shares = self._decided(table, operations, collector)
        fit = [each.part.indices[indices] for each in shares for indices in each.rounds]
        if operations.kind.numbers and sum(map(len, fit)) >= BULK_ROWS:
            inserts = inserts_of(batch, rows, np.sort(np.concatenate(fit)))
            write_bulk(self._services, self._writes, table, (inserts,))
            return collector.results()
        for each in shares:
            self._write_rounds(table, each)
        return collector.results()

    def _pending(self, table: TableInfo, part: TabletRows) -> PendingWrites:
        return self._writes.on(table, self._services.tablets[table.tablets[part.tablet].id])

    def _write_rounds(self, table: TableInfo, share: _Share) -> None:
        """Write batches of distinct keys one after the other."""
        for number in range(len(share.rounds)):
            for pending, part, located in _round_of(table, share, number):
                self._writes.keep(table, pending).write(part.batch, located)


def _round_of(table: TableInfo, share: _Share, number: int) -> Iterator[LocatedShare]:
    """The rows of one round, where there are any, once those before it are written."""
    if number >= len(share.rounds) or not len(share.rounds[number]):
        return
    indices = share.rounds[number]
    batch = take_rows(share.part.batch, indices)
    located = share.pending.locate(batch.keys) if number else share.located.take(indices)
    violation = violation_of(table, share.pending, batch, located) if number else None
    if violation is not None:
        raise violation.reason(int(np.argmax(violation.mask)))
    part = TabletRows(share.part.tablet, batch, share.part.indices[indices])
    yield share.pending, part, located
