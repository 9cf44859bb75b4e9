"""Large UPSERTs, and UPDATEs and DELETEs by key, in memory for one batch at a time.

The rows come in batches that are not in memory together. Of each batch the rows whose keys are new
become rowsets, as those of a large INSERT, and what is changed of rows that are there goes to delta
files. A key that an earlier batch brought is found in that batch's rowsets; so of rows with one key
the same one counts as if all were one batch, and is counted once for each batch that has it.
Batches of which the rows that fit are written end here too (`write_shares`), INSERTs among them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.ingest.routing import (
    RoutedRows,
    TabletRows,
    deduplicate,
    route,
    split,
    take_rows,
)
from pykudu_sql.storage.ingest.row_batch import Positions, RowBatch, take
from pykudu_sql.storage.ingest.validation import raise_first
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.addressed_operations import AddressedOperations
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.tablet.write.staged_changes import keyed_to_addressed
from pykudu_sql.storage.transaction.bulk_insert import write_bulk
from pykudu_sql.storage.transaction.filed_changes import FiledChanges
from pykudu_sql.storage.transaction.resulting_rows import violation_of
from pykudu_sql.storage.transaction.transaction_services import TransactionServices
from pykudu_sql.storage.transaction.write_set import WriteSet

LEAST_ROWS, LEAST_BYTES = 4096, 512 << 10  # that are worth rowsets of their own
_DELETES = (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE)
_ONLY_INSERT = (RowOpKind.INSERT, RowOpKind.INSERT_IGNORE)
LocatedShare = tuple[PendingWrites, TabletRows, Located]


@dataclass(frozen=True, slots=True)
class RoutedBatch:
    """A batch, and those of its rows that a tablet takes."""

    batch: RowBatch
    rows: RoutedRows


def write_operations(
    services: TransactionServices, writes: WriteSet, batches: Iterable[RowBatch]
) -> int:
    """Stage operations by key, of one kind but INSERT, on rows of one table.

    `batches`: validated, each taken when the one before is written. Returns the number of rows
    changed. Raises RowNotFoundError, ImmutableColumnError: a row does not fit; DiskError: the disk
    refused; or what taking a batch raises; the transaction must go back to where it was.
    """
    changes = FiledChanges(services)
    changed = 0
    try:
        for batch in batches:
            counter = progress.counter("writing changes", batch.operations.length)
            changed += _write(services, writes, batch, changes)
            counter.add(batch.operations.length)
            del batch  # before the next one is taken
        changes.stage(lambda pending: pending)
        return changed
    except BaseException:
        changes.discard()
        raise


def _write(
    services: TransactionServices, writes: WriteSet, batch: RowBatch, changes: FiledChanges
) -> int:
    """Write a batch to files; the number of rows changed."""
    table = batch.table
    if not batch.operations.length:
        return 0
    rows = deduplicate(table, route(batch, raise_first))
    shares: list[LocatedShare] = []
    repeats = 0
    for part in split(rows):
        tablet = services.tablets[table.tablets[part.tablet].id]
        pending = writes.keep(table, writes.on(table, tablet))
        services.cancel_check()
        located = pending.check(part.batch)
        violation = violation_of(table, pending, part.batch, located)
        if violation is not None:
            raise_first(batch, violation)
        repeats += rows.repeated_changes(part, located.alive)
        shares.append((pending, part, located))
    return repeats + write_shares(services, writes, RoutedBatch(batch, rows), shares, changes)


def write_located(
    services: TransactionServices, pending: PendingWrites, batch: KeyedOperations, located: Located
) -> None:
    """Do a batch of operations on distinct keys that fit; what is changed of rows that are there
    goes to files.

    Args:
        services: of the transaction.
        pending: its writes to the tablet, which it counts.
        batch: of any kind but INSERT.
        located: where its keys are.

    Raises DiskError: the disk refused; nothing was done.
    """
    changes = FiledChanges(services)
    try:
        changes.add(_changes(pending, batch, located))
        changes.stage(lambda writes: writes)
    except BaseException:
        changes.discard()
        raise
    indices = np.flatnonzero(~located.alive)
    if batch.kind.may_insert and len(indices):
        pending.write(take_rows(batch, indices), located.take(indices))


def write_shares(
    services: TransactionServices,
    writes: WriteSet,
    routed: RoutedBatch,
    shares: Sequence[LocatedShare],
    changes: FiledChanges,
) -> int:
    """Write rows of a batch that all fit, of distinct keys, to files.

    `shares`: of the tablets, with writes that the transaction counts; `changes`: takes what is
    changed of rows that are there. Returns the number of rows changed. Raises DiskError: the disk
    refused.
    """
    kind, changed = routed.batch.operations.kind, 0
    if kind not in _ONLY_INSERT:
        changes.add(
            each
            for pending, part, located in shares
            for each in _changes(pending, part.batch, located)
        )
        changed += sum(int(np.count_nonzero(located.alive)) for _, _, located in shares)
    if kind.may_insert:
        changed += _insert(services, writes, routed, shares)
    return changed


def _changes(
    pending: PendingWrites, batch: KeyedOperations, located: Located
) -> Iterator[tuple[PendingWrites, AddressedOperations]]:
    """What is changed of rows that are there, by rowset."""
    kind = RowOpKind.DELETE if batch.kind in _DELETES else RowOpKind.UPDATE_IGNORE
    operations = RowOperations(kind, batch.operations.columns, batch.operations.length)
    for each in keyed_to_addressed(replace(batch, operations=operations), located):
        if not each.is_idle:
            yield pending, each


def _insert(
    services: TransactionServices,
    writes: WriteSet,
    routed: RoutedBatch,
    shares: Sequence[LocatedShare],
) -> int:
    """Insert the rows whose keys are new; how many these are."""
    batch, rows = routed.batch, routed.rows
    fresh = [part.indices[~located.alive & (located.where < 0)] for _, part, located in shares]
    inserted = sum(map(len, fresh))
    width = sum(column.nbytes for column in batch.operations.columns.values())
    size = width * inserted // batch.operations.length
    in_files = inserted > 0 and (inserted >= LEAST_ROWS or size >= LEAST_BYTES)
    if in_files:
        new = inserts_of(batch, rows, np.sort(np.concatenate(fresh)))
        write_bulk(services, writes, batch.table, (new,))
    ghosts = 0
    for pending, part, located in shares:
        # Rows in memory that were deleted are inserted again where they are.
        mine = ~located.alive & (located.where >= 0) if in_files else ~located.alive
        indices = np.flatnonzero(mine)
        ghosts += int(np.count_nonzero(located.where[indices] >= 0))
        if len(indices):
            pending.write(take_rows(part.batch, indices), located.take(indices))
    return inserted + ghosts


def inserts_of(batch: RowBatch, rows: RoutedRows, indices: Positions) -> RowBatch:
    """Routed rows that are all to be inserted, as a batch of their own."""
    columns = take(rows.operations.columns, indices)
    operations = RowOperations(RowOpKind.INSERT, columns, len(indices))
    return replace(batch, operations=operations, positions=rows.positions[indices])
