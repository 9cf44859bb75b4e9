"""SELECTs whose result is what the scan of their one table gives: no engine, few calls.

That is done where little is read (`is_small`), for the engine takes about a millisecond to set up
a query; and where a condition selects rows that can be held (`selected_rows`): the engine would
evaluate it once more and copy what is left, which takes up to twice as long. Rows that go to a file
are read that way whatever their number (`scanned_batches`), since a process that exports a table
then needs no engine. The rows, their types and their order are those that the engine would hand on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pykudu_sql.executor.reading.query_parameters import check_parameter_values
from pykudu_sql.executor.reading.row_batches import (
    RowBatches,
    as_results,
    result_arrow,
    row_batches,
)
from pykudu_sql.executor.reading.scans import prepared_scan
from pykudu_sql.executor.reading.sorted_places import sorted_places
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.template import fill
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import ScannedRows
from pykudu_sql.results.result import result_type
from pykudu_sql.storage.common.predicate.column_predicate import ALWAYS
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.value_bytes import table_bytes
from pykudu_sql.storage.scan.bounded_rows import (
    few_within,
    matching_count,
    matching_within,
    with_ranges,
)
from pykudu_sql.storage.scan.small_scan import is_small
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock
from pykudu_sql.storage.transaction.transaction import Transaction

MOST_ROWS = 64 * 1024


def deciding_scan(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> TableScan | None:
    """The scan whose rows are the result, not read yet.

    None where the engine computes something of them, or compares a value that no predicate holds
    exactly. Raises InterfaceError: a parameter has no value; DataError: one does not fit.
    """
    scanned = query.scanned
    if scanned is None:
        return None
    column_ids = dict.fromkeys((*scanned.outputs, *(key.column_id for key in scanned.sort)))
    return exact_scan(state, query, tuple(column_ids), scanned.order, parameters, transaction)


def counted_rows(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> int | None:
    """How many rows match, where the query counts nothing else; see `deciding_scan`."""
    if not query.counted:
        return None
    table_scan = exact_scan(state, query, (), ScanOrder.NONE, parameters, transaction)
    return None if table_scan is None else matching_count(table_scan)


def exact_scan(
    state: SessionState,
    query: Query,
    column_ids: tuple[int, ...],
    order: ScanOrder,
    parameters: ParameterValues,
    transaction: Transaction,
    stats: ScanStats | None = None,
) -> TableScan | None:
    """The scan of a query's one table for some columns, which gives the rows of its WHERE.

    None where it compares a value that no predicate holds exactly. `stats`: counts what is read.
    Raises Error: as `deciding_scan`.
    """
    (scan,) = query.scans
    predicate = None
    if scan.predicate is not None:
        filled = fill(scan.predicate, parameters)
        if not filled.is_exact:
            return None
        predicate = None if filled.predicate == ALWAYS else filled.predicate
    state.check_cancelled()
    check_parameter_values(query, parameters, state.engine, state.computed_types)
    narrowed = replace(scan, column_ids=column_ids, order=order, validity_ids=frozenset())
    return prepared_scan(state, narrowed, predicate, transaction, stats)


def scanned_rows(
    state: SessionState, query: Query, table_scan: TableScan | None
) -> pa.Table | None:
    """The rows of a query by its scan alone, where that looks at few; else None.

    `table_scan`: the `deciding_scan` of the query. Raises Error: see `queries.compute`.
    """
    if table_scan is None:
        return None
    row_filter = table_scan.row_filter()
    if not is_small(table_scan, row_filter, MOST_ROWS, _most_bytes(state)):
        return None
    if row_filter is not None:  # rowsets are read side by side only where much is left of them
        table_scan = with_ranges(table_scan)
    return _rows_of(state, query, table_scan, list(table_scan.exact_blocks(row_filter)))


def selected_rows(
    state: SessionState, query: Query, table_scan: TableScan | None
) -> pa.Table | None:
    """The rows of a query that a condition selects, however many are looked at.

    None where the engine has to make them: they are many, or all rows are wanted.

    `table_scan`: the `deciding_scan` of the query. Raises Error: see `queries.compute`.
    """
    if table_scan is None or not query.is_selection:
        return None
    blocks = matching_within(table_scan, _most_bytes(state))
    return None if blocks is None else _rows_of(state, query, table_scan, blocks)


def first_rows(state: SessionState, query: Query, table_scan: TableScan | None) -> pa.Table | None:
    """The rows of a query that was narrowed to a few; None where the engine has to make them.

    `table_scan`: the `deciding_scan` of the query. Raises Error: see `queries.compute`.
    """
    if table_scan is None:
        return None
    blocks = few_within(table_scan, _most_bytes(state))
    return None if blocks is None else _rows_of(state, query, table_scan, blocks)


def _rows_of(
    state: SessionState, query: Query, table_scan: TableScan, blocks: Sequence[RowBlock]
) -> pa.Table | None:
    return _result(state, query, _columns(table_scan.columns, blocks))


def _most_bytes(state: SessionState) -> int:
    settings = state.settings
    return min(settings.scan_memory_bytes, settings.result_memory_bytes, state.store.budget.free)


def _result(
    state: SessionState, query: Query, columns: Mapping[int, pa.Array | pa.ChunkedArray]
) -> pa.Table | None:
    """The result that columns of exactly the query's rows are; None if the engine has to sort."""
    scanned = query.scanned
    assert scanned is not None
    arrays = [columns[column_id] for column_id in scanned.outputs]
    table = pa.Table.from_arrays(arrays, names=list(query.names))
    if scanned.sort:
        order = sorted_places(columns, scanned)
        if order is None:
            return None
        table = table.take(order)
    elif scanned.offset:
        table = table.slice(scanned.offset)
    state.store.budget.hold(table, table_bytes(table))
    return table


def scanned_batches(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    most: int,
) -> RowBatches | None:
    """The same rows while they are read, however many there are; None where the engine has to.

    `most`: bytes that are read in one go. Raises Error: see `queries.compute`.
    """
    scanned = query.scanned
    if scanned is None or scanned.offset or scanned.sort:
        return None
    table_scan = deciding_scan(state, query, parameters, transaction)
    if table_scan is None:
        return None
    table_scan = replace(table_scan, piece_bytes=min(most, table_scan.piece_bytes))
    return row_batches(table_scan, scanned.outputs, query.names)


def result_types(query: Query, scanned: ScannedRows) -> Sequence[str]:
    """The SQL types of the result's columns, as the engine calls them."""
    by_id = query.scans[0].table.schema.by_id
    return [str(result_type(by_id[column_id].type)) for column_id in scanned.outputs]


def _columns(
    read: Sequence[ColumnSchema], blocks: Sequence[RowBlock]
) -> dict[int, pa.Array | pa.ChunkedArray]:
    """The columns of blocks, by id, of the types of a result."""
    columns: dict[int, pa.Array | pa.ChunkedArray] = {}
    for place, column in enumerate(read):
        chunks = list(as_results([block.columns[place] for block in blocks], column.type))
        if len(chunks) == 1:  # gives away the interpreter's lock twice less than chunks do
            columns[column.id] = chunks[0]
        else:
            columns[column.id] = pa.chunked_array(chunks, result_arrow(column.type))
    return columns
