"""The DiskRowSet: flushed rows, sorted by key, with their deltas.

Kudu's `tablet/diskrowset.h`: a CFileSet that never changes and a DeltaTracker whose stores are
swapped as deltas are flushed. The row at an ordinal exists at a snapshot unless the deltas visible
to it say otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.column_predicate import InList, Leaf, Predicate
from pykudu_sql.storage.common.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.predicate_stats import trim
from pykudu_sql.storage.common.row_filter import FilterStep, RowFilter
from pykudu_sql.storage.common.scan_stats import ScanStats
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.common.types import Cell
from pykudu_sql.storage.tablet.base_columns import BaseColumns
from pykudu_sql.storage.tablet.cfile_set import CFileSet
from pykudu_sql.storage.tablet.delta_store import FOREVER, DeltaKind, Ordinals
from pykudu_sql.storage.tablet.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta_view import DeltaView
from pykudu_sql.storage.tablet.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.pruning import Range, intersect, key_spans, matching_ranges
from pykudu_sql.storage.tablet.rowset import KeyProbe, RowBlock, replay_changes
from pykudu_sql.storage.tablet.tablet_metadata import RowSetMeta
from pykudu_sql.storage.tablet.tablet_scanner import cut, scan_stretch


class DiskRowSet:
    """Rows on disk. Writers hold the commit lock; readers need none.

    Attributes:
        meta: as in the manifest.
        base: the base image.
        tracker: the deltas; swapped whole.
    """

    def __init__(
        self,
        meta: RowSetMeta,
        base: CFileSet,
        tracker: DeltaTracker,
    ) -> None:
        """Put base and deltas together.

        Args:
            meta: as in the manifest.
            base: the base image.
            tracker: the deltas.
        """
        self.meta = meta
        self.base = base
        self.tracker = tracker
        self._settled: tuple[object, DeltaView] | None = None
        self._settled_files: tuple[object, DeltaView] | None = None

    @property
    def id(self) -> int:
        """Distinguishes the rowset within its tablet."""
        return self.meta.id

    def row_count(self, bound: int) -> int:
        """Rows of the base image, or 0 before the commit that inserted them all."""
        return self.meta.rows if self.tracker.is_visible(bound) else 0

    def find_one(self, probe: KeyProbe) -> int:
        """The ordinal of a key, alive or not, or -1."""
        return self.base.find_one(probe)

    def find(self, keys: EncodedKeys) -> Ordinals:
        """The ordinals of keys, alive or not, or -1, int64[n]."""
        return self.base.find(keys)

    def view(self, bound: int, own: DeltaMemStore | None) -> DeltaView:
        """What the deltas come to at a snapshot; that of "now" is kept until a delta arrives."""
        tracker = self.tracker
        # Taken before the newest change is looked at: one that arrives in between must not be
        # counted in the state of a view that leaves it out.
        state = (tracker, *(store.version for store in tracker.stores))
        newest = tracker.newest
        if own is not None or bound <= newest:
            return tracker.view(bound, own, self._file_view(tracker, bound))
        settled = self._settled
        if settled is None or settled[0] != state:
            # Its stores are looked at later. A bound that no commit has reached, as of writes that
            # are done over at commit, would let changes in that others must not see yet.
            files = self._file_view(tracker, newest + 1)
            settled = (state, tracker.view(newest + 1, None, files))
            self._settled = settled
        return settled[1]

    def read_row(
        self,
        ordinal: int,
        columns: Sequence[ColumnSchema],
        bound: int,
        own: DeltaMemStore | None,
    ) -> tuple[Cell, ...] | None:
        """A row's cells as a snapshot sees them, or None."""
        tracker = self.tracker
        if not tracker.is_visible(bound):
            return None
        cells: list[Cell] | None = [self.base.cell(column, ordinal) for column in columns]
        changes = tracker.row_changes(ordinal, bound, [column.id for column in columns])
        if changes:
            cells = replay_changes(cells, columns, changes)
        pending = None if own is None else own.outcome_of(ordinal, FOREVER)
        if pending is not None:
            cells = replay_changes(cells, columns, (pending,))
        return None if cells is None else tuple(cells)

    def _file_view(self, tracker: DeltaTracker, bound: int) -> DeltaView:
        """What the delta files come to; that of "now" is kept until a file is added."""
        if bound <= tracker.newest_on_disk:
            return tracker.file_view(bound)
        state = (tracker.undo, tracker.redo)
        settled = self._settled_files
        if settled is None or settled[0] != state:
            settled = (state, tracker.file_view(bound))
            self._settled_files = settled
        return settled[1]

    def scan(
        self,
        columns: Sequence[ColumnSchema],
        row_filter: RowFilter | None,
        bound: int,
        own: DeltaMemStore | None,
        *,
        within: Range | None = None,
        stretch: int | None = None,
        stats: ScanStats | None = None,
    ) -> Iterator[RowBlock]:
        """The rows that a snapshot sees and that match a filter, by key; see `RowSet.scan`.

        Args:
            columns, row_filter, bound, own, stretch, stats: see `RowSet.scan`.
            within: only the rows start <= ordinal < stop.
        """
        if not self.may_match(row_filter, bound):
            if stats is not None:
                stats.rowsets_pruned += 1
            return
        view = self.view(bound, own)
        ranges = self.ranges_of(row_filter, view, stats)
        if within is not None:
            ranges = intersect(ranges, [within])
        if stats is not None:
            stats.rowsets_pruned += not ranges
            stats.deltas_applied += view.records if ranges else 0
        if not ranges:
            return
        source = BaseColumns(self.base, view, is_settled=self._is_settled(view), stats=stats)
        alive = view.alive(self.meta.rows)
        row_filter = None if row_filter is None else self._trimmed(row_filter, view)
        try:
            for part in cut(ranges, stretch):
                block = scan_stretch(source, columns, row_filter, part, alive, stats)
                if block is not None:
                    yield block
        finally:
            steps = () if row_filter is None else row_filter.steps
            source.count_blocks([*columns, *(c for step in steps for c in step.columns)])

    def may_match(self, row_filter: RowFilter | None, bound: int) -> bool:
        """Whether a snapshot can see a row that matches, as far as metadata tell."""
        if not self.tracker.is_visible(bound):
            return False
        return row_filter is None or row_filter.may_hold(self.meta.min_key, self.meta.max_key)

    def _is_settled(self, view: DeltaView) -> bool:
        """Whether a view is that of "now", which is kept."""
        settled = self._settled
        return settled is not None and settled[1] is view

    def ranges_of(
        self, row_filter: RowFilter | None, view: DeltaView, stats: ScanStats | None = None
    ) -> list[Range]:
        """Ordinal ranges that a filter can match, by what `ranges` asks and by keys."""
        if row_filter is None:
            return [(0, self.meta.rows)]
        ranges = self.ranges(row_filter.predicate, view, stats)
        if row_filter.key_ranges is None or not ranges:
            return ranges
        return intersect(ranges, key_spans(row_filter.key_ranges, self.base.key_index))

    def ranges(
        self, predicate: Predicate | None, view: DeltaView, stats: ScanStats | None = None
    ) -> list[Range]:
        """Ordinal ranges that a predicate can match, by statistics of blocks and skip indexes."""
        if predicate is None:
            return [(0, self.meta.rows)]

        def changed(column_id: int) -> Ordinals | None:
            patch = view.patch(column_id)
            return None if patch is None else patch.ordinals

        def excludes(leaf: Leaf) -> bool:
            excluded = self.base.excludes(leaf)
            if excluded and stats is not None:
                stats.index_skips += 1
            return excluded

        return matching_ranges(predicate, self.meta.rows, self.base.cfile, changed, excludes)

    def _trimmed(self, row_filter: RowFilter, view: DeltaView) -> RowFilter:
        """A filter whose IN lists have lost the values that no row of this rowset has."""
        steps = [self._trimmed_step(step, view) for step in row_filter.steps]
        return replace(row_filter, steps=tuple(steps))

    def _trimmed_step(self, step: FilterStep, view: DeltaView) -> FilterStep:
        leaf = step.predicate
        if not isinstance(leaf, InList):
            return step
        zone = self.base.zone_map(leaf.column_id)
        if zone is None or view.patch(leaf.column_id) is not None:
            return step
        return replace(step, predicate=trim(leaf, zone.column_stats()))

    def changed_since(self, bound: int) -> npt.NDArray[np.bool_] | None:
        """Rows with a commit at or after a bound; None when there are none."""
        return self.tracker.changed_since(bound, self.meta.rows)

    def mutate_one(
        self, ordinal: int, kind: DeltaKind, cells: Mapping[int, Cell], timestamp: int
    ) -> None:
        """Change one row."""
        self.tracker.memory.add_one(ordinal, kind, cells, timestamp)

    def mutate(
        self,
        kind: DeltaKind,
        ordinals: Ordinals,
        columns: Mapping[int, pa.Array],
        timestamp: int,
    ) -> None:
        """Change many rows alike."""
        self.tracker.memory.add_batch(kind, ordinals, columns, timestamp)
