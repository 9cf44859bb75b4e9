"""A cell that the first rows of a scan by one column reach, found without reading the others.

Zone maps say of each block which cells it has at least and at most, and how many rows. The blocks
whose nearer ends come first hold so many rows together: each of these reaches the end of the last
block. Of the first column of the key the key index knows as much for every few hundred rows. Where
that leaves most blocks in, as it does of cells in no order, the column is read alone.

Rows may be deleted, changed in a delta or left out by the predicate, and so fewer reach the bound
than are counted here: who asks has to count the rows that came.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.true_places import true_places
from pykudu_sql.storage.common.types.arrays import fixed_view, validity
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.pruning import Range

Ordinals = npt.NDArray[np.int64]
# Neighbouring rows: an end of their cells that comes last, one that comes first, how many they are.
_Run = tuple[Any, Any, int]


@dataclass(frozen=True, slots=True)
class TopBound:
    """A cell that the first rows of a scan reach.

    Attributes:
        cell: the first rows come before it in the order asked for, or are it.
        rows: about how many rows there are in the blocks that may have such.
    """

    cell: Cell
    rows: int


def bound_of_blocks(
    scan: TableScan, column: ColumnSchema, rows: int, *, descending: bool
) -> TopBound | None:
    """The bound that metadata give; None where they know of fewer rows.

    Args:
        scan: with ranges (`bounded_rows.with_ranges`).
        column: of the scan's table, of any type but BOOL and BINARY.
        rows: how many rows, at least, reach the bound if all in the ranges are alive and match.
        descending: whether the greatest cells come first.
    """
    keys = scan.schema.key_columns
    rowsets = [
        (read.rowset, [(0, read.rowset.base.rows)] if read.ranges is None else read.ranges)
        for read in scan.reads
        if isinstance(read.rowset, DiskRowSet)
    ]
    if column.id == keys[0].id:
        decode = KeyEncoder(keys).decode_one
        runs = [
            run
            for rowset, ranges in rowsets
            if ranges
            for run in _key_runs(rowset, decode, ranges, rows, descending)
        ]
        bound = _bound_of(runs, rows, descending)
        if bound is not None:
            return bound
    blocks = [
        block for rowset, ranges in rowsets for block in _blocks(rowset, column, ranges, descending)
    ]
    return _bound_of(blocks, rows, descending)


def _bound_of(runs: list[_Run], rows: int, descending: bool) -> TopBound | None:
    """The farther end of the runs with nearer ends that hold so many rows together."""
    runs.sort(key=itemgetter(0), reverse=descending)
    count = 0
    for inner, _, run_rows in runs:
        count += run_rows
        if count >= rows:
            reached = [r[2] for r in runs if (r[1] >= inner if descending else r[1] <= inner)]
            return TopBound(inner, sum(reached))
    return None


def _blocks(
    rowset: DiskRowSet, column: ColumnSchema, ranges: Sequence[Range], descending: bool
) -> Iterator[_Run]:
    """The blocks of a rowset."""
    zone = rowset.base.zone_map(column.id)
    if zone is None or zone.type != column.type:
        return
    counts = _rows_in_ranges(zone.first_ordinals, ranges) - zone.null_counts
    inner, outer = (zone.mins, zone.maxs) if descending else (zone.maxs, zone.mins)
    used = np.flatnonzero(zone.has_bounds & (counts > 0))
    yield from zip(inner[used].tolist(), outer[used].tolist(), counts[used].tolist(), strict=True)


def _key_runs(
    rowset: DiskRowSet,
    decode: Callable[[bytes], tuple[Cell, ...]],
    ranges: Sequence[Range],
    rows: int,
    descending: bool,
) -> Iterator[_Run]:
    """The intervals of a key index at the nearer end of its ranges, which hold so many rows."""
    low, high = ranges[0][0], ranges[-1][1]
    start, stop = (max(low, high - rows), high) if descending else (low, min(high, low + rows))
    ordinals, keys = rowset.base.key_index.edges(start, stop)
    cells = [decode(key)[0] for key in keys]
    counts = _rows_in_ranges(np.array(ordinals, np.int64), ranges).tolist()
    for least, greatest, count in zip(cells[:-1], cells[1:], counts, strict=True):
        if count > 0:
            yield (least, greatest, count) if descending else (greatest, least, count)


def _rows_in_ranges(ordinals: Ordinals, ranges: Sequence[Range]) -> Ordinals:
    """How many rows between one ordinal and the next lie within ranges, ascending and apart."""
    edges = np.array([(-1, -1), *ranges], np.int64)  # the first is empty, and below all rows
    starts, stops = edges[:, 0], edges[:, 1]
    before = np.cumsum(stops - starts) - (stops - starts)
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
            reached = true_places(numbers >= edge if descending else numbers <= edge)
            numbers = numbers[reached]
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
