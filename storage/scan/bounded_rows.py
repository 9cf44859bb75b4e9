"""Whether the rows of a scan fit into so many bytes; if so, the rows.

What a scan takes is judged from metadata, then from a sample, then by reading:

* `exceeds` multiplies rows by their width, whatever the predicate.
* `with_ranges` asks zone maps, indexes and keys what they leave of the rows, and `rows_to_read`
  how many of these are not deleted.
* `read_within` reads a sample of those, and where few enough of them match, all; it stops at the
  bytes that it was given, so a sample that misleads costs time and no memory.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pyarrow as pa

from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.ingest.table import assemble
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

SAMPLED_ROWSETS = 4
SAMPLE_ROWS = 64 * 1024


def exceeds(scan: TableScan, size: int) -> bool:
    """Whether all rows together may take more than `size` bytes, whatever the predicate."""
    rows, limit = scan.row_count, scan.spec.limit
    if limit is None or limit >= rows:
        return scan.estimated_within(size) > size
    if not limit:
        return False
    return scan.estimated_within(size * rows // limit) * limit > size * rows


def with_ranges(scan: TableScan) -> TableScan:
    """The scan, with what zone maps, indexes and keys leave of its rowsets; looked at once."""
    row_filter = scan.row_filter()
    return replace(scan, reads=[_with_ranges(scan, read, row_filter) for read in scan.reads])


def rows_to_read(scan: TableScan) -> int:
    """At least as many rows as match: those alive in the stretches that may have some."""
    return sum(_alive_rows(scan, read) for read in with_ranges(scan).reads)


def read_within(scan: TableScan, most: int) -> pa.Table | None:
    """All rows, and perhaps some that do not match; None if they take more than `most` bytes.

    `scan`: without limit and order. Raises CorruptionError, DiskError: the rows cannot be read.
    """
    scan = with_ranges(scan)
    row_filter = scan.row_filter()
    parts = [(read, _alive_rows(scan, read)) for read in scan.reads]
    rows = sum(alive for _, alive in parts)
    fitting = most * max(1, scan.row_count)
    if scan.estimated_within(fitting // max(1, rows)) * rows <= fitting:
        return scan.to_table()
    if row_filter is None or _sampled_size(scan, parts, row_filter.exactly()) * rows > most:
        return None
    stats = ScanStats()
    blocks: list[RowBlock] = []
    remaining = most
    for block in replace(scan, stats=stats).exact_blocks(row_filter):
        remaining -= _size(block)
        if remaining < 0:
            return None
        blocks.append(block)
    if scan.stats is not None:
        scan.stats.add(stats)
    return assemble(scan.shown_columns, iter(blocks))


def _with_ranges(scan: TableScan, read: RowSetRead, row_filter: RowFilter | None) -> RowSetRead:
    rowset = read.rowset
    if read.ranges is not None or not isinstance(rowset, DiskRowSet):
        return read
    ranges = rowset.ranges_to_read(row_filter, scan.bound, read.own, scan.stats)
    return replace(read, ranges=ranges)


def _alive_rows(scan: TableScan, read: RowSetRead) -> int:
    """The rows that a scan has to look at of a rowset."""
    rowset, count = read.rowset, read.rows
    ranges = [(0, count)] if read.ranges is None else read.ranges
    alive = rowset.view(scan.bound, read.own).alive(count) if ranges else None
    return sum(
        stop - start if alive is None else int(np.count_nonzero(alive[start:stop]))
        for start, stop in ranges
    )


def _sampled_size(
    scan: TableScan, parts: Sequence[tuple[RowSetRead, int]], exact: RowFilter
) -> float:
    """Bytes that matching rows take, by each row looked at; from the beginnings of some rowsets.

    `parts`: the rowsets, and how many rows are to be looked at of each.
    """
    largest = sorted((part for part in parts if part[1]), key=itemgetter(1))[-SAMPLED_ROWSETS:]
    stats, size = ScanStats(), 0
    for read, _ in largest:
        rowset = read.rowset
        if not isinstance(rowset, DiskRowSet) or not read.ranges:
            continue
        start, stop = read.ranges[0]
        scan.cancel_check()
        for block in rowset.scan(
            scan.columns,
            exact,
            scan.bound,
            read.own,
            ranges=[(start, min(stop, start + SAMPLE_ROWS))],
            stats=stats,
            cache_blocks=scan.cache_blocks,
        ):
            size += _size(block)
    return size / max(1, stats.rows_scanned)


def _size(block: RowBlock) -> int:
    return sum(column.nbytes for column in block.columns)
