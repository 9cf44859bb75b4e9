"""Loads in this process: files are read while they are written, so that memory does not grow.

Rows are first written as a bulk INSERT writes them, all or none. Where the table refuses one (its
key, a NULL), what was written is given up and the files are read again, now row by row: each row
that does not fit is found with its place, and the others are written.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.database import open_database
from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.writing.chunked_rows import chunk_bytes
from pykudu_sql.executor.writing.collecting import collect_columns, faults, key_of
from pykudu_sql.executor.writing.files.file_rows import (
    UnfitRow,
    fitting_rows,
    json_row,
)
from pykudu_sql.files.atomic_output import atomic_output
from pykudu_sql.files.inferred_table import infer_columns
from pykudu_sql.files.reading.row_files import TORN
from pykudu_sql.jobs.in_process.reject_collector import RejectCollector, RejectedRecord
from pykudu_sql.jobs.in_process.source_files import SourceFile, find_files, json_keys, with_keys
from pykudu_sql.jobs.load import Loaded
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.jobs.rejects import (
    BROKEN,
    MAX_LISTED_REJECTS,
    MISSING,
    NO_VALUE,
    PRESENT,
    TWICE,
    Reject,
    key_reason,
    rule_reason,
    unfit_rows_error,
    write_rejects,
)
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.spark.options import operation_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowError
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    CheckViolationError,
    DataError,
    IntegrityError,
    LockedError,
    NotNullError,
    RowNotFoundError,
    UncoveredRangeError,
    ValueTooLargeError,
)
from pykudu_sql.storage.ingest.row_batch import check_columns
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.transaction.transaction import Transaction

WAIT_SECONDS: Final = 60.0
_PAUSE: Final = 0.2
# What a bulk INSERT ends with for one row; by row such rows are left out.
_OF_ONE_ROW: Final = (
    AlreadyPresentError,
    CheckViolationError,
    NotNullError,
    UncoveredRangeError,
    ValueTooLargeError,
)


@dataclass(frozen=True, slots=True)
class LocalLoader:
    """A `Loader` in this process. `database`: its directory; `files`: that are read."""

    database: str
    files: Sequence[SourceFile]
    options: LoadOptions

    @classmethod
    def of(cls, database: str, sources: Sequence[str], options: LoadOptions) -> "LocalLoader":
        """Find the files. Raises Error: see `find_files`."""
        files = find_files(database, sources, options.file_format, options.reader)
        return cls(database, files, options)

    def columns(self) -> Mapping[str, str]:
        return infer_columns([(one.file, one.kind) for one in self.files if not one.is_empty])

    def fill(self, table: TableInfo) -> Loaded:
        files = self.files
        if not operation_of(self.options.operation).numbers and files[0].kind.format == "json":
            files = with_keys(files, table, (json_keys(one, table) for one in files))
        with _writing(self.database) as store:
            try:
                return self._fill(store, _Filling(store, table, files, self.options))
            except _OF_ONE_ROW:
                filling = _Filling(store, table, files, self.options, by_row=True)
                return self._fill(store, filling)

    def _fill(self, store: OpenStore, filling: "_Filling") -> Loaded:
        """Write the rows, and the file of rejects, or nothing."""
        options, transaction = self.options, store.begin()
        try:
            rows = filling.write(transaction)
            rejects = filling.checked_rejects()
            size = sum(one.file.size for one in self.files)
            durable = store.options.durability == "full"
            if options.rejects is None:
                transaction.commit(durable)
                return Loaded(rows, size, rejects)
            with atomic_output(Path(options.rejects)) as unfinished:
                write_rejects(rejects, unfinished)
                transaction.commit(durable)
            return Loaded(rows, size, rejects)
        except BaseException:
            transaction.rollback()
            raise


@contextmanager
def _writing(path: str) -> Iterator[OpenStore]:
    """A database open for writing; another process that writes it is waited for.

    Raises LockedError: it does not end within a minute.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            database = open_database(path, DatabaseSettings())
            break
        except LockedError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)
    try:
        yield database.store
    finally:
        database.release()


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows that are written together.

    `rows`: values by column name; `files`, `records`: which file each row is of, and its number.
    """

    rows: pa.Table
    files: npt.NDArray[np.int64]
    records: npt.NDArray[np.int64]


@dataclass(slots=True)
class _Filling:
    """One pass over the files.

    `by_row`: whether rows that the table refuses are left out one by one, or end the pass; `time`:
    of all rows, for defaults.
    """

    store: OpenStore
    table: TableInfo
    files: Sequence[SourceFile]
    options: LoadOptions
    by_row: bool = False
    time: StatementTime = field(default_factory=StatementTime)
    rejects: RejectCollector = field(init=False)
    _loaded_rows: int = 0

    def __post_init__(self) -> None:
        """Keep as many rejects as may be written; one more says that there are too many."""
        keeps = MAX_LISTED_REJECTS if self.options.rejects is None else self.options.max_rejects
        self.rejects = RejectCollector(keeps + 1)

    def write(self, transaction: Transaction) -> int:
        """Write all rows that fit; how many those are."""
        transaction.time = self.time
        kind = operation_of(self.options.operation)
        if kind is RowOpKind.INSERT and not self.by_row:
            chunks = self._chunks()
            return transaction.insert(
                self.table, (self._operations(transaction, kind, one) for one in chunks)
            )
        return sum(self._write_by_row(transaction, kind, chunk) for chunk in self._chunks())

    def _operations(
        self, transaction: Transaction, kind: RowOpKind, chunk: _Chunk
    ) -> RowOperations:
        columns = transaction.coerce(self.table, _by_id(self.table, chunk.rows))
        return RowOperations(kind, columns, chunk.rows.num_rows)

    def _write_by_row(self, transaction: Transaction, kind: RowOpKind, chunk: _Chunk) -> int:
        columns, before = _by_id(self.table, chunk.rows), transaction.savepoint()
        results = collect_columns(transaction, self.table, kind, columns)
        if results.failed > len(results.errors) and self._keeps_all(results.failed):
            # Only so many rows are reported of one batch.
            transaction.rollback_to(before)
            halves = _halves(chunk)
            return sum(self._write_by_row(transaction, kind, half) for half in halves)
        for error in results.errors:
            self._refuse_row(chunk, error)
        self.rejects.count += results.failed - len(results.errors)
        return len(chunk.records) - results.failed

    def _keeps_all(self, more: int) -> bool:
        return self.options.rejects is not None and (
            self.rejects.count + more <= self.options.max_rejects
        )

    def _chunks(self) -> Iterator[_Chunk]:
        """The rows of all files that fit, in chunks of one set of columns each."""
        waiting: list[tuple[pa.RecordBatch, npt.NDArray[np.int64]]] = []
        of_file: list[int] = []
        size = 0
        for batch, records in self._batches():
            differs = waiting and waiting[0][0].schema != batch.schema
            if differs or size > chunk_bytes(self.store.budget):
                yield _chunk(waiting, of_file)
                waiting, of_file, size = [], [], 0
            waiting.append((batch, records))
            of_file.append(self.rejects.newest)
            size += batch.nbytes
        if waiting:
            yield _chunk(waiting, of_file)

    def _batches(self) -> Iterator[tuple[pa.RecordBatch, npt.NDArray[np.int64]]]:
        before, total = 0, sum(source.file.size for source in self.files)
        for source in self.files:
            if source.is_empty:
                continue
            with closing(source.open(self.table)) as rows:
                if source.kind.format != "json":  # there each record has columns of its own
                    kind = operation_of(self.options.operation)
                    check_columns(self.table, kind, [column.id for column in rows.columns])
                self.rejects.begin(source.file.path, rows)
                for fitting in fitting_rows(rows, faults, self.time, self._check, self._refuse):
                    self._loaded_rows += fitting.rows.num_rows
                    self._tell(before + min(rows.bytes_read, source.file.size), total)
                    if fitting.rows.num_rows:
                        yield fitting.rows, fitting.records
            before += source.file.size

    def _tell(self, position: int, total: int) -> None:
        """Say how far the load is. `position`: among the bytes of all files."""
        text = f"{noun_count(self._loaded_rows, 'row')}, {position:,} of {total:,} bytes"
        self.options.progress(text)

    def _check(self) -> None:
        """End a load that is not to be done for its rejects, where they are only counted."""
        if self.options.rejects is not None and self.rejects.count > self.options.max_rejects:
            raise self._too_many()

    def _refuse(self, unfit: UnfitRow) -> None:
        is_torn = unfit.error.sqlstate == TORN
        reason = ("the line cannot be taken apart: " if is_torn else "") + unfit.error.message
        kind = NO_VALUE if unfit.cells is not None else BROKEN
        self.rejects.add(RejectedRecord(unfit.record, kind, reason, unfit.reject_text()))

    def _refuse_row(self, chunk: _Chunk, error: RowError) -> None:
        """Note a row that the table refuses."""
        place = error.position
        kind, reason = self._reason(chunk, error)
        row = chunk.rows.slice(place, 1).to_pylist()[0]
        record = int(chunk.records[place])
        self.rejects.add(
            RejectedRecord(record, kind, reason, json_row(row)), int(chunk.files[place])
        )

    def _reason(self, chunk: _Chunk, error: RowError) -> tuple[str, str]:
        columns = _by_id(self.table, chunk.rows)
        match error.sqlstate:
            case AlreadyPresentError.default_sqlstate if self._was_there(chunk, error.position):
                kind = PRESENT
            case AlreadyPresentError.default_sqlstate:
                kind = TWICE
            case RowNotFoundError.default_sqlstate:
                kind = MISSING
            case _:
                return rule_reason(self.table, columns, error.position, error)
        return kind, key_reason(kind, key_of(self.table, columns, error.position))

    def _was_there(self, chunk: _Chunk, place: int) -> bool:
        """Whether the table has the key of a row without this load."""
        schema = self.table.schema
        row = chunk.rows.slice(place, 1)
        key = tuple(
            array_to_cells(row.column(column.name).combine_chunks(), column.type)[0]
            for column in schema.key_columns
        )
        reader = self.store.begin()
        try:
            return reader.lookup(self.table, key, schema.key_ids) is not None
        finally:
            reader.rollback()

    def checked_rejects(self) -> list[Reject]:
        """The rows left out, with their places.

        Raises DataError: they may not be, or they are too many; IntegrityError: they may not be,
        and all there is to say of them are their keys.
        """
        options, count = self.options, self.rejects.count
        if options.rejects is not None:
            if count > options.max_rejects:
                raise self._too_many()
            return self.rejects.located(count)
        if count:
            raise self._too_many()
        return []

    def _too_many(self) -> DataError | IntegrityError:
        most = None if self.options.rejects is None else self.options.max_rejects
        return unfit_rows_error(self.rejects.located(MAX_LISTED_REJECTS), self.rejects.count, most)


def _by_id(table: TableInfo, rows: pa.Table) -> Mapping[int, pa.ChunkedArray]:
    by_name = table.schema.by_name
    return {
        by_name[name].id: values
        for name, values in zip(rows.column_names, rows.columns, strict=True)
    }


def _chunk(
    waiting: Sequence[tuple[pa.RecordBatch, npt.NDArray[np.int64]]], of_file: Sequence[int]
) -> _Chunk:
    rows = pa.Table.from_batches([batch for batch, _ in waiting])
    lengths = [batch.num_rows for batch, _ in waiting]
    files = np.repeat(np.array(of_file, np.int64), lengths)
    return _Chunk(rows, files, np.concatenate([records for _, records in waiting]))


def _halves(chunk: _Chunk) -> Sequence[_Chunk]:
    middle = chunk.rows.num_rows // 2
    spans = ((0, middle), (middle, chunk.rows.num_rows))
    return [
        _Chunk(chunk.rows.slice(a, b - a), chunk.files[a:b], chunk.records[a:b]) for a, b in spans
    ]
