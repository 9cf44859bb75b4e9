"""Segments of a MemRowSet: its rows in the order of their commits, in pieces that scans read whole.

Rows that come one by one stand as tuples of cells, batches as Arrow columns; small batches share a
segment, so a scan's cost grows with the rows and not with the commits that brought them. A segment
grows at its end only. Writers hold the commit lock; readers name how many rows they see, and what
is added meanwhile lies behind those.
"""

import threading
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.cell_access import ReadCell, cell_reader
from pykudu_sql.storage.common.predicate.row_filter import FilterStep
from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array, constant_array
from pykudu_sql.storage.common.types.ordinal_take import take_ordinals
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patches
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals, concat_values
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.rowset.growing_cells import GrowingCells
from pykudu_sql.storage.tablet.rowset.tablet_scanner import ordinals_between

# A segment of single rows is converted anew for each length that a scan sees, so it is smaller.
_MOST_SINGLE_ROWS = 4096
# Reading puts a segment together with what came since the last time, and picks rows by segment.
_MOST_BATCH_ROWS = 131072
# To make what reads single cells takes as long as two cells by Arrow.
_LEAST_READ_BY_CELL = 64
# Of a half of the rows or more, all are put together to pick from.
_DENSE = 2


class RowSegment:
    """Rows that came one by one, as tuples of cells."""

    def __init__(self, start: int, column_ids: tuple[int, ...]) -> None:
        """No rows yet.

        Args:
            start: ordinal of the first row.
            column_ids: the columns of its rows.
        """
        self.start = start
        self.rows: list[tuple[Cell, ...]] = []
        self._column_ids = column_ids
        self._positions = {column_id: index for index, column_id in enumerate(column_ids)}
        self._columns: dict[int, pa.Array] = {}

    def takes(self, column_ids: tuple[int, ...]) -> bool:
        """Whether a row of some columns may be added."""
        return self._column_ids == column_ids and len(self.rows) < _MOST_SINGLE_ROWS

    def cell(self, row: int, column: ColumnSchema) -> Cell:
        """One cell. `row`: counted from the segment's first."""
        position = self._positions.get(column.id)
        return column.read_default if position is None else self.rows[row][position]

    def column(self, column: ColumnSchema, count: int) -> pa.Array:
        """The first `count` cells of a column."""
        return self.cells(column, count).slice(0, count)

    def cells(self, column: ColumnSchema, count: int) -> pa.Array:
        """The first `count` cells of a column, or more; converted once for each new length."""
        position = self._positions.get(column.id)
        if position is None:
            return constant_array(column.read_default, column.type, count)
        cells = self._columns.get(column.id)
        if cells is None or len(cells) < count:
            cells = cells_to_array([row[position] for row in self.rows[:count]], column.type)
            self._columns[column.id] = cells
        return in_type(cells, column.type.arrow)


class BatchSegment:
    """Rows of one large batch or of some small ones, as Arrow columns.

    A column that is read is put together, and the batches lose it: its cells are held once.
    """

    def __init__(self, start: int, column_ids: frozenset[int]) -> None:
        """No rows yet.

        Args:
            start: ordinal of the first row.
            column_ids: the columns of its rows.
        """
        self.start = start
        self._column_ids = column_ids
        self._batches: list[dict[int, pa.Array]] = []
        self._starts: list[int] = []
        self._rows = 0
        # By column id, how many batches it was put together of, and its cells.
        self._columns: dict[int, tuple[int, GrowingCells]] = {}
        # By number of the batch and column id; for columns that have not been put together since.
        self._readers: dict[tuple[int, int], ReadCell] = {}
        self._lock = threading.Lock()

    def takes(self, column_ids: Collection[int], rows: int) -> bool:
        """Whether so many rows of some columns may be added."""
        return self._rows + rows <= _MOST_BATCH_ROWS and self._column_ids == set(column_ids)

    def add(self, columns: Mapping[int, pa.Array], rows: int) -> None:
        """Add a batch. `columns`: by column id, `rows` cells each."""
        self._starts.append(self._rows)
        self._batches.append(dict(columns))
        self._rows += rows

    def cell(self, row: int, column: ColumnSchema) -> Cell:
        """One cell. `row`: counted from the segment's first."""
        if column.id not in self._column_ids:
            return column.read_default
        batch, readers = bisect_right(self._starts, row) - 1, self._readers
        read = readers.get((batch, column.id))
        if read is None:
            values = self._cells_of_batch(batch, column.id)
            if len(values) < _LEAST_READ_BY_CELL or not _has_cells_of(values, column):
                return array_to_cells(values.slice(row - self._starts[batch], 1), column.type)[0]
            read = readers[batch, column.id] = cell_reader(values, column.type)
        return read(row - self._starts[batch])

    def _cells_of_batch(self, batch: int, column_id: int) -> pa.Array:
        values, starts = self._batches[batch].get(column_id), self._starts
        if values is not None:
            return values
        stop = starts[batch + 1] if batch + 1 < len(starts) else self._rows
        return self._columns[column_id][1].cells.slice(starts[batch], stop - starts[batch])

    def column(self, column: ColumnSchema, count: int) -> pa.Array:
        """The first `count` cells of a column."""
        return self.cells(column, count).slice(0, count)

    def cells(self, column: ColumnSchema, count: int) -> pa.Array:
        """The first `count` cells of a column, or more; new batches go behind what was read."""
        if column.id not in self._column_ids:
            return constant_array(column.read_default, column.type, count)
        cached = self._columns.get(column.id)
        if cached is None or len(cells := cached[1].cells) < count:
            with self._lock:
                cells = self._assembled_cells(column.id).cells
        return in_type(cells, column.type.arrow)

    def _assembled_cells(self, column_id: int) -> GrowingCells:
        """All cells of a column that are here by now. The caller holds the lock of readers."""
        cached = self._columns.get(column_id)
        count, grown = (0, None) if cached is None else cached
        added = self._batches[count:]
        if grown is None or added:
            parts = [batch[column_id] for batch in added]
            if grown is None:
                grown = GrowingCells(parts, _MOST_BATCH_ROWS)
            else:
                grown.extend(parts)
            self._columns[column_id] = count + len(added), grown
            self._readers = {}  # they hold the cells of the batches
            for batch in added:
                del batch[column_id]
        return grown


def _has_cells_of(values: pa.Array, column: ColumnSchema) -> bool:
    """Whether an array has the type of a column, or words of it."""
    kind = values.type
    return bool((kind.value_type if pa.types.is_dictionary(kind) else kind) == column.type.arrow)


Segment = RowSegment | BatchSegment


class SegmentColumns:
    """A `RowSource` over the first rows of a segment with their mutations applied."""

    def __init__(self, segment: Segment, stop: int, view: DeltaView) -> None:
        """Nothing is read yet.

        Args:
            segment: of the rows.
            stop: the ordinal behind the last row that is seen.
            view: the combined effect of the mutations.
        """
        self._segment = segment
        self._stop = stop
        self._view = view
        self._cells: dict[int, pa.Array] = {}

    def read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        first = self._segment.start
        cells = self._cells.get(column.id)
        if cells is None:
            inserted = self._segment.column(column, self._stop - first)
            cells = apply_patches(inserted, first, self._view.layers(column.id), column.type)
            self._cells[column.id] = cells
        return cells.slice(start - first, stop - start)

    def result(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        return self.read(column, start, stop)

    def take(self, column: ColumnSchema, ordinals: Ordinals) -> pa.Array:
        first = self._segment.start
        return take_ordinals(self.read(column, first, self._stop), ordinals - first)

    def addresses(self, start: int, stop: int) -> Ordinals:
        return ordinals_between(start, stop)

    def evaluate(self, step: FilterStep, start: int, stop: int) -> None:
        return None

    def is_ordered_by(self, column: ColumnSchema) -> bool:
        return False


class MemRowSelection:
    """A `RowSource` over some rows of a MemRowSet, in any order; a row is named by its position."""

    def __init__(self, segments: Sequence[Segment], ordinals: Ordinals, view: DeltaView) -> None:
        """Nothing is read yet.

        Args:
            segments: all of the MemRowSet that a snapshot sees a row of.
            ordinals: of the rows, distinct, int64[n].
            view: the combined effect of the mutations.
        """
        self._segments = segments
        self._starts = np.array([segment.start for segment in segments], np.int64)
        self._ordinals = ordinals
        self._view = view
        self._pieces: dict[tuple[int, int], _Gather] = {}

    def read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        ordinals = self._ordinals[start:stop]
        pieces = self._pieces.get((start, stop))
        if pieces is None:
            pieces = self._pieces[start, stop] = self._pieces_of(ordinals)
        return self._cells(column, ordinals, pieces)

    def result(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        return self.read(column, start, stop)

    def take(self, column: ColumnSchema, ordinals: Ordinals) -> pa.Array:
        selection = self._ordinals[ordinals]
        return self._cells(column, selection, self._pieces_of(selection))

    def addresses(self, start: int, stop: int) -> Ordinals:
        return self._ordinals[start:stop]

    def evaluate(self, step: FilterStep, start: int, stop: int) -> None:
        return None

    def is_ordered_by(self, column: ColumnSchema) -> bool:
        return False

    def _cells(self, column: ColumnSchema, ordinals: Ordinals, pieces: "_Gather") -> pa.Array:
        layers = self._view.layers(column.id)
        parts = [part for layer in layers if (part := layer.at_ordinals(ordinals)) is not None]
        return apply_patches(pieces.inserted(column), 0, parts, column.type)

    def _pieces_of(self, ordinals: Ordinals) -> "_Gather":
        """Where some rows stand."""
        if (ordinals[1:] > ordinals[:-1]).all():
            return _Pieces(self._ascending_pieces(ordinals), None)
        first, stop = int(self._starts[0]), int(ordinals.max()) + 1
        if len(ordinals) * _DENSE >= stop - first:
            ends = np.append(self._starts[1:], stop).clip(max=stop)
            counts = np.maximum(ends - self._starts, 0).tolist()
            return _DenseRows(self._segments, counts, ordinals - first)
        numbers = np.searchsorted(self._starts, ordinals, "right") - 1
        if len(self._segments) < 1 << 16:
            numbers = numbers.astype(np.uint16)  # which numpy sorts by radix
        order = np.argsort(numbers, kind="stable")
        distinct, firsts = np.unique(numbers[order], return_index=True)
        rows = np.split(ordinals[order], firsts[1:])
        segments = [self._segments[number] for number in distinct.tolist()]
        inside = [part - s.start for s, part in zip(segments, rows, strict=True)]
        counts = [int(part.max()) + 1 for part in inside]
        pieces = list(zip(segments, counts, inside, strict=True))
        if len(segments) == 1:
            return _Pieces(pieces, None)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order), dtype=np.int64)
        return _Pieces(pieces, back)

    def _ascending_pieces(self, ordinals: Ordinals) -> "list[tuple[Segment, int, Ordinals]]":
        """Where rows that stand in the order wanted do, segment by segment."""
        edges = [*ordinals.searchsorted(self._starts).tolist(), len(ordinals)]
        pieces = []
        for segment, first, stop in zip(self._segments, edges, edges[1:], strict=False):
            if first < stop:
                inside = ordinals[first:stop] - segment.start
                pieces.append((segment, int(inside[-1]) + 1, inside))
        return pieces


@dataclass(frozen=True, slots=True)
class _DenseRows:
    """A large part of all rows, in any order.

    Attributes:
        segments: all, one behind the other.
        counts: for each, how many of its first rows are among those that have any of the rows.
        rows: the positions of the rows wanted in these.
    """

    segments: Sequence[Segment]
    counts: Sequence[int]
    rows: Ordinals

    def inserted(self, column: ColumnSchema) -> pa.Array:
        """The cells as they were inserted, in the order wanted.

        One copy of all cells and one of those wanted: to pick them segment by segment and then to
        bring them in order makes three.
        """
        parts = [
            segment.column(column, count)
            for segment, count in zip(self.segments, self.counts, strict=True)
            if count
        ]
        return take_ordinals(concat_values(parts), self.rows)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Rows by the segment that they stand in.

    Attributes:
        of_segments: segments that have any of them; how many rows of the segment are needed for
            them; their positions in it.
        back: for each row wanted, its place among those of all segments; None where that is the
            order wanted.
    """

    of_segments: Sequence[tuple[Segment, int, Ordinals]]
    back: Ordinals | None

    def inserted(self, column: ColumnSchema) -> pa.Array:
        """The cells as they were inserted, in the order wanted."""
        parts = [
            take_ordinals(segment.cells(column, count), rows)
            for segment, count, rows in self.of_segments
        ]
        if len(parts) == 1:
            return parts[0]
        cells = concat_values(parts)
        return cells if self.back is None else take_ordinals(cells, self.back)


_Gather = _DenseRows | _Pieces
