"""The DiskRowSet: flushed rows, sorted by key, with their deltas.

Kudu's `tablet/diskrowset.h`: a CFileSet that never changes and a DeltaTracker whose stores are
swapped as deltas are flushed. The row at an ordinal exists at a snapshot unless the deltas visible
to it say otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.column_predicate import Predicate
from pykudu_sql.storage.common.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.common.types import Cell
from pykudu_sql.storage.tablet.cfile_set import CFileSet
from pykudu_sql.storage.tablet.delta_applier import apply_patch
from pykudu_sql.storage.tablet.delta_store import FOREVER, DeltaKind, Ordinals
from pykudu_sql.storage.tablet.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta_view import DeltaView
from pykudu_sql.storage.tablet.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.memrowset import living_rows
from pykudu_sql.storage.tablet.pruning import Range, matching_ranges
from pykudu_sql.storage.tablet.rowset import KeyProbe, RowBlock, replay_changes
from pykudu_sql.storage.tablet.tablet_metadata import RowSetMeta


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
        if own is not None or bound <= tracker.newest:
            return tracker.view(bound, own, self._file_view(bound))
        state = (tracker, *(store.version for store in tracker.stores))
        settled = self._settled
        if settled is None or settled[0] != state:
            settled = (state, tracker.view(bound, None, self._file_view(bound)))
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

    def _file_view(self, bound: int) -> DeltaView:
        """What the delta files come to; that of "now" is kept until a file is added."""
        tracker = self.tracker
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
        predicate: Predicate | None,
        bound: int,
        own: DeltaMemStore | None,
    ) -> Iterator[RowBlock]:
        """The rows that a snapshot sees, by key, save blocks that cannot match."""
        if not self.tracker.is_visible(bound):
            return
        view = self.view(bound, own)
        alive = view.alive(self.meta.rows)
        for start, stop in self.ranges(predicate, view):
            arrays = [self._column(column, start, stop, view) for column in columns]
            yield from living_rows(arrays, start, stop, alive)

    def _column(self, column: ColumnSchema, start: int, stop: int, view: DeltaView) -> pa.Array:
        """The cells of rows start <= ordinal < stop as a view has them.

        A whole column at "now" goes to the block cache, so only the first scan after a change
        patches it.
        """
        patch = view.patch(column.id)
        if patch is None:
            return self.base.column(column, start, stop)
        settled = self._settled
        if settled is None or settled[1] is not view or stop - start < self.meta.rows:
            return apply_patch(self.base.column(column, start, stop), start, patch, column.type)
        return self.base.derived(
            (view.token, column.id),
            lambda: apply_patch(self.base.column(column, 0, stop), 0, patch, column.type),
        )

    def ranges(self, predicate: Predicate | None, view: DeltaView) -> list[Range]:
        """Ordinal ranges that a predicate can match."""
        if predicate is None:
            return [(0, self.meta.rows)]

        def changed(column_id: int) -> Ordinals | None:
            patch = view.patch(column_id)
            return None if patch is None else patch.ordinals

        return matching_ranges(predicate, self.meta.rows, self.base.zone_map, changed)

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
