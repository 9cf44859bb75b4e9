"""Whether the rows of a scan fit into so many bytes; if so, the rows.

What a scan takes is judged from metadata, then from a sample, then by reading:

* `exceeds` multiplies rows by their width, whatever the predicate.
* `with_ranges` asks zone maps, indexes and keys what they leave of the rows, and `rows_to_read`
  how many of these are not deleted.
* `read_within` and `matching_within` read a sample of those, and where few enough of them match,
  all; they stop at the bytes that they were given, so a sample that misleads costs time and no
  memory.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.value_bytes import all_bytes
from pykudu_sql.storage.ingest.table import assemble
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

SAMPLED_ROWSETS = 4
SAMPLE_ROWS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows that were looked at, those of them that match, and the bytes that these take."""

    rows: int
    matching: int
    bytes: int

    @property
    def share(self) -> float:
        """Of the rows that match; of all, where nothing was looked at."""
        return self.matching / self.rows if self.rows else 1.0

    @property
    def bytes_per_row(self) -> float:
        """Bytes that matching rows take, by each row that is looked at."""
        return self.bytes / max(1, self.rows)


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
    return _rows_left(with_ranges(scan))


def read_within(scan: TableScan, most: int) -> pa.Table | None:
    """All rows, and perhaps some that do not match; None if they take more than `most` bytes.

    `scan`: without limit and order. Raises CorruptionError, DiskError: the rows cannot be read.
    """
    scan = with_ranges(scan)
    rows = _rows_left(scan)
    if _fits(scan, rows, most):
        return scan.to_table()
    blocks = _matching(scan, rows, most)
    return None if blocks is None else assemble(scan.shown_columns, iter(blocks))


def matching_within(scan: TableScan, most: int) -> Sequence[RowBlock] | None:
    """Exactly the rows that match; None if they take more than `most` bytes.

    `scan`: without limit and order. Raises CorruptionError, DiskError: the rows cannot be read.
    """
    scan = with_ranges(scan)
    return _matching(scan, _rows_left(scan), most)


def matching_count(scan: TableScan) -> int:
    """How many rows match. `scan`: of no columns, with a predicate, without limit and order."""
    scan = with_ranges(scan)
    blocks = scan.matching_blocks(scan.row_filter(), lambda block: None)
    return sum(block.length for block in blocks)


def _matching(scan: TableScan, rows: int, most: int) -> Sequence[RowBlock] | None:
    """The rows that match, within the bytes. `rows`: that the ranges of the scan leave."""
    row_filter = scan.row_filter()
    if not _fits(scan, rows, most) and (
        row_filter is None or sampled(scan, row_filter, SAMPLE_ROWS).bytes_per_row * rows > most
    ):
        return None
    return _hold_rows(scan, row_filter, most)


def few_within(scan: TableScan, most: int) -> Sequence[RowBlock] | None:
    """As `matching_within`, where few rows match as far as the caller knows: without a sample."""
    scan = with_ranges(scan)
    return _hold_rows(scan, scan.row_filter(), most)


def _hold_rows(
    scan: TableScan, row_filter: RowFilter | None, most: int
) -> Sequence[RowBlock] | None:
    """The rows that match; None once they take more than the bytes."""
    room = _Room(most)
    stats = None if scan.stats is None else ScanStats()  # counted where the rows are the result
    try:
        blocks = replace(scan, stats=stats).matching_blocks(row_filter, room.take)
    except _NoRoomError:
        return None
    if scan.stats is not None and stats is not None:
        scan.stats.add(stats)
    return blocks


class _NoRoomError(Exception):
    """The rows take more bytes than they may."""


class _Room:
    """Bytes that blocks may take together. Safe for threads."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, block: RowBlock) -> None:
        """Give a block its bytes. Raises _NoRoomError: they are no longer there."""
        size = _size(block)
        with self._lock:
            self._left -= size
            if self._left < 0:
                raise _NoRoomError


def _fits(scan: TableScan, rows: int, most: int) -> bool:
    """Whether so many rows of a scan take at most `most` bytes."""
    fitting = most * max(1, scan.row_count)
    return scan.estimated_within(fitting // max(1, rows)) * rows <= fitting


def _with_ranges(scan: TableScan, read: RowSetRead, row_filter: RowFilter | None) -> RowSetRead:
    rowset = read.rowset
    if read.ranges is not None or not isinstance(rowset, DiskRowSet):
        return read
    ranges = rowset.ranges_to_read(row_filter, scan.bound, read.own, scan.stats)
    return replace(read, ranges=ranges)


def _rows_left(scan: TableScan) -> int:
    """Rows that are alive in the ranges of a scan."""
    return sum(_alive_rows(scan, read) for read in scan.reads)


def _alive_rows(scan: TableScan, read: RowSetRead) -> int:
    """The rows that a scan has to look at of a rowset."""
    rowset, count = read.rowset, read.rows
    ranges = [(0, count)] if read.ranges is None else read.ranges
    alive = rowset.view(scan.bound, read.own).alive(count) if ranges else None
    return sum(
        stop - start if alive is None else int(np.count_nonzero(alive[start:stop]))
        for start, stop in ranges
    )


def sampled(scan: TableScan, row_filter: RowFilter, rows: int) -> Sample:
    """What matches at the beginnings of some rowsets, the largest of those on disk.

    `scan`: with ranges; `row_filter`: the scan's own; `rows`: to look at in each rowset.
    """
    parts = [(read, _alive_rows(scan, read)) for read in scan.reads]
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
            row_filter.exactly(),
            scan.bound,
            read.own,
            ranges=[(start, min(stop, start + rows))],
            stats=stats,
            cache_blocks=scan.cache_blocks,
        ):
            size += _size(block)
    return Sample(stats.rows_scanned, stats.rows_returned, size)


def _size(block: RowBlock) -> int:
    return sum(map(all_bytes, block.columns))
