"""A cell that the first rows of a scan by one column reach, found without reading the others.

Zone maps say of each block which cells it has at least and at most, and how many rows. The blocks
whose nearer ends come first hold so many rows together: each of these reaches the end of the last
block. Where that leaves most blocks in, as it does of cells in no order, the column is read alone.

Rows may be deleted, changed in a delta or left out by the predicate, and so fewer reach the bound
than are counted here: who asks has to count the rows that came.
"""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.types.arrays import fixed_view, validity
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.scan.rowset_read import RowSetRead
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

Ordinals = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TopBound:
    """A cell that the first rows of a scan reach.

    Attributes:
        cell: the first rows come before it in the order asked for, or are it.
        rows: of the blocks that may have such rows.
    """

    cell: Cell
    rows: int


def bound_of_blocks(
    scan: TableScan, column: ColumnSchema, rows: int, *, descending: bool
) -> TopBound | None:
    """The bound that zone maps give; None where they know of fewer rows.

    Args:
        scan: with ranges (`bounded_rows.with_ranges`).
        column: of the scan's table, of any type but BOOL and BINARY.
        rows: how many rows, at least, reach the bound if all in the ranges are alive and match.
        descending: whether the greatest cells come first.
    """
    blocks = [block for read in scan.reads for block in _blocks(read, column, descending)]
    blocks.sort(key=itemgetter(0), reverse=descending)
    count = 0
    for inner, _, block_rows in blocks:
        count += block_rows
        if count >= rows:
            reached = [b[2] for b in blocks if (b[1] >= inner if descending else b[1] <= inner)]
            return TopBound(inner, sum(reached))
    return None


def _blocks(
    read: RowSetRead, column: ColumnSchema, descending: bool
) -> Iterator[tuple[Any, Any, int]]:
    """Of each block of a rowset its end that comes last, the one that comes first, and its rows."""
    if not isinstance(read.rowset, DiskRowSet):
        return
    zone = read.rowset.base.zone_map(column.id)
    if zone is None or zone.type != column.type:
        return
    counts = _rows_in_ranges(zone, read.ranges) - zone.null_counts
    inner, outer = (zone.mins, zone.maxs) if descending else (zone.maxs, zone.mins)
    used = np.flatnonzero(zone.has_bounds & (counts > 0))
    yield from zip(inner[used].tolist(), outer[used].tolist(), counts[used].tolist(), strict=True)


def _rows_in_ranges(zone: ZoneMap, ranges: Sequence[tuple[int, int]] | None) -> Ordinals:
    """How many rows of each block lie within ranges of ordinals, ascending and apart."""
    if ranges is None:
        return zone.row_counts
    edges = np.array([(-1, -1), *ranges], np.int64)  # the first is empty, and below all rows
    starts, stops = edges[:, 0], edges[:, 1]
    before = np.cumsum(stops - starts) - (stops - starts)
    ordinals = zone.first_ordinals
    last = np.searchsorted(starts, ordinals, side="right") - 1
    below: Ordinals = before[last] + np.minimum(ordinals, stops[last]) - starts[last]
    return np.diff(below)


def bound_of_column(scan: TableScan, column: ColumnSchema, rows: int, *, descending: bool) -> Cell:
    """The bound that the column gives, read alone; None where it has fewer cells.

    Args:
        scan: whose columns have `column` among them.
        column: of a fixed width, at most 8 bytes.
        rows: how many rows that the scan gives reach the bound.
        descending: whether the greatest cells come first.

    Raises CorruptionError, DiskError: the rows cannot be read.
    """
    alone = scan.project([scan.spec.column_ids.index(column.id)])
    first: npt.NDArray[Any] | None = None
    for block in alone.stretches():
        cells = block.columns[0]
        numbers, valid = fixed_view(cells, column.type), validity(cells)
        numbers = numbers if valid is None else numbers[valid]
        if first is not None and len(first) == rows:
            edge = first.min() if descending else first.max()
            numbers = numbers[numbers >= edge if descending else numbers <= edge]
        together = numbers if first is None else np.concatenate((first, numbers))
        first = _first(together, rows, descending)
    if first is None or len(first) < rows:
        return None
    cell: Cell = (first.min() if descending else first.max()).item()
    return None if cell != cell else cell


def _first(numbers: npt.NDArray[Any], rows: int, descending: bool) -> npt.NDArray[Any]:
    """The first so many numbers, in any order."""
    if len(numbers) <= rows:
        return numbers
    if descending:
        return np.partition(numbers, len(numbers) - rows)[-rows:]
    return np.partition(numbers, rows - 1)[:rows]
