"""Queries for the first rows of a table, narrowed to the rows that reach a bound.

See `planner.pushdown.top_rows`. A narrowed query has the rows of the whole one if it has as many
as that expects: all rows that were left out come after those.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from pykudu_sql.executor.reading.row_batches import observed_scan
from pykudu_sql.executor.reading.scans import pruned_scan, relation_of
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.template import all_of, bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.planner.plan.plan import Query, Scan
from pykudu_sql.planner.plan.query_plans import TopRows
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.common.predicate.column_predicate import (
    Comparison,
    IsNull,
    Op,
    Or,
    Predicate,
)
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.scan.bounded_rows import sampled, with_ranges
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.scan.top_bound import bound_of_blocks, bound_of_column
from pykudu_sql.storage.transaction.transaction import Transaction

_LEAST_ROWS: Final = 8 * 1024  # fewer are read as fast as metadata are asked
_FEW_ROWS: Final = 256  # may be held, however wide they are
_LEAST_READ: Final = 64 * 1024  # of rows whose column is read alone
_MOST_SHARE: Final = 4  # blocks with more than a fourth of the rows are no gain
_SAMPLE_ROWS: Final = 4096  # of a rowset
# Rows of blocks that are counted for each that is needed: some are deleted, or do not match.
_FACTORS: Final = (1, 64)


def narrowed_queries(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> Iterator[Query]:
    """Queries that read fewer rows, the fewest first; none where that would be no gain.

    `query`: which needs its first rows. Raises Error: see `queries.compute`.
    """
    top = query.top
    if top is None:
        return
    scan = query.scans[0]
    predicate = bind_predicate(scan.predicate, parameters)
    for reached in _reaching(state, scan, top, predicate, transaction):
        parts = [reached] if scan.predicate is None else [scan.predicate, reached]
        yield replace(query, scans=(replace(scan, predicate=all_of(parts)),), top=None)


def first_rows_of(
    state: SessionState, scan: Scan, transaction: Transaction, stats: ScanStats | None, most: int
) -> pa.Table | None:
    """The rows of a scan among which are the first that a subquery needs.

    None where all have to be read, or nothing would be gained. `scan`: without a predicate; for
    `stats`, `most` see `relation_of`. Raises Error: see there.
    """
    top = scan.top
    if top is None:
        return None
    column = scan.table.schema.by_id[top.column_id]
    for reached in _reaching(state, scan, top, None, transaction):
        rows = relation_of(state, scan, reached, transaction, stats, most)
        if not isinstance(rows, pa.Table):
            return None
        types = {column.id: column.type}
        counts = [
            np.count_nonzero(evaluate(reached, {column.id: chunk}, types))
            for chunk in rows.column(column.name).chunks
        ]
        if sum(counts) >= top.rows:
            return rows
    return None


def _reaching(
    state: SessionState,
    scan: Scan,
    top: TopRows,
    predicate: Predicate | None,
    transaction: Transaction,
) -> Iterator[Predicate]:
    """Conditions of the rows that reach a bound, the fewest rows first.

    `predicate`: of the scan, filled in. None where that would be no gain.
    """
    if isinstance(scan.table, FrameTable) or is_system(scan.table):
        return
    pruned = pruned_scan(scan, predicate, transaction)
    if pruned.row_count < _LEAST_ROWS:
        return
    most = state.settings.result_memory_bytes
    if top.rows > _FEW_ROWS and top.rows * pruned.row_bytes > most:
        return  # so many are not held, but read while they are fetched
    ranged, descending = with_ranges(pruned), top.descending
    column = scan.table.schema.by_id[top.column_id]
    rows = sum(read.most_rows(None, ranged.bound) for read in ranged.reads)
    last: Cell = None
    share = _matching_share(ranged, column) if top.filtered else 1.0
    for factor in _FACTORS[top.filtered :]:
        bound = bound_of_blocks(ranged, column, factor * top.rows, descending=descending)
        if bound is None or bound.rows * _MOST_SHARE > rows or bound.rows * share < top.rows:
            break
        if bound.cell != last:
            yield _reached(top, bound.cell)
        last = bound.cell
    # Where rows are filtered, those that match are few, or enough of them near the first ones.
    is_read = len(scan.column_ids) > 1 and rows >= _LEAST_READ and not top.filtered
    if not is_read or not 0 < column.type.width <= 8:
        return
    whole = observed_scan(state, scan.table, pruned)
    cell = bound_of_column(whole, column, top.rows, descending=descending)
    if cell is not None and cell != last:
        yield _reached(top, cell)


def _matching_share(scan: TableScan, column: ColumnSchema) -> float:
    """About how many of the rows of a scan match its predicate, of one."""
    row_filter = scan.row_filter()
    if row_filter is None:
        return 1.0
    alone = scan.project([scan.spec.column_ids.index(column.id)])
    return sampled(alone, row_filter, _SAMPLE_ROWS).share


def _reached(top: TopRows, cell: Cell) -> Predicate:
    """The condition of the rows that reach a cell."""
    reached = Comparison(top.column_id, Op.GE if top.descending else Op.LE, cell)
    return Or((IsNull(top.column_id), reached)) if top.nulls_first else reached
