"""Late materialisation: columns of a predicate first, the others only for the rows that are left.

Kudu's `common/generic_iterators.cc` (MaterializingIterator::MaterializeBlock): the steps of a
filter are taken one after the other, each reads its columns, and a batch none of whose rows
survives is left at once. Kudu does so for 128 rows at a time; here a batch is a stretch of a
rowset, and what a step costs is a few calls of numpy and Arrow over all of it.

While many rows survive they are a mask over whole columns. Once fewer than one in `SPARSE` do,
they are a list of ordinals, and every column read from there on is read at those only, so blocks in
which no row survived are not decoded. Rows are always copied by ordinal: Arrow takes half of a
column that way in a fifth of the time that it needs with a mask.

Many short ranges, as of keys in a list, are one list of ordinals from the beginning: what a step
costs does not depend on how many there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.row_filter import FilterStep, RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.predicate.true_places import true_places
from pykudu_sql.storage.common.types.arrays import fixed_view
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.ordinal_take import ordinals_of_spans, take_ordinals
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset.member_search import member_places, searched_members
from pykudu_sql.storage.tablet.rowset.pruning import Range
from pykudu_sql.storage.tablet.rowset.row_address import ROW_ADDRESS
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

SPARSE = 4
# To look at a range by itself costs as much as to look at about a thousand rows more.
_SEVERAL = 4
_SHORT = 1024

Mask = npt.NDArray[np.bool_]


def ordinals_between(start: int, stop: int) -> Ordinals:
    """The ordinals start <= ordinal < stop."""
    return np.arange(start, stop, dtype=np.int64)


class RowSource(Protocol):
    """The columns of a rowset as a snapshot sees them."""

    def read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        """The cells of rows start <= ordinal < stop."""

    def result(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        """The cells of those rows for the result of the scan; see `TextForm`."""

    def take(self, column: ColumnSchema, ordinals: Ordinals) -> pa.Array:
        """The cells of some rows, ascending."""

    def addresses(self, start: int, stop: int) -> Ordinals:
        """What `ROW_ADDRESS` is in the rows start <= ordinal < stop, int64[stop - start]."""

    def evaluate(self, step: FilterStep, start: int, stop: int) -> Mask | None:
        """Which rows start <= ordinal < stop a step holds for; None if cells must be read."""

    def is_ordered_by(self, column: ColumnSchema) -> bool:
        """Whether the cells of a column are integers of 64 bits or fewer, and ascend."""


class _Candidates:
    """The rows of a stretch that may still be wanted."""

    def __init__(
        self,
        source: RowSource,
        start: int,
        stop: int,
        alive: Mask | None,
        selection: Ordinals | None = None,
    ) -> None:
        """All rows of the stretch that are alive, or those of them at some places.

        Args:
            source: of their cells.
            start, stop: ordinals of the stretch.
            alive: of its rows; None when every one is.
            selection: places in the stretch, ascending; None for all.
        """
        self.count = stop - start
        self.start = start
        self.stop = stop
        self._source = source
        self._selection: Ordinals | None = None
        self._selected_ordinals: Ordinals | None = None
        self._mask: Mask = np.ones(0, np.bool_)
        self._cells: dict[int, pa.Array] = {}
        self._selected_cells: dict[int, pa.Array] = {}
        self._leaves_out = selection is not None or (alive is not None and not alive.all())
        if selection is not None:
            self._select(selection if alive is None else selection[alive[selection]])
        elif alive is not None and self._leaves_out:
            self._narrow(alive)

    def _narrow(self, mask: Mask) -> None:
        self.count = int(np.count_nonzero(mask))
        self._mask = mask
        if self.count * SPARSE < len(mask):
            self._select(true_places(mask, self.count))

    def _select(self, selection: Ordinals) -> None:
        """Keep the rows at some places of the stretch."""
        self.count = len(selection)
        self._selection = selection
        self._selected_ordinals = None

    def _ordinals_of(self, selection: Ordinals) -> Ordinals:
        """Where the selected rows are in the rowset; the same array for every column."""
        if self._selected_ordinals is None:
            self._selected_ordinals = selection + self.start if self.start else selection
        return self._selected_ordinals

    def keep(self, steps: Sequence[FilterStep]) -> None:
        """Drop the rows that the steps of a filter do not hold for, until none is left.

        A step whose rows are found by a search comes first; one that needs no cells costs so little
        that it comes before all others, and rows are selected by what such steps leave together.
        """
        if self._selection is None:
            steps = self._keep_by_search(steps)
        if self._selection is None:
            steps = self._keep_by_masks(steps)
        for step in steps:
            if self.count == 0:
                return
            self._keep(step)

    def _keep_by_search(self, steps: Sequence[FilterStep]) -> Sequence[FilterStep]:
        """Take a step whose rows are found by a search; what others there are."""
        length = self.stop - self.start
        for index, step in enumerate(steps):
            column = step.columns[0]
            if not self._source.is_ordered_by(column):
                continue
            members = searched_members(step.predicate, length)
            if members is not None:
                places = member_places(fixed_view(self._whole(column), column.type), members)
                self._select(places if self.count == length else places[self._mask[places]])
                return [*steps[:index], *steps[index + 1 :]]
        return steps

    def _keep_by_masks(self, steps: Sequence[FilterStep]) -> Sequence[FilterStep]:
        """Take the steps that need no cells; what others there are."""
        mask: Mask | None = None
        others = []
        for step in steps:
            matches = self._source.evaluate(step, self.start, self.stop)
            if matches is None:
                others.append(step)
            elif mask is None:
                mask = matches
            else:
                mask &= matches
        if mask is not None:
            self._keep_rows(mask)
        return others

    def _keep(self, step: FilterStep) -> None:
        selection = self._selection
        if selection is None:
            whole = {c.id: self._whole(c) for c in step.columns}
            self._keep_rows(evaluate(step.predicate, whole, step.types))
            return
        columns = {c.id: self._take(c, selection) for c in step.columns}
        matches = true_places(evaluate(step.predicate, columns, step.types))
        if len(matches) < len(selection):
            self._select(selection[matches])
            self._selected_cells = {
                column_id: take_ordinals(cells, matches)
                for column_id, cells in self._selected_cells.items()
            }
        self.count = len(matches)

    def _keep_rows(self, mask: Mask) -> None:
        """Drop the rows of the whole stretch that are not in a new mask."""
        if self.count < self.stop - self.start:
            mask &= self._mask
        self._narrow(mask)

    def block(self, columns: Sequence[ColumnSchema], dense: float) -> RowBlock:
        """What is left as a block; the whole stretch, if that is at least a share of `dense`."""
        if not columns:
            return RowBlock([], self.count)
        length = self.stop - self.start
        if not self._leaves_out and self.count >= dense * length:
            return RowBlock([self._result(column) for column in columns], length)
        if self._selection is not None:
            selection = self._selection
            return RowBlock([self._take(column, selection) for column in columns], self.count)
        ordinals = true_places(self._mask, self.count)
        whole = (self._whole(column) for column in columns)
        return RowBlock([take_ordinals(v, ordinals) for v in whole], self.count)

    def _result(self, column: ColumnSchema) -> pa.Array:
        if column.id in self._cells or column.id == ROW_ADDRESS.id:
            return self._whole(column)
        return self._source.result(column, self.start, self.stop)

    def _whole(self, column: ColumnSchema) -> pa.Array:
        if column.id == ROW_ADDRESS.id:
            return integers(self._source.addresses(self.start, self.stop))
        cells = self._cells.get(column.id)
        if cells is None:
            cells = self._cells[column.id] = self._source.read(column, self.start, self.stop)
        return cells

    def _take(self, column: ColumnSchema, selection: Ordinals) -> pa.Array:
        """The cells of the selected rows."""
        if column.id == ROW_ADDRESS.id:
            return integers(self._source.addresses(self.start, self.stop)[selection])
        array = self._selected_cells.get(column.id)
        if array is None:
            cells = self._cells.get(column.id)
            if cells is None:
                array = self._source.take(column, self._ordinals_of(selection))
            else:
                array = take_ordinals(cells, selection)
            self._selected_cells[column.id] = array
        return array


def scan_stretch(
    source: RowSource,
    columns: Sequence[ColumnSchema],
    row_filter: RowFilter | None,
    stretch: Range,
    alive: Mask | None,
    stats: ScanStats | None,
) -> RowBlock | None:
    """The rows of a stretch of a rowset that match, None when there is none.

    Args:
        source: of the cells.
        columns: wanted, in order; `ROW_ADDRESS` among them stands for the rows' ordinals.
        row_filter: which rows are wanted; None keeps every one that is alive.
        stretch: ordinals start <= ordinal < stop, at least one.
        alive: by ordinal, of the whole rowset; None when every row is.
    """
    start, stop = stretch
    rows = _Candidates(source, start, stop, None if alive is None else alive[start:stop])
    return _matching(rows, columns, row_filter, stats)


def scan_ordinals(
    source: RowSource,
    columns: Sequence[ColumnSchema],
    row_filter: RowFilter | None,
    ordinals: Ordinals,
    alive: Mask | None,
    stats: ScanStats | None,
) -> RowBlock | None:
    """The rows at some ordinals that match; see `scan_stretch`.

    `ordinals`: ascending, at least one.
    """
    rows = _Candidates(source, 0, int(ordinals[-1]) + 1, alive, ordinals)
    return _matching(rows, columns, row_filter, stats)


def _matching(
    rows: _Candidates,
    columns: Sequence[ColumnSchema],
    row_filter: RowFilter | None,
    stats: ScanStats | None,
) -> RowBlock | None:
    """What a filter leaves of rows, None when there is none."""
    if stats is not None:
        stats.rows_scanned += rows.count
    if row_filter is not None:
        rows.keep(row_filter.steps)
    if rows.count == 0:
        return None
    block = rows.block(columns, 1.0 if row_filter is None else row_filter.dense)
    if stats is not None:
        stats.rows_returned += block.length
    return block


def scattered_ordinals(ranges: Sequence[Range], most: int | None) -> Ordinals | None:
    """The ordinals of ranges that are many and short; None of others.

    `most`: rows that are read together; None for any number.
    """
    if len(ranges) < _SEVERAL:
        return None
    starts, stops = np.array(ranges, np.int64).T
    counts = stops - starts
    rows = int(counts.sum())
    if rows > len(ranges) * _SHORT or (most is not None and rows > most):
        return None
    return ordinals_of_spans(starts, counts)


def split_ranges(ranges: Iterable[Range], stretch: int | None) -> Iterator[Range]:
    """Ranges in pieces of at most so many rows; as they are when None."""
    for start, stop in ranges:
        if stretch is None:
            yield start, stop
        else:
            for first in range(start, stop, stretch):
                yield first, min(first + stretch, stop)
