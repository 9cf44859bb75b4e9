"""Whether a scan looks at few rows, by what metadata and keys say of them."""

from collections.abc import Sequence

from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.pruning import Range, intersect

# Of a rowset: what zone maps could take away from so few does not matter.
_FEW_ROWS = 4096


def is_small(
    scan: TableScan, row_filter: RowFilter | None, most_rows: int, most_bytes: int
) -> bool:
    """Whether a scan returns or examines at most so many rows, of at most so many bytes.

    `row_filter`: the scan's own.
    """
    rows, limit = scan.row_count, scan.spec.limit
    rows_examined = rows if limit is None else min(limit, rows)
    if rows_examined > most_rows and row_filter is not None:
        rows_examined = min(rows_examined, _rows_to_look_at(scan, row_filter, most_rows))
    if not rows_examined or rows_examined > most_rows:
        return not rows_examined
    # What all rows take if those examined take the most.
    whole = most_bytes * rows // rows_examined
    return scan.estimated_within(whole) <= whole


def _rows_to_look_at(scan: TableScan, row_filter: RowFilter, most: int) -> int:
    """At least the rows that keys and zone maps leave; the largest rowsets are asked first, and
    none behind one that leaves too many, or once those that are left are few."""
    remaining, certain = scan.row_count, 0
    for read in sorted(scan.reads, key=lambda each: each.rows, reverse=True):
        if remaining <= most or certain > most:
            break
        rows = _rows_left(scan, read, row_filter)
        remaining += rows - read.rows
        certain += rows
    return remaining


def _rows_left(scan: TableScan, read: RowSetRead, row_filter: RowFilter) -> int:
    rowset = read.rowset
    if isinstance(rowset, MemRowSet):
        ranges = row_filter.key_ranges
        return read.rows if ranges is None else rowset.rows_within(ranges)
    assert isinstance(rowset, DiskRowSet)
    if not rowset.may_match(row_filter, scan.bound):
        return 0
    spans = rowset.key_spans(row_filter)
    rows = _row_count(spans)
    if rows <= _FEW_ROWS:
        return rows
    stretches = rowset.ranges(row_filter, rowset.view(scan.bound, read.own))
    return _row_count(intersect(stretches, spans))


def _row_count(ranges: Sequence[Range]) -> int:
    return sum(stop - start for start, stop in ranges)
