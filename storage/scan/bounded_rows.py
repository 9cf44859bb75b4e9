"""Whether the rows of a scan fit into so many bytes; if so, the rows.

What a scan takes is judged from metadata, then from a sample, then by reading:

* `exceeds` multiplies rows by their width, whatever the predicate.
* `rows_to_read` knows what zone maps, indexes, keys and deletions leave of the rows.
* `read_within` reads a sample of those, and where few enough of them match, all; it stops at the
  bytes that it was given, so a sample that misleads costs time and no memory.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.ingest.table import assemble
from pykudu_sql.storage.scan.table_scan import RowSetRead, TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.pruning import Range
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


def rows_to_read(scan: TableScan) -> int:
    """At least as many rows as match: those alive in the stretches that may have some."""
    return sum(part.rows for part in _parts(scan, scan.row_filter()))


def read_within(scan: TableScan, most: int) -> pa.Table | None:
    """All rows, and perhaps some that do not match; None if they take more than `most` bytes.

    `scan`: without limit and order. Raises CorruptionError, DiskError: the rows cannot be read.
    """
    row_filter = scan.row_filter()
    parts = list(_parts(scan, row_filter))
    rows = sum(part.rows for part in parts)
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


@dataclass(frozen=True, slots=True)
class _Part:
    """What a scan has to look at of one rowset: `ranges` of it, `rows` of them alive."""

    read: RowSetRead
    ranges: list[Range]
    rows: int


def _parts(scan: TableScan, row_filter: RowFilter | None) -> Iterator[_Part]:
    for read in scan.reads:
        rowset, count = read.rowset, read.rows
        ranges = [(0, count)]
        if isinstance(rowset, DiskRowSet) and not rowset.may_match(row_filter, scan.bound):
            continue
        view = rowset.view(scan.bound, read.own)
        if isinstance(rowset, DiskRowSet):
            ranges = rowset.ranges_of(row_filter, view)
        alive = view.alive(count) if ranges else None
        rows = sum(
            stop - start if alive is None else int(np.count_nonzero(alive[start:stop]))
            for start, stop in ranges
        )
        yield _Part(read, ranges, rows)


def _sampled_size(scan: TableScan, parts: list[_Part], exact: RowFilter) -> float:
    """Bytes that matching rows take, by each row looked at; from the beginnings of some rowsets."""
    largest = sorted((p for p in parts if p.rows), key=lambda part: part.rows)[-SAMPLED_ROWSETS:]
    stats, size = ScanStats(), 0
    for part in largest:
        rowset, (start, stop) = part.read.rowset, part.ranges[0]
        if not isinstance(rowset, DiskRowSet):
            continue
        scan.cancel_check()
        for block in rowset.scan(
            scan.columns,
            exact,
            scan.bound,
            part.read.own,
            within=(start, min(stop, start + SAMPLE_ROWS)),
            stats=stats,
            cache_blocks=scan.cache_blocks,
        ):
            size += _size(block)
    return size / max(1, stats.rows_scanned)


def _size(block: RowBlock) -> int:
    return sum(column.nbytes for column in block.columns)
