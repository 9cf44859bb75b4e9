"""Committing staged rows: many processes' files become part of their tablets at one moment.

Each file is checked against what its task said and against the write it is for: the table, the
folder, the number of bytes and their checksum. A file of new rows then becomes a rowset as it is,
and the commit is one manifest edit. Where a key is there already, or the rows change others, they
are read back and done as operations of the same transaction, and so are rows that a hidden counter
is to number. So the commit does all or nothing,
its rows have one timestamp, and it stands in conflict with others as any transaction does.

A write is committed at most once: files move out of its folder, and the folder goes at the end. A
writer that numbers its batches (`WriterBatch`) may also come again after a crash.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import combine, integers_of
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    CorruptionError,
    DataError,
    IntegrityError,
    SerializationError,
)
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.ingest.auto_increment import counted_column
from pykudu_sql.storage.ingest.check_rule import RowsSet, decided_later
from pykudu_sql.storage.ingest.row_batch import set_columns
from pykudu_sql.storage.ingest.staging import StagedFile, StageTarget, file_checksum, remove_staging
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.tablet.history.row_slice import join
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import Located
from pykudu_sql.storage.tablet.write.keyed_operations import KeyedOperations, misfits
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.resulting_rows import violation_of
from pykudu_sql.storage.transaction.transaction import Transaction

_ROWS_IN_LOG = 1 << 16
_INSERTS = (RowOpKind.INSERT, RowOpKind.INSERT_IGNORE)
_OTHER_OPERATIONS = (
    "take the operation upsert to overwrite such rows, or insert_ignore to skip them"
)


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """A write whose tasks are done.

    Attributes:
        target: where its rows are staged, and what is done with them.
        column_ids: that the rows set; the files may hold defaults of others.
        files: of the tasks that count.
        replaces: the rows take the place of all that the table has.
        batch: of a writer; None for a write that stands alone.
    """

    target: StageTarget
    column_ids: tuple[int, ...]
    files: Sequence[StagedFile]
    replaces: bool = False
    batch: WriterBatch | None = None


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a write did.

    Attributes:
        rows: given to it.
        bytes: of its files.
        files: how many.
        timestamp: hybrid time of its commit; None when nothing was committed: there was no row, or
            the batch was done before.
    """

    rows: int
    bytes: int
    files: int
    timestamp: Timestamp | None


def commit_staged(env: Env, store: OpenStore, write: StagedWrite) -> WriteReport:
    """Commit a staged write, whose folder is gone afterwards.

    `store`: open for writing; `write`: its files' folder must be of the same database. Raises
    DataError: a file is not of this write, or is named twice; CorruptionError: a file is not what
    its task wrote; AlreadyPresentError, RowNotFoundError, ImmutableColumnError: a key does not fit
    the operation; nothing was committed; SerializationError: the table, or one of the rows, was
    changed meanwhile; LockedError, ReadOnlyError, DiskError: it could not be made durable.
    """
    report = _report(write, None)
    try:
        if write.batch is not None:
            if store.last_batch(write.batch.writer) >= write.batch.number:
                return report
        elif not write.files and not write.replaces:
            return report
        if len({file.number for file in write.files}) < len(write.files):
            raise DataError("a staged file is named twice", hint="run the job again")
        for file in write.files:
            check_staged(env, write.target, file)
        return _report(write, _commit(env, store, write))
    finally:
        remove_staging(env, write.target.root, write.target.write_id)


def _report(write: StagedWrite, timestamp: Timestamp | None) -> WriteReport:
    rows = sum(file.rows for file in write.files)
    return WriteReport(rows, sum(file.size for file in write.files), len(write.files), timestamp)


def check_staged(env: Env, target: StageTarget, file: StagedFile) -> None:
    """See that a file is what a task of a write wrote.

    Raises DataError: it is of another write or another table; CorruptionError: it is gone, or its
    bytes are others.
    """
    tablets = {tablet.id for tablet in target.table.tablets}
    if file.write_id != target.write_id or file.table_id != target.table.id:
        raise DataError(
            f"a file was staged by write {file.write_id} for table {file.table_id}, not by write "
            f"{target.write_id} for table '{target.table.name}' ({target.table.id})"
        )
    if file.tablet_id not in tablets:
        raise DataError(f"tablet {file.tablet_id} does not belong to table '{target.table.name}'")
    path = layout.staged_path(target.root, file.write_id, file.tablet_id, file.number)
    if not env.exists(path):
        raise CorruptionError(
            f"the staged file '{path}' is gone",
            hint="the write was committed or aborted before; run the job again",
        )
    if env.size_of(path) != file.size or file_checksum(env, path) != file.checksum:
        raise CorruptionError(
            f"the staged file '{path}' is not what its task wrote",
            hint="see that all hosts share one file system; then run the job again",
        )


def _commit(env: Env, store: OpenStore, write: StagedWrite) -> Timestamp | None:
    transaction = store.begin()
    try:
        if store.database_id != write.target.database_id:
            raise DataError(f"the rows were staged for another database than '{store.path}'")
        if write.replaces:
            _delete_all(store, transaction, write)
        for file in write.files:
            _take(env, store, transaction, write, file)
    except BaseException:
        transaction.rollback()
        raise
    return transaction.commit(store.options.durability == "full", write.batch)


def _delete_all(store: OpenStore, transaction: Transaction, write: StagedWrite) -> None:
    """Delete the rows that the table has."""
    table = write.target.table
    now = store.catalog.by_id.get(table.id)
    if now is None or now.tablets != table.tablets:
        raise SerializationError(
            f"table '{table.name}' was changed by another session meanwhile",
            hint="run the job again",
        )
    every_row = ScanSpec((), addressed=True)
    if transaction.rows_to_scan(table, every_row) <= _ROWS_IN_LOG:
        addresses = transaction.table_scan(table, every_row).column(0)
        transaction.write(table, _deletion(combine(addresses)))
        return
    # Rows in memory have no files for changes to be laid over.
    store.flush_tables([table])
    blocks = transaction.scan(table, every_row).stretches()
    transaction.change(table, (_deletion(block.columns[0]) for block in blocks))


def _deletion(addresses: pa.Array) -> RowOperations:
    return RowOperations(RowOpKind.DELETE, {}, len(addresses), integers_of(addresses))


def _take(
    env: Env, store: OpenStore, transaction: Transaction, write: StagedWrite, file: StagedFile
) -> None:
    """Make a staged file part of a transaction."""
    target = write.target
    if file.tablet_id not in store.tablets:
        raise SerializationError(
            f"a partition of table '{target.table.name}' was dropped meanwhile",
            hint="run the job again",
        )
    pending = transaction.writes_to(target.table, file.tablet_id)
    rowset = _move_in(env, target, pending, file)
    counter = target.counter_beside(write.column_ids)
    if counter is not None:
        _insert_numbered(transaction, write, rowset, file, counter)
        return
    try:
        keys = rowset.base.keys()
        if keys.at(0) != file.min_key or keys.at(len(keys) - 1) != file.max_key:
            raise CorruptionError(f"the keys of '{rowset.base.path}' are not those its task named")
        changed = set_columns(target.table.schema, target.kind, dict.fromkeys(write.column_ids))
        empty = RowOperations(target.kind, {}, len(keys))
        located = _locate(pending, KeyedOperations(empty, keys, changed.ids, changed.fixed))
        if target.kind.may_insert:
            _note_numbers(store, target, rowset)
        is_new = target.kind.may_insert and not located.alive.any()
        if is_new and not decided_later(target.table, RowsSet(target.kind, changed.ids)):
            pending.stage((rowset,))
            return
        columns = _read(rowset, pending, file)
        operations = RowOperations(target.kind, columns, len(keys))
        batch = KeyedOperations(operations, keys, changed.ids, changed.fixed)
        violation = violation_of(target.table, pending, batch, located)
        if violation is not None:
            raise violation.reason(int(np.argmax(violation.mask)))
        if is_new:
            pending.stage((rowset,))
            return
        if target.kind in _INSERTS:
            pending.write(batch, located)
        else:
            transaction.change_located(pending, batch, located)
    except BaseException:
        pending.files.discard(rowset)
        raise
    pending.files.discard(rowset)


def _insert_numbered(
    transaction: Transaction,
    write: StagedWrite,
    rowset: DiskRowSet,
    file: StagedFile,
    counter: ColumnSchema,
) -> None:
    """Insert the rows of a file under numbers of the counter, which may be for other tablets."""
    table = write.target.table
    pending = transaction.writes_to(table, file.tablet_id)
    try:
        columns = _read(rowset, pending, file)
    finally:
        pending.files.discard(rowset)
    del columns[counter.id]
    transaction.write(table, RowOperations(write.target.kind, columns, file.rows))


def _note_numbers(store: OpenStore, target: StageTarget, rowset: DiskRowSet) -> None:
    """Never give the numbers of rows that bring theirs with them out again."""
    counter = counted_column(target.table.schema)
    zone_map = None if counter is None else rowset.base.zone_map(counter.id)
    if zone_map is not None:
        highest = zone_map.column_stats.max
        if isinstance(highest, int):
            store.auto_increment.note(target.table, target.kind, highest)


def _locate(pending: PendingWrites, batch: KeyedOperations) -> Located:
    """Find the rows; a key that another file of this write has too is reported as a duplicate.

    The error of a row that does not fit says how many more of the file do not, either.
    """
    try:
        return pending.check_sorted(batch)
    except IntegrityError as error:
        located = pending.locate(batch.keys)
        wrong = np.flatnonzero(misfits(batch, located))
        others = f", and so for {len(wrong) - 1} rows more of its {len(located.alive)}-row file"
        message = error.message + (others if len(wrong) > 1 else "")
        index = int(wrong[0])
        is_ours = any(located.rowsets[located.where[index]] is rowset for rowset in pending.staged)
        if isinstance(error, AlreadyPresentError) and is_ours:
            raise AlreadyPresentError(
                f"key given twice in one write: {message}",
                hint="keep one row of each key (dropDuplicates), or use the operation upsert",
            ) from error
        hint = _OTHER_OPERATIONS if isinstance(error, AlreadyPresentError) else error.hint
        raise type(error)(message, hint=hint, sqlstate=error.sqlstate) from error


def _move_in(env: Env, target: StageTarget, pending: PendingWrites, file: StagedFile) -> DiskRowSet:
    """A staged file as a rowset of its tablet that no manifest names yet."""
    tablet = pending.tablet
    path = tablet.files.staging_path("base", file.number)
    source = layout.staged_path(target.root, file.write_id, file.tablet_id, file.number)
    env.rename(source, path, point="staging.take")
    meta = file.meta_of(tablet.new_rowset_id())
    return tablet.files.open_rowset(meta, tablet.schema.key_columns, tablet.types, path)


def _read(rowset: DiskRowSet, pending: PendingWrites, file: StagedFile) -> dict[int, pa.Array]:
    """All rows of a staged file, by column id."""
    schemas = pending.tablet.column_schemas
    columns = [schemas[i] for i in file.column_ids]
    blocks = list(rowset.scan(columns, None, pending.bound, None))
    return {
        column.id: join([block.columns[index] for block in blocks])
        for index, column in enumerate(columns)
    }
