"""The rows of a scan as the batches of a result: their types are those that the engine gives."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.scan.scan_token import BATCH_ROWS
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.rowset import TextForm

if TYPE_CHECKING:
    from pykudu_sql.storage.transaction.transaction import Transaction


@dataclass(frozen=True, slots=True)
class RowBatches:
    """Rows while they are read.

    Attributes:
        schema: of the batches.
        batches: closed by whoever does not read all of them.
    """

    schema: pa.Schema
    batches: Generator[pa.RecordBatch, None, None]


def observed_scan(
    state: SessionState, table: TableInfo, scan: TableScan, texts: TextForm = TextForm.STRINGS
) -> TableScan:
    """A scan of a table, not read yet, that can be cancelled and whose progress is shown.

    `texts`: how these come.
    """
    counter = state.counter(f"reading {table.name}", scan.row_count)
    return replace(scan, cancel_check=state.check_cancelled, counter=counter, texts=texts)


def table_batches(
    state: SessionState, table: TableInfo, transaction: "Transaction", most: int
) -> RowBatches:
    """All rows of a stored table while they are read, the columns that `*` shows.

    `most`: bytes that are read in one go. Raises CorruptionError, DiskError: see `relation_of`.
    """
    columns = table.schema.visible_columns
    column_ids = tuple(column.id for column in columns)
    scan = observed_scan(state, table, transaction.scan(table, ScanSpec(column_ids)))
    scan = replace(scan, piece_bytes=min(most, scan.piece_bytes))
    return row_batches(scan, column_ids, [column.name for column in columns])


def row_batches(
    table_scan: TableScan, output_ids: Sequence[int], names: Sequence[str]
) -> RowBatches:
    """The rows of a scan while they are read; `output_ids`, `names`: of the result's columns."""
    by_id = {column.id: column.type for column in table_scan.columns}
    types = [result_arrow(by_id[column_id]) for column_id in output_ids]
    schema = pa.schema(list(zip(names, types, strict=True)))
    return RowBatches(schema, _batches(table_scan, output_ids, schema))


def _batches(
    table_scan: TableScan, output_ids: Sequence[int], schema: pa.Schema
) -> Generator[pa.RecordBatch, None, None]:
    places = {column.id: place for place, column in enumerate(table_scan.columns)}
    outputs = [(places[i], table_scan.columns[places[i]].type) for i in output_ids]
    row_filter = table_scan.row_filter()
    # Without a condition every row is exact, and the next ones are read beside the work on these.
    blocks = table_scan.stretches() if row_filter is None else table_scan.exact_blocks(row_filter)
    for block in blocks:
        for start in range(0, block.length, BATCH_ROWS):
            arrays = [
                array
                for place, stored in outputs
                for array in as_results([block.columns[place].slice(start, BATCH_ROWS)], stored)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def as_results(chunks: Sequence[pa.Array], stored: DataType) -> Iterator[pa.Array]:
    """Chunks as the engine gives them: texts without dictionaries, decimals of 16 bytes."""
    target = result_arrow(stored)
    for chunk in map(plain, chunks):
        yield chunk if chunk.type == target else chunk.cast(target)


def result_arrow(stored: DataType) -> pa.DataType:
    """The Arrow type of a column in a result."""
    if stored.kind is Kind.DECIMAL:
        return pa.decimal128(stored.precision, stored.scale)
    return stored.arrow
