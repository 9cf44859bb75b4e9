"""COUNT, MIN and MAX of a whole table from the metadata of its rowsets, without reading rows.

The number of rows a snapshot sees follows from each rowset's size and from which of its rows are
deleted, so it is always known. The least and the greatest cell of a column are those of the zone
maps where these are exact and nothing interferes: no row of the rowset deleted, nothing in memory.
Where deltas changed the column few of its blocks are read (`changed_extremes`). Kudu keeps live row
counts for the same reason (`tablet/rowset.h`, CountLiveRows).
"""

from collections.abc import Sequence

import numpy as np

from pykudu_sql.storage.common.predicate.column_domain import compare
from pykudu_sql.storage.common.predicate.scan_spec import Summary, SummaryKind
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.scan.changed_extremes import changed_extremes
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet


def summarize(scan: TableScan, summaries: Sequence[Summary]) -> tuple[Cell, ...] | None:
    """Facts about all rows of a scan, in order; None when metadata do not have them all exactly."""
    facts: list[Cell] = []
    for summary in summaries:
        if summary.column_id is None:
            facts.append(count_rows(scan.reads, scan.bound))
            continue
        column = scan.schema.by_id[summary.column_id]
        bounds = extremes(scan.reads, scan.bound, column)
        if bounds is None:
            return None
        facts.append(bounds[summary.kind is SummaryKind.MAX])
    return tuple(facts)


def count_rows(reads: Sequence[RowSetRead], bound: SnapshotBound) -> int:
    """The rows that a snapshot sees in some rowsets."""
    return sum(_living(read, bound) for read in reads)


def _living(read: RowSetRead, bound: SnapshotBound) -> int:
    alive = read.rowset.view(bound, read.own).alive(read.rows)
    return read.rows if alive is None else int(np.count_nonzero(alive))


def extremes(
    reads: Sequence[RowSetRead], bound: SnapshotBound, column: ColumnSchema
) -> tuple[Cell, Cell] | None:
    """The least and the greatest cell of a column, both NULL where it has none.

    Returns None when metadata do not have them exactly.
    """
    lows: list[Cell] = []
    highs: list[Cell] = []
    for read in reads:
        bounds = _extremes_of(read, bound, column)
        if bounds is None:
            return None
        low, high = bounds
        if low is not None:
            lows.append(low)
            highs.append(high)
    if not lows:
        return None, None
    least, greatest = lows[0], highs[0]
    for low, high in zip(lows, highs, strict=True):
        least = low if compare(low, least) < 0 else least
        greatest = high if compare(high, greatest) > 0 else greatest
    return least, greatest


def _extremes_of(
    read: RowSetRead, bound: SnapshotBound, column: ColumnSchema
) -> tuple[Cell, Cell] | None:
    rowset = read.rowset
    if not isinstance(rowset, DiskRowSet):
        return None
    view = rowset.view(bound, read.own)
    if view.alive(rowset.meta.rows) is not None:
        return None
    is_changed = bool(view.layers(column.id))
    zone = rowset.base.zone_map(column.id)
    if zone is None:
        return None if is_changed else (column.read_default, column.read_default)
    if is_changed:
        return changed_extremes(rowset.base, view, zone, column)
    stats = zone.column_stats
    if stats.null_count == stats.row_count:
        return None, None
    return (stats.min, stats.max) if zone.is_exact and stats.min is not None else None
