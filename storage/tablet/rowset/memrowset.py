"""The MemRowSet: rows inserted since the last flush.

Kudu's `tablet/memrowset.h`, reshaped for Python. Rows stand in the order of their commits, so what
a snapshot sees of them is a prefix; a dictionary finds a row by its encoded key; the mutations of
a row (UPDATE, DELETE, REINSERT) go to a DeltaMemStore by ordinal, as they do for rows on disk.
Rows that arrive one by one are kept as tuples of cells, batches as Arrow columns; both stand in
segments, which a scan sees as columns. An index over the keys (`key_runs`) gives their order: to
scans of a range of keys or in key order, and to the flush.

A key stands here at most once: inserted again after a DELETE, it is a REINSERT of the same row.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.key_bounds import KeyRange
from pykudu_sql.storage.common.predicate.row_filter import RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.row_allowance import text_bytes
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import (
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
    first_beyond,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_tracker import visible_undo
from pykudu_sql.storage.tablet.delta.delta_view import DeltaPart, DeltaView, StorePart
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.rowset.key_runs import KeyOrder, KeyRun
from pykudu_sql.storage.tablet.rowset.memrowset_segments import (
    BatchSegment,
    MemRowSelection,
    RowSegment,
    Segment,
    SegmentColumns,
)
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowBlock, replay_changes
from pykudu_sql.storage.tablet.rowset.tablet_scanner import SPARSE, scan_stretch, split_ranges

_CELL_BYTES = 64


class MemRowSet:
    """Rows in memory (see the module's text). Writers hold the commit lock; readers need none.

    Attributes:
        id: distinguishes the rowset within its tablet; the write-ahead log names it.
        deltas: the mutations of its rows.
        bytes: a rough size.
        anchor: the first log record whose effect is here, 0 for none.
    """

    def __init__(
        self, rowset_id: int, types: Mapping[int, DataType], key_encoder: KeyEncoder
    ) -> None:
        """An empty MemRowSet.

        Args:
            rowset_id: unique within the tablet.
            types: the types of all columns of the table, grown by ALTER TABLE.
            key_encoder: of the table's keys.
        """
        self.id = rowset_id
        self.deltas = DeltaMemStore(0, types)
        self.bytes = 0
        self.anchor = 0
        self._ordinals: dict[bytes, int] = {}
        self._key_encoder = key_encoder
        self._order: KeyOrder | None = None
        self._segments: list[Segment] = []
        self._starts: list[int] = []
        self._rows = 0
        self._commit_times: list[Timestamp] = []
        self._commit_counts: list[int] = []

    def __len__(self) -> int:
        return self._rows

    @property
    def newest(self) -> Timestamp:
        """The time of the newest commit, 0 when empty."""
        last = self._commit_times[-1] if self._commit_times else UNCOMMITTED
        return max(last, self.deltas.max_timestamp)

    @property
    def memory(self) -> int:
        """A rough size in bytes, mutations included."""
        order = 0 if self._order is None else self._order.nbytes
        return self.bytes + self.deltas.bytes + order

    def insert_one(
        self, key: bytes, cells: tuple[Cell, ...], column_ids: tuple[int, ...], timestamp: Timestamp
    ) -> None:
        """Append a row whose key is not here.

        Args:
            key: encoded.
            cells: in the order of `column_ids`.
            column_ids: the table's columns at this moment.
            timestamp: hybrid time, not below any earlier one.
        """
        tail = self._segments[-1] if self._segments else None
        if not isinstance(tail, RowSegment) or not tail.takes(column_ids):
            tail = RowSegment(self._rows, column_ids)
            self._append_segment(tail)
        tail.rows.append(cells)
        self._ordinals[key] = self._rows
        self._rows += 1
        self.bytes += _CELL_BYTES * len(cells) + len(key) + text_bytes(cells)
        self._commit(timestamp)

    def insert(
        self, keys: Sequence[bytes], columns: Mapping[int, pa.Array], timestamp: Timestamp
    ) -> None:
        """Append a batch of rows whose keys are distinct and not here.

        Args:
            keys: encoded, n of them.
            columns: by column id, n cells each.
            timestamp: hybrid time, not below any earlier one.
        """
        tail = self._segments[-1] if self._segments else None
        if not isinstance(tail, BatchSegment) or not tail.takes(columns, len(keys)):
            tail = BatchSegment(self._rows, frozenset(columns))
            self._append_segment(tail)
        tail.add(columns, len(keys))
        self._ordinals.update(zip(keys, range(self._rows, self._rows + len(keys)), strict=True))
        self._rows += len(keys)
        self.bytes += sum(values.nbytes for values in columns.values()) + 100 * len(keys)
        self._commit(timestamp)

    def _append_segment(self, segment: Segment) -> None:
        self._segments.append(segment)
        self._starts.append(segment.start)

    def _commit(self, timestamp: Timestamp) -> None:
        if self._commit_times and self._commit_times[-1] == timestamp:
            self._commit_counts[-1] = self._rows
        else:
            self._commit_counts.append(self._rows)
            self._commit_times.append(timestamp)

    def row_count(self, bound: SnapshotBound) -> int:
        """Rows committed below a bound."""
        batches = bisect_left(self._commit_times, first_beyond(bound))
        return self._commit_counts[batches - 1] if batches else 0

    def find_one(self, probe: KeyProbe) -> int:
        return self._ordinals.get(probe.encoded, -1)

    def find(self, keys: EncodedKeys) -> Ordinals:
        if not self._ordinals:
            return np.full(len(keys), -1, np.int64)
        ordinals = map(self._ordinals.get, keys.to_pylist(), repeat(-1))
        return np.fromiter(ordinals, np.int64, len(keys))

    def read_row(
        self,
        ordinal: int,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        own: OwnDeltas | None,
    ) -> tuple[Cell, ...] | None:
        """A row's cells as a snapshot sees them, or None."""
        if ordinal >= self.row_count(bound):
            return None
        where = bisect_right(self._starts, ordinal) - 1
        segment = self._segments[where]
        cells: list[Cell] | None = [segment.cell(ordinal - segment.start, c) for c in columns]
        committed = self.deltas.outcome_of(ordinal, bound) if len(self.deltas) else None
        changes = [] if committed is None else [committed]
        if own is not None:
            changes += own.row_changes(ordinal, [column.id for column in columns])
        if changes:
            # In one go: a row deleted and then inserted again by `own` has its key from `cells`.
            cells = replay_changes(cells, columns, changes)
        return None if cells is None else tuple(cells)

    def view(self, bound: SnapshotBound, own: OwnDeltas | None) -> DeltaView:
        """The combined effect of the mutations at a snapshot."""
        parts: list[DeltaPart] = []
        if len(self.deltas) and self.deltas.min_timestamp < bound:
            parts.append(StorePart(self.deltas, bound))
        if own is not None:
            parts += own.parts()
        return DeltaView(parts)

    def read_rows(
        self,
        ordinals: Ordinals,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        own: OwnDeltas | None,
    ) -> list[pa.Array]:
        """Cells of some rows that a snapshot sees; see `RowSet.read_rows`."""
        rows = MemRowSelection(self._segments, ordinals, self.view(bound, own))
        return [plain(rows.read(column, 0, len(ordinals))) for column in columns]

    def scan(
        self,
        columns: Sequence[ColumnSchema],
        row_filter: RowFilter | None,
        bound: SnapshotBound,
        own: OwnDeltas | None,
        *,
        stretch: int | None = None,
        stats: ScanStats | None = None,
        cache_blocks: bool = True,
    ) -> Iterator[RowBlock]:
        """The rows that a snapshot sees and that match, by commit; see `RowSet.scan`."""
        count = self.row_count(bound)
        if count == 0 or (row_filter is not None and row_filter.matches_nothing):
            if stats is not None:
                stats.rowsets_pruned += 1
            return
        if row_filter is not None and row_filter.key_ranges is not None:
            ordinals = self._key_order().within(row_filter.key_ranges)
            ordinals = ordinals[ordinals < count]
            if not (ordinals[1:] > ordinals[:-1]).all():  # as those of one series' times are
                ordinals.sort()
            if stats is not None:
                stats.rowsets_pruned += not len(ordinals)
            if len(ordinals) * SPARSE <= count:
                parts = split_ranges([(0, len(ordinals))], stretch)
                picks = (ordinals[start:stop] for start, stop in parts)
                yield from self.scan_rows(picks, columns, row_filter, bound, own, stats=stats)
                return
        view = self.view(bound, own)
        alive = view.alive(count)
        if stats is not None:
            stats.deltas_applied += view.records
        for segment, stop in self._segments_to(count):
            source = SegmentColumns(segment, stop, view)
            for part in split_ranges([(segment.start, stop)], stretch):
                block = scan_stretch(source, columns, row_filter, part, alive, stats)
                if block is not None:
                    yield block

    def scan_rows(
        self,
        picks: Iterable[Ordinals],
        columns: Sequence[ColumnSchema],
        row_filter: RowFilter | None,
        bound: SnapshotBound,
        own: OwnDeltas | None,
        *,
        stats: ScanStats | None,
    ) -> Iterator[RowBlock]:
        """Some of the rows, a block for each pick that has a row which matches.

        Args:
            picks: ordinals of rows committed below the bound whose keys the filter allows, in the
                order wanted.
            columns, row_filter, bound, own, stats: see `RowSet.scan`.
        """
        count = self.row_count(bound)
        view = self.view(bound, own)
        alive = view.alive(count)
        if stats is not None:
            stats.deltas_applied += view.records
        segments = [segment for segment, _ in self._segments_to(count)]
        in_key_ranges = None if row_filter is None else row_filter.within_key_ranges()
        for ordinals in picks:
            if len(ordinals):
                source = MemRowSelection(segments, ordinals, view)
                living = None if alive is None else alive[ordinals]
                part = (0, len(ordinals))
                block = scan_stretch(source, columns, in_key_ranges, part, living, stats)
                if block is not None:
                    yield block

    def runs(self, row_filter: RowFilter | None, bound: SnapshotBound) -> Sequence[KeyRun]:
        """The rows that a filter's keys allow, each run by key; none where the bound sees no row.

        Rows committed at or above the bound may be among them.
        """
        if self.row_count(bound) == 0:
            return []
        runs: Sequence[KeyRun] = self._key_order().runs()
        if row_filter is not None and row_filter.key_ranges is not None:
            ranges = row_filter.key_ranges
            runs = [part for run in runs for part in run.within(ranges)]
        return runs

    def rows_within(self, ranges: Sequence[KeyRange]) -> int:
        """How many rows have a key in some ranges, whenever they were committed."""
        return self._key_order().count_within(ranges)

    def by_key(self, bound: SnapshotBound) -> KeyRun:
        """The rows committed below a bound, of which there is one, by key."""
        return self._key_order().whole().below(self.row_count(bound))

    def order_newest_keys(self) -> None:
        """Bring the newest keys in order for those who read by key, if anybody does."""
        if self._order is not None:
            self._order.order_newest()

    def _key_order(self) -> KeyOrder:
        """The order of the keys, made at the first use: most transactions' rows need none."""
        order = self._order
        if order is None:
            order = self._order = KeyOrder(self._ordinals, self._segments, self._key_encoder)
        return order

    def key_range(self) -> tuple[bytes, bytes]:
        """The lowest and the highest key; there must be a row."""
        runs = self._key_order().runs()
        return min(r.keys.min_key() for r in runs), max(r.keys.max_key() for r in runs)

    def _segments_to(self, count: int) -> Iterator[tuple[Segment, int]]:
        stops = [*self._starts[1:], count]
        for segment, stop in zip(self._segments, stops, strict=False):
            if segment.start < count:
                yield segment, min(stop, count)

    def inserted(
        self, columns: Iterable[ColumnSchema], ordinals: Ordinals
    ) -> Mapping[int, pa.Array]:
        """Cells of some rows as they were inserted, mutations left aside, in the order given."""
        rows = MemRowSelection(self._segments, ordinals, DeltaView(()))
        return {c.id: plain(rows.read(c, 0, len(ordinals))) for c in columns}

    def column(self, column: ColumnSchema, count: int) -> pa.Array:
        """The first cells of a column as they were inserted, mutations left aside."""
        parts = [s.column(column, stop - s.start) for s, stop in self._segments_to(count)]
        decoded = [p.dictionary_decode() if pa.types.is_dictionary(p.type) else p for p in parts]
        return pa.concat_arrays(decoded) if decoded else pa.nulls(0, column.type.arrow)

    def insertion_times(self, count: int) -> npt.NDArray[np.uint64]:
        """The hybrid times at which the first rows were inserted, uint64[count]."""
        lengths = np.diff(np.minimum([0, *self._commit_counts], count))
        return np.repeat(np.array(self._commit_times, np.uint64), lengths)

    def changed_since(self, bound: SnapshotBound) -> npt.NDArray[np.bool_] | None:
        if self.newest < bound:
            return None
        mask = np.arange(self._rows) >= self.row_count(bound)
        if self.deltas.max_timestamp >= bound:
            mask[visible_undo(self.deltas.deltas(), bound).ordinals] = True
        return mask

    def mutate_one(
        self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell], timestamp: Timestamp
    ) -> None:
        self.deltas.add_one(ordinal, kind, cells, timestamp)

    def mutate(
        self,
        kind: DeltaKind,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: Timestamp,
    ) -> None:
        self.deltas.add_batch(kind, ordinals, columns, timestamp)
