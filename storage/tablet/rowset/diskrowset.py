"""The DiskRowSet: flushed rows, sorted by key, with their deltas.

Kudu's `tablet/diskrowset.h`: a CFileSet and a DeltaTracker. None of them is changed in place: when
deltas are flushed or compacted, a new DiskRowSet takes the place of the old one. The row at an
ordinal exists at a snapshot unless the deltas visible to it say otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.predicate.column_predicate import InList, Leaf
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.predicate_simplify import simplify
from pykudu_sql.storage.common.predicate.predicate_stats import trim
from pykudu_sql.storage.common.predicate.row_filter import FilterStep, RowFilter
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_kind import DeltaKind
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.delta.delta_view_cache import DeltaViewCache
from pykudu_sql.storage.tablet.delta.own_deltas import OwnDeltas
from pykudu_sql.storage.tablet.rowset.base_columns import BaseColumns
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet
from pykudu_sql.storage.tablet.rowset.pruning import Range, intersect, key_spans, matching_ranges
from pykudu_sql.storage.tablet.rowset.rowset import KeyProbe, RowBlock, TextForm, replay_changes
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta
from pykudu_sql.storage.tablet.rowset.tablet_scanner import (
    scan_ordinals,
    scan_stretch,
    scattered_ordinals,
    split_ranges,
)


@dataclass(frozen=True, slots=True, eq=False)
class DiskRowSet:
    """Rows on disk. Writers hold the commit lock; readers need none.

    A flush or compaction makes a new one, and swaps it with the tablet's components. Only the
    DeltaMemStores grow, and go over from one to the next.

    Attributes:
        meta: as in the manifest.
        base: the base image.
        tracker: the deltas.
        views: those of "now".
    """

    meta: RowSetMeta
    base: CFileSet
    tracker: DeltaTracker
    views: DeltaViewCache

    @classmethod
    def of(cls, meta: RowSetMeta, base: CFileSet, tracker: DeltaTracker) -> "DiskRowSet":
        """Put base and deltas together."""
        return cls(meta, base, tracker, DeltaViewCache(tracker))

    def with_deltas(self, tracker: DeltaTracker, meta: RowSetMeta | None = None) -> "DiskRowSet":
        """The rowset with other deltas, and the metadata that name them, where these differ."""
        views = DeltaViewCache(tracker, self.views)
        return DiskRowSet(self.meta if meta is None else meta, self.base, tracker, views)

    @property
    def id(self) -> int:
        """Distinguishes the rowset within its tablet."""
        return self.meta.id

    def row_count(self, bound: SnapshotBound) -> int:
        """Rows of the base image, or 0 before the commit that inserted them all."""
        return self.meta.rows if self.tracker.is_visible(bound) else 0

    def find_one(self, probe: KeyProbe) -> int:
        return self.base.find_one(probe)

    def find(self, keys: EncodedKeys) -> Ordinals:
        return self.base.find(keys)

    def view(self, bound: SnapshotBound, own: OwnDeltas | None) -> DeltaView:
        """The deltas' combined effect at a snapshot; cached for "now" until a delta arrives."""
        return self.views.view(bound, own)

    def read_row(
        self,
        ordinal: int,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        own: OwnDeltas | None,
    ) -> tuple[Cell, ...] | None:
        """A row's cells as a snapshot sees them, or None."""
        tracker = self.tracker
        if not tracker.is_visible(bound):
            return None
        base = self.base.cells(columns, ordinal) if columns else ()
        if own is None and tracker.is_empty:
            return base
        column_ids = [column.id for column in columns]
        cells: Sequence[Cell] | None = base
        changes = tracker.row_changes(ordinal, bound, column_ids)
        if changes:
            cells = replay_changes(cells, columns, changes)
        pending = () if own is None else own.row_changes(ordinal, column_ids)
        if pending:
            cells = replay_changes(cells, columns, pending)
        return None if cells is None else tuple(cells)

    def read_rows(
        self,
        ordinals: Ordinals,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        own: OwnDeltas | None,
    ) -> list[pa.Array]:
        """Cells of some rows that a snapshot sees; see `RowSet.read_rows`."""
        view = self.view(bound, own)
        is_cached = self.views.is_cached(view)
        rows = BaseColumns(self.base, view, is_cached=is_cached, cache_blocks=True, stats=None)
        return [plain(rows.take(column, ordinals)) for column in columns]

    def scan(
        self,
        columns: Sequence[ColumnSchema],
        row_filter: RowFilter | None,
        bound: SnapshotBound,
        own: OwnDeltas | None,
        *,
        ranges: Sequence[Range] | None = None,
        within: Range | None = None,
        stretch: int | None = None,
        stats: ScanStats | None = None,
        cache_blocks: bool = True,
        texts: TextForm = TextForm.STRINGS,
        validity_ids: Set[int] = frozenset(),
    ) -> Iterator[RowBlock]:
        """The rows that a snapshot sees and that match a filter, by key; see `RowSet.scan`.

        Args:
            columns, row_filter, bound, own, stretch, stats, cache_blocks: see `RowSet.scan`.
            ranges: what `ranges_to_read` gave; None to ask it.
            within: only the rows start <= ordinal < stop.
            texts: how they come.
            validity_ids: columns of which only is wanted where they are NULL; they may come as
                `validity_array` has them.
        """
        if ranges is None:
            ranges = self.ranges_to_read(row_filter, bound, own, stats)
        if within is not None:
            ranges = intersect(ranges, [within])
        if not ranges:
            if stats is not None:
                stats.rowsets_pruned += 1
            return
        view = self.view(bound, own)
        if stats is not None:
            stats.deltas_applied += view.records
        source = BaseColumns(
            self.base,
            view,
            is_cached=self.views.is_cached(view),
            cache_blocks=cache_blocks,
            stats=stats,
            texts=texts,
            validity_ids=validity_ids,
        )
        alive = view.alive(self.meta.rows)
        row_filter = None if row_filter is None else self._trimmed(row_filter, view)
        try:
            ordinals = scattered_ordinals(ranges, stretch)
            if ordinals is not None:
                scattered = scan_ordinals(source, columns, row_filter, ordinals, alive, stats)
                if scattered is not None:
                    yield scattered
                return
            for part in split_ranges(ranges, stretch):
                block = scan_stretch(source, columns, row_filter, part, alive, stats)
                if block is not None:
                    yield block
        finally:
            steps = () if row_filter is None else row_filter.steps
            source.count_blocks([*columns, *(c for step in steps for c in step.columns)])

    def may_have_rows(self, bound: SnapshotBound, own: OwnDeltas | None) -> bool:
        """Whether a snapshot may see a row, by metadata; with a transaction's own changes."""
        if not self.tracker.is_visible(bound):
            return False
        # A transaction deletes rows that it sees, so none that a commit has deleted.
        deletes = self.tracker.deletes(bound) + (0 if own is None else own.deletes)
        return deletes < self.meta.rows

    def may_match(self, row_filter: RowFilter | None, bound: SnapshotBound) -> bool:
        """Whether a snapshot may see a row that matches, by metadata."""
        if not self.may_have_rows(bound, None):
            return False
        return row_filter is None or row_filter.may_hold(self.meta.min_key, self.meta.max_key)

    def ranges_to_read(
        self,
        row_filter: RowFilter | None,
        bound: SnapshotBound,
        own: OwnDeltas | None,
        stats: ScanStats | None = None,
    ) -> list[Range]:
        """Ordinal ranges outside which a snapshot sees no row that matches, by metadata.

        `own`: see `RowSet.scan`; `stats`: counts what skip indexes exclude.
        """
        if not self.may_match(row_filter, bound):
            return []
        return self.ranges_of(row_filter, self.view(bound, own), stats)

    def ranges_of(
        self, row_filter: RowFilter | None, view: DeltaView, stats: ScanStats | None = None
    ) -> list[Range]:
        """Ordinal ranges that a filter can match, by `ranges` and by keys."""
        if row_filter is None:
            return [(0, self.meta.rows)]
        spans = self.key_spans(row_filter)
        return intersect(self.ranges(row_filter, view, stats), spans) if spans else []

    def key_spans(self, row_filter: RowFilter) -> list[Range]:
        """Ordinal ranges outside which no row's key is in the ranges of a filter."""
        ranges, meta = row_filter.key_ranges, self.meta
        # The index of a rowset all of whose keys lie within a range is not read for it.
        if ranges is None or any(
            low <= meta.min_key and (high is None or meta.max_key < high) for low, high in ranges
        ):
            return [(0, meta.rows)]
        return key_spans(ranges, self.base.key_index)

    def ranges(
        self, row_filter: RowFilter, view: DeltaView, stats: ScanStats | None = None
    ) -> list[Range]:
        """Ordinal ranges that a predicate can match, by statistics of blocks and skip indexes."""

        def excludes(leaf: Leaf) -> bool:
            excluded = self.base.excludes(leaf)
            if excluded and stats is not None:
                stats.index_skips += 1
            return excluded

        columns = {column.id: column for step in row_filter.steps for column in step.columns}

        def changed(leaf: Leaf) -> Ordinals:
            column = columns.get(leaf.column_id)
            return view.changed(leaf.column_id, partial(_meets, leaf, column))

        return matching_ranges(
            row_filter.predicate, self.meta.rows, self.base.cfile, changed, excludes
        )

    def _trimmed(self, row_filter: RowFilter, view: DeltaView) -> RowFilter:
        """A filter whose IN lists have lost the values that no row of this rowset has."""
        if not any(isinstance(step.predicate, InList) for step in row_filter.steps):
            return row_filter
        steps = [self._trimmed_step(step, view) for step in row_filter.steps]
        return replace(row_filter, steps=tuple(steps))

    def _trimmed_step(self, step: FilterStep, view: DeltaView) -> FilterStep:
        leaf = step.predicate
        if not isinstance(leaf, InList):
            return step
        zone = self.base.zone_map(leaf.column_id)
        if zone is None or view.may_change(leaf.column_id):
            return step
        return replace(step, predicate=trim(leaf, zone.column_stats))

    def changed_since(self, bound: SnapshotBound) -> npt.NDArray[np.bool_] | None:
        return self.tracker.changed_since(bound, self.meta.rows)

    def mutate_one(
        self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell], timestamp: Timestamp
    ) -> None:
        self.tracker.memory.add_one(ordinal, kind, cells, timestamp)

    def mutate(
        self,
        kind: DeltaKind,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: Timestamp,
    ) -> None:
        self.tracker.memory.add_batch(kind, ordinals, columns, timestamp)


def _meets(leaf: Leaf, column: ColumnSchema | None, cells: pa.Array) -> npt.NDArray[np.bool_]:
    """Which changed cells of a column may meet a comparison; all where the column is not known."""
    if column is None:
        return np.ones(len(cells), np.bool_)
    condition = simplify(leaf, {column.id: column})
    cells = in_type(cells, column.type.arrow)
    return evaluate(condition, {column.id: cells}, {column.id: column.type})
