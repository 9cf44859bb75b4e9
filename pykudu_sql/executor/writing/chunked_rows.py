"""Rows that are written while they come: the first of them in memory, the others in chunks.

A statement whose rows end within the first chunk is written as one batch. An INSERT of more rows
takes one chunk after the other (`Transaction.insert`), and so does an UPDATE or DELETE of rows by
their addresses (`Transaction.change`), so that memory does not grow with them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.error_boundary import ErrorBoundary
from pykudu_sql.executor.reading.row_batches import RowBatches, table_batches
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.settings import EMBEDDED
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.memory_budget import MemoryBudget
from pykudu_sql.storage.common.row_allowance import LEAST_WIDE_BYTES, rows_within
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.errors import SerializationError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.query_plans import Query
    from pykudu_sql.storage.transaction.transaction import Transaction

CHUNK_BYTES = 256 << 20
# A changed row is two or three numbers here, and ten times as much in stores and log.
CHANGE_BYTES = 32 << 20
# Rows in memory whose changes may stay there.
MOST_IN_MEMORY = 1000
EXPORT_BYTES = 16 << 20

ArrowColumns = Mapping[int, pa.Array | pa.ChunkedArray]
ReadBatch = Callable[[], pa.RecordBatch | None]


@dataclass(slots=True)
class ChunkedRows:
    """Rows of one statement. Used by one thread.

    Attributes:
        schema: of the batches.
        first: the first batches; None once they are taken and there are others.
        is_all: whether there are no others.
        read: the batch behind those and each later one, None at the end.
        chunk_bytes: of a chunk; its last batch may exceed it.
        close: gives up what is left; closing twice is allowed.
        types: SQL types of the columns, where an engine computes them.
        more_bytes: what each row gets beside those, when it is written.
    """

    schema: pa.Schema
    first: Sequence[pa.RecordBatch] | None
    is_all: bool
    read: ReadBatch
    chunk_bytes: int
    close: Callable[[], None] = lambda: None
    types: tuple[str, ...] = ()
    more_bytes: int = 0

    def chunks(self) -> Iterator[pa.Table]:
        """All rows, a table for the first batches and for each chunk of the others.

        Raises SerializationError: they were taken before, by a statement that lost a race.
        """
        batches, is_last = self.first, self.is_all
        if batches is None:
            raise SerializationError(
                "another session changed the table while rows were inserted that cannot be read "
                "again",
                hint="run the statement again",
            )
        if not is_last:
            self.first = None
        while True:
            waiting = [self._table(batches)]
            del batches  # nothing here holds a chunk while the next one is read
            yield waiting.pop()
            if is_last:
                return
            batches, is_last = _read_chunk(self.read, self.chunk_bytes, self.more_bytes)

    def _table(self, batches: Sequence[pa.RecordBatch]) -> pa.Table:
        return storable(EngineResult(pa.Table.from_batches(batches, self.schema), self.types))


def _read_chunk(
    read: ReadBatch, most: int, more_bytes: int = 0
) -> tuple[Sequence[pa.RecordBatch], bool]:
    """Batches that take more than some bytes, or all that are left, and whether they are.

    `more_bytes`: that each row counts for beside its own.
    """
    batches: list[pa.RecordBatch] = []
    size = 0
    while size <= most:
        batch = read()
        if batch is None:
            return batches, True
        batches.append(batch)
        size += batch.nbytes + more_bytes * batch.num_rows
    return batches, False


def chunk_bytes(budget: MemoryBudget) -> int:
    """Bytes of a chunk, which is in memory about three times while it is written."""
    return budget.piece(CHUNK_BYTES)


def reader_rows(
    reader: pa.RecordBatchReader,
    most: int,
    error_boundary: ErrorBoundary,
    cancel_check: CancelCheck = never_cancelled,
) -> ChunkedRows:
    """The rows of an Arrow reader.

    Args:
        reader: of the program: what it raises leaves the API as it is.
        most: bytes of a chunk; its last batch may exceed it.
        error_boundary: of the statement.
        cancel_check: called before each batch, of which a chunk may have any number.
    """

    def read() -> pa.RecordBatch | None:
        cancel_check()
        with error_boundary.program_code():
            return next(reader, None)

    return ChunkedRows(reader.schema, *_read_chunk(read, most), read, most)


def file_rows(schema: pa.Schema, read: ReadBatch, most: int) -> ChunkedRows:
    """The rows of files that somebody else closes.

    `schema`: of the batches; `read`: the next batch, None at the end; `most`: bytes of a chunk.
    """
    return ChunkedRows(schema, *_read_chunk(read, most), read, most)


def query_rows(
    state: SessionState,
    query: "Query",
    parameters: ParameterValues,
    transaction: "Transaction",
    more_bytes: int = 0,
) -> ChunkedRows:
    """The rows of a query, ready to be stored; all in memory where Spark computes them.

    `more_bytes`: what each row gets beside what the query gives. Raises Error: see `answer`.
    """
    rows = _streamed_query(state, query, parameters, transaction, CHUNK_BYTES)
    return _with_more(rows, chunk_bytes(state.store.budget), more_bytes)


def rows_at_once(
    state: SessionState,
    query: "Query",
    parameters: ParameterValues,
    transaction: "Transaction",
    more_bytes: int = 0,
) -> ChunkedRows:
    """The same, computed before the first one is written, which the query must not see."""
    rows = _answered(state, query, parameters, transaction)
    return _with_more(rows, chunk_bytes(state.store.budget), more_bytes)


def exported_rows(
    state: SessionState, query: "Query", parameters: ParameterValues, transaction: "Transaction"
) -> ChunkedRows:
    """The same in chunks of fewer rows, to be written to a file; without the engine if possible."""
    from pykudu_sql.executor.reading.scanned_rows import scanned_batches

    if state.settings.engine == EMBEDDED:
        size = _export_bytes(state)
        scanned = scanned_batches(state, query, parameters, transaction, size)
        if scanned is not None:
            return _rows_of_batches(scanned, size)
    return _streamed_query(state, query, parameters, transaction, EXPORT_BYTES)


def exported_table(
    state: SessionState, table: TableInfo, transaction: "Transaction"
) -> ChunkedRows:
    """All rows of a stored table in such chunks, the columns that `*` shows; without an engine."""
    size = _export_bytes(state)
    return _rows_of_batches(table_batches(state, table, transaction, size), size)


def _export_bytes(state: SessionState) -> int:
    return min(EXPORT_BYTES, chunk_bytes(state.store.budget))


def _rows_of_batches(rows: RowBatches, size: int) -> ChunkedRows:
    read = partial(next, rows.batches, None)
    return ChunkedRows(rows.schema, *_read_chunk(read, size), read, size, rows.batches.close)


def _streamed_query(
    state: SessionState,
    query: "Query",
    parameters: ParameterValues,
    transaction: "Transaction",
    most: int,
) -> ChunkedRows:
    if state.settings.engine != EMBEDDED:
        return _answered(state, query, parameters, transaction)
    size = min(most, chunk_bytes(state.store.budget))
    return _streamed(state, query, parameters, transaction, size)


def _answered(
    state: SessionState, query: "Query", parameters: ParameterValues, transaction: "Transaction"
) -> ChunkedRows:
    from pykudu_sql.executor.reading.queries import answer

    result = answer(state, query, parameters, transaction)
    batches = result.table.to_batches()
    return ChunkedRows(result.table.schema, batches, True, lambda: None, 0, types=result.types)


def change_rows(
    state: SessionState,
    query: "Query",
    parameters: ParameterValues,
    transaction: "Transaction",
    more_bytes: int,
) -> ChunkedRows:
    """The rows of a query that names rows by their addresses, ready to be stored.

    `more_bytes`: what each row gets beside what the query gives. Raises Error: see `compute`.
    """
    size = min(CHANGE_BYTES, chunk_bytes(state.store.budget))
    return _with_more(_streamed(state, query, parameters, transaction, size), size, more_bytes)


def _with_more(rows: ChunkedRows, size: int, more_bytes: int) -> ChunkedRows:
    """Rows in chunks of about a size together with what each gets beside its own."""
    if more_bytes < LEAST_WIDE_BYTES:
        return rows
    slices = _slices(rows, rows_within(size, more_bytes, CHUNK_BYTES))
    read = partial(next, slices, None)
    first, is_all = _read_chunk(read, size, more_bytes)
    chunked = replace(rows, first=first, is_all=is_all, read=read)
    return replace(chunked, chunk_bytes=size, more_bytes=more_bytes)


def _slices(rows: ChunkedRows, most: int) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, of no more rows than `most`."""
    later = iter(()) if rows.is_all else iter(rows.read, None)
    for batch in chain(rows.first or (), later):
        for first in range(0, batch.num_rows, most):
            yield batch.slice(first, most)


def _streamed(
    state: SessionState,
    query: "Query",
    parameters: ParameterValues,
    transaction: "Transaction",
    size: int,
) -> ChunkedRows:
    from pykudu_sql.executor.reading.queries import query_stream

    stream = query_stream(state, query, parameters, transaction, size)
    first = (stream.schema, stream.batches, stream.is_all)
    return ChunkedRows(*first, stream.read, size, stream.close, stream.types)


def write_rows(
    mode: RowErrorMode,
    transaction: "Transaction",
    table: TableInfo,
    kind: RowOpKind,
    rows: ChunkedRows,
    columns_of: Callable[[pa.Table], ArrowColumns],
    cancel_check: CancelCheck = never_cancelled,
) -> RowResults:
    """Do an operation on the rows of a stream, each chunk when it is read.

    Args:
        mode: what to do about bad rows.
        columns_of: columns of a chunk, of any Arrow type, by the ids of those that they fill.
        cancel_check: called while bad rows are looked for.

    Raises DataError, IntegrityError: a value or a row does not fit; SerializationError: see
    `ChunkedRows`; or what reading or `cancel_check` raises; the transaction must go back to where
    it was.
    """
    chunks = map(columns_of, rows.chunks())
    if rows.is_all:
        return write_columns(mode, transaction, table, kind, next(chunks), cancel_check)
    if mode is RowErrorMode.COLLECT:
        from pykudu_sql.executor.writing.collecting import fitting_columns, write_fitting_batches

        fitting_rows = (
            fitting_columns(transaction, table, kind, chunk, cancel_check) for chunk in chunks
        )
        return write_fitting_batches(transaction, table, fitting_rows)

    def fitting(columns: ArrowColumns) -> RowOperations:
        return operations_of(transaction, table, kind, columns)

    return write_batches(transaction, table, kind, map(fitting, chunks))


def write_batches(
    transaction: "Transaction", table: TableInfo, kind: RowOpKind, batches: Iterable[RowOperations]
) -> RowResults:
    """Do operations of one kind that come in batches, in memory for one of them.

    `batches`: each taken when the one before is written. Raises as `write_rows`.
    """
    if kind is not RowOpKind.INSERT:
        return transaction.write_batches(table, batches)
    return RowResults(transaction.insert(table, batches), 0, 0, ())


def write_columns(
    mode: RowErrorMode,
    transaction: "Transaction",
    table: TableInfo,
    kind: RowOpKind,
    columns: ArrowColumns,
    cancel_check: CancelCheck = never_cancelled,
) -> RowResults:
    """Do an operation on rows given as columns of any Arrow type, by column id.

    `mode`: what to do about bad rows; `columns`: the columns set; `cancel_check`: called while bad
    rows are looked for. Raises DataError, IntegrityError: a value or a row does not fit, or what
    `cancel_check` raises; nothing was done.
    """
    if mode is RowErrorMode.COLLECT:
        from pykudu_sql.executor.writing.collecting import collect_columns

        return collect_columns(transaction, table, kind, columns, cancel_check)
    return transaction.write(table, operations_of(transaction, table, kind, columns))


def operations_of(
    transaction: "Transaction", table: TableInfo, kind: RowOpKind, columns: ArrowColumns
) -> RowOperations:
    """Rows given as columns of any Arrow type, by column id, as operations."""
    length = max(map(len, columns.values()), default=0)
    return RowOperations(kind, transaction.coerce(table, columns), length)
