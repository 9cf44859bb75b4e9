"""Rows that are written while they come: the first of them in memory, the others in chunks.

A statement whose rows end within the first chunk is written as one batch. An INSERT of more rows
takes one chunk after the other (`Transaction.insert`), so that memory does not grow with them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pykudu_sql.executor.writing.collecting import Columns, collect_columns
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults, joined
from pykudu_sql.storage.transaction.transaction import Transaction

CHUNK_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class RowStream:
    """Rows of one statement.

    Attributes:
        schema: of the batches.
        first: the first batches.
        is_all: whether there are no others.
        read: the batch behind those and each later one, None at the end.
    """

    schema: pa.Schema
    first: Sequence[pa.RecordBatch]
    is_all: bool
    read: Callable[[], pa.RecordBatch | None]

    def chunks(self) -> Iterator[pa.Table]:
        """All rows, a table for the first batches and for each `CHUNK_BYTES` of the others."""
        yield pa.Table.from_batches(self.first, self.schema)
        is_last = self.is_all
        while not is_last:
            batches, is_last = read_chunk(self.read)
            yield pa.Table.from_batches(batches, self.schema)
            del batches


def read_chunk(
    read: Callable[[], pa.RecordBatch | None],
) -> tuple[list[pa.RecordBatch], bool]:
    """Batches of a chunk, and whether they are the last. `read`: see `RowStream`."""
    batches: list[pa.RecordBatch] = []
    size = 0
    while size <= CHUNK_BYTES:
        batch = read()
        if batch is None:
            return batches, True
        batches.append(batch)
        size += batch.nbytes
    return batches, False


def stream_of(reader: pa.RecordBatchReader) -> RowStream:
    """The rows of an Arrow reader."""

    def read() -> pa.RecordBatch | None:
        return next(reader, None)

    first, is_all = read_chunk(read)
    return RowStream(reader.schema, first, is_all, read)


def insert_chunks(
    mode: RowErrorMode, transaction: Transaction, table: TableInfo, chunks: Iterator[Columns]
) -> RowResults:
    """Insert rows given as chunks of columns of any Arrow type, by column id.

    `mode`: what to do about bad rows. Raises DataError, IntegrityError: a value or a row does not
    fit; or what taking a chunk raises; the transaction must go back to where it was.
    """
    kind = RowOpKind.INSERT
    if mode is RowErrorMode.COLLECT:
        collected = map(lambda chunk: collect_columns(transaction, table, kind, chunk), chunks)
        return joined(list(collected))

    def fitting(columns: Columns) -> RowOperations:
        length = max(map(len, columns.values()), default=0)
        return RowOperations(kind, transaction.coerce(table, columns), length)

    return RowResults(transaction.insert(table, map(fitting, chunks)), 0, 0, ())
