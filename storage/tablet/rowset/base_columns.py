"""The columns of a DiskRowSet as one scan reads them: base data with the deltas of its snapshot.

A column that deltas changed is patched where it is read: a stretch by one scatter, single rows by
the part of the patch that meets them. Patched whole at "now" it is kept, and the next scan applies
what came since (`patched_columns`).
"""

from collections.abc import Sequence, Set

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.decoded.decoded_cells import ColumnMemory
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.row_filter import FilterStep
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.arrays import plain
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.delta.delta_applier import (
    apply_cells,
    apply_patch,
    apply_patches,
    patched_validity,
)
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_view import CurrentView, DeltaView
from pykudu_sql.storage.tablet.delta.patched_column import cells_at
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet
from pykudu_sql.storage.tablet.rowset.row_patches import RowPatches
from pykudu_sql.storage.tablet.rowset.rowset import TextForm
from pykudu_sql.storage.tablet.rowset.tablet_scanner import ordinals_between


class BaseColumns:
    """A `RowSource` over a CFileSet with its deltas applied."""

    def __init__(
        self,
        base: CFileSet,
        view: DeltaView,
        *,
        is_cached: bool,
        cache_blocks: bool,
        stats: ScanStats | None,
        texts: TextForm = TextForm.STRINGS,
        validity_ids: Set[int] = frozenset(),
    ) -> None:
        """Nothing is read yet.

        Args:
            base: the base image.
            view: the combined effect of the deltas.
            is_cached: the view is the cached one, which other scans share.
            cache_blocks: what is decoded is kept for other scans.
            texts: in the columns of a result.
            validity_ids: columns of a result that come as `validity_array` has them.
        """
        self._base = base
        self._view = view
        self._current: CurrentView | None = None
        if is_cached and cache_blocks and isinstance(view, CurrentView) and not view.is_empty:
            self._current = view
        self._texts = texts
        self._validity_ids = validity_ids
        self._stretch = base.column if cache_blocks else base.column_once
        self._some = base.take if cache_blocks else base.take_once
        self._stats = stats
        self._blocks_read: dict[int, npt.NDArray[np.bool_]] = {}
        self._changes: RowPatches | None = None

    def read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        cells = self._read(column, start, stop)
        if not pa.types.is_string_view(cells.type):
            return cells
        if self._current is None or stop - start < self._base.rows:
            return plain(cells)
        return self._base.patched_columns.strings(self._current, column, cells)

    def result(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        if column.id in self._validity_ids:
            return self._validity(column, start, stop)
        read = self._read if self._texts is TextForm.VIEWS else self.read
        return read(column, start, stop)

    def _read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        """Cells of a stretch, texts as views where they are kept so."""
        if self._stats is not None:
            self._touch_span(column, start, stop)
        if self._current is not None:
            if stop - start == self._base.rows:
                whole = self._patched(self._current, column)
                return self._stretch(column, start, stop, self._stats) if whole is None else whole
            cached = self._base.patched_columns.at_hand(self._current, column)
            if cached is not None:
                return cached.slice(start, stop - start)
            numbers = self._current.numbers_set(column.id)
            if numbers is not None:
                base = self._stretch(column, start, stop, self._stats)
                return apply_cells(base, start, numbers, column.type)
        patches = self._view.layers(column.id)
        base = self._stretch(column, start, stop, self._stats)
        return apply_patches(base, start, patches, column.type) if patches else base

    def _validity(self, column: ColumnSchema, start: int, stop: int) -> pa.BooleanArray:
        """Where the rows of a stretch are NULL."""
        if self._stats is not None:
            self._touch_span(column, start, stop)
        if self._current is not None and stop - start == self._base.rows:
            whole = WholeBase(self._base, column, self._stats)
            patched = self._base.patched_columns.validity(self._current, column, whole)
            if patched is not None:
                return patched
        base = self._base.validity(column, start, stop, self._stats)
        parts = [layer.between(start, stop) for layer in self._view.layers(column.id)]
        changes = [(part.ordinals - start, part.values) for part in parts if part is not None]
        return patched_validity(base, changes) if changes else base

    def _patched(self, view: CurrentView, column: ColumnSchema) -> pa.Array | None:
        base = WholeBase(self._base, column, self._stats)
        return self._base.patched_columns.whole(view, column, base)

    def take(self, column: ColumnSchema, ordinals: Ordinals) -> pa.Array:
        if self._stats is not None:
            self._touch_rows(column, ordinals)
        if self._current is not None:
            cached = self._base.patched_columns.at_hand(self._current, column)
            if cached is not None:
                return cells_at(cached, ordinals)
        base = self._some(column, ordinals, self._stats)
        if not self._view.may_change(column.id):
            return base
        if self._changes is None or not np.array_equal(self._changes.ordinals, ordinals):
            self._changes = RowPatches(self._view, ordinals)
        return apply_patch(base, 0, self._changes.patch(column.id), column.type)

    def addresses(self, start: int, stop: int) -> Ordinals:
        return ordinals_between(start, stop)

    def evaluate(self, step: FilterStep, start: int, stop: int) -> npt.NDArray[np.bool_] | None:
        """Which rows start <= ordinal < stop a step holds for; None if cells must be read.

        A column in codes is asked word by word, one in runs a run at a time; a stretch that is
        shorter than either has nothing to gain.
        """
        if len(step.columns) != 1:
            return None
        (column,) = step.columns
        if self._view.may_change(column.id):
            return None
        mask = self._by_word(step, column, start, stop)
        if mask is None:
            mask = self._by_run(step, column, start, stop)
        if mask is not None and self._stats is not None:
            self._touch_span(column, start, stop)
        return mask

    def is_ordered_by(self, column: ColumnSchema) -> bool:
        return self._base.is_ordered_by(column.id)

    def _by_word(
        self, step: FilterStep, column: ColumnSchema, start: int, stop: int
    ) -> npt.NDArray[np.bool_] | None:
        coded = self._base.coded(column, start, stop)
        if coded is None or len(coded.words) > stop - start:
            return None
        return coded.matches(step.predicate, column.id)

    def _by_run(
        self, step: FilterStep, column: ColumnSchema, start: int, stop: int
    ) -> npt.NDArray[np.bool_] | None:
        """Only where most of the rowset is read, since all runs of a column are read at once."""
        if 2 * (stop - start) < self._base.rows:
            return None
        runs = self._base.runs(column, self._stats)
        if runs is None:
            return None
        by_run = evaluate(step.predicate, {column.id: runs.values}, step.types)
        return runs.expand(by_run, start, stop)

    def _touch_span(self, column: ColumnSchema, start: int, stop: int) -> None:
        """Note the blocks of a stretch of rows."""
        zone = self._base.zone_map(column.id)
        if zone is not None:
            first = zone.first_ordinals.searchsorted(start, "right") - 1
            last = zone.first_ordinals.searchsorted(stop - 1, "right") - 1
            self._blocks_read_of(column, zone)[first : last + 1] = True

    def _touch_rows(self, column: ColumnSchema, ordinals: Ordinals) -> None:
        """Note the blocks of some rows."""
        zone = self._base.zone_map(column.id)
        if zone is not None:
            self._blocks_read_of(column, zone)[zone.holds_any(ordinals)] = True

    def _blocks_read_of(self, column: ColumnSchema, zone: ZoneMap) -> npt.NDArray[np.bool_]:
        blocks = self._blocks_read.get(column.id)
        if blocks is None:
            blocks = self._blocks_read[column.id] = np.zeros(zone.block_count, np.bool_)
        return blocks

    def count_blocks(self, columns: Sequence[ColumnSchema]) -> None:
        """Tell the collector how many blocks some columns have and how many were not looked at."""
        if self._stats is None:
            return
        for column_id in {column.id for column in columns}:
            zone = self._base.zone_map(column_id)
            if zone is not None:
                blocks_read = self._blocks_read.get(column_id)
                read = 0 if blocks_read is None else int(np.count_nonzero(blocks_read))
                self._stats.blocks += zone.block_count
                self._stats.blocks_skipped += zone.block_count - read


@dataclass(frozen=True, slots=True)
class WholeBase:
    """A `BaseColumn` of a CFileSet."""

    base: CFileSet
    column: ColumnSchema
    stats: ScanStats | None

    def read(self) -> pa.Array:
        """See `BaseColumn`."""
        return self.base.column(self.column, 0, self.base.rows, self.stats)

    def validity(self) -> pa.BooleanArray:
        """See `BaseColumn`."""
        return self.base.validity(self.column, 0, self.base.rows, self.stats)

    def take_memory(self) -> ColumnMemory | None:
        """See `BaseColumn`."""
        return self.base.take_memory(self.column)
