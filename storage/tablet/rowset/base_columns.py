"""The columns of a DiskRowSet as one scan reads them: base data with the deltas of its snapshot.

A column that deltas changed is patched where it is read: a stretch by one scatter, single rows by
the part of the patch that meets them. Patched whole at "now" it goes to the block cache, so only
the first scan after a change patches it; with the next change it is forgotten.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.row_filter import FilterStep
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.widening import in_type
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patches
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.delta.delta_view import DeltaView
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet
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
    ) -> None:
        """Nothing is read yet.

        Args:
            base: the base image.
            view: the combined effect of the deltas.
            is_cached: the view is the cached one, which other scans share.
            cache_blocks: what is decoded is kept for other scans.
        """
        self._base = base
        self._view = view
        self._is_cached = is_cached and cache_blocks
        self._stretch = base.column if cache_blocks else base.column_once
        self._some = base.take if cache_blocks else base.take_once
        self._stats = stats
        self._blocks_read: dict[int, npt.NDArray[np.bool_]] = {}

    def read(self, column: ColumnSchema, start: int, stop: int) -> pa.Array:
        if self._stats is not None:
            self._touch_span(column, start, stop)
        patches = self._view.layers(column.id)
        if not patches:
            return self._stretch(column, start, stop, self._stats)
        if self._is_cached:
            if stop - start == self._base.rows:
                whole = self._base.derived(
                    self._view,
                    column.id,
                    lambda: apply_patches(
                        self._base.column(column, 0, stop, self._stats), 0, patches, column.type
                    ),
                )
                return in_type(whole, column.type.arrow)
            cached = self._base.cached_derived(self._view, column.id)
            if cached is not None:
                return in_type(cached.slice(start, stop - start), column.type.arrow)
        base = self._stretch(column, start, stop, self._stats)
        return apply_patches(base, start, patches, column.type)

    def take(self, column: ColumnSchema, ordinals: Ordinals) -> pa.Array:
        if self._stats is not None:
            self._touch_rows(column, ordinals)
        patches = self._view.layers(column.id)
        if patches and self._is_cached:
            cached = self._base.cached_derived(self._view, column.id)
            if cached is not None:
                return in_type(pc.pick(cached, pa.array(ordinals)), column.type.arrow)
        base = self._some(column, ordinals, self._stats)
        parts = [part for patch in patches if (part := patch.at_ordinals(ordinals)) is not None]
        return apply_patches(base, 0, parts, column.type)

    def addresses(self, start: int, stop: int) -> Ordinals:
        return ordinals_between(start, stop)

    def evaluate(self, step: FilterStep, start: int, stop: int) -> npt.NDArray[np.bool_] | None:
        """Which rows start <= ordinal < stop a step holds for, a run at a time; None without runs.

        Only where most of the rowset is read, since all runs of a column are read at once.
        """
        if len(step.columns) != 1 or 2 * (stop - start) < self._base.rows:
            return None
        (column,) = step.columns
        if self._view.layers(column.id):
            return None
        runs = self._base.runs(column, self._stats)
        if runs is None:
            return None
        if self._stats is not None:
            self._touch_span(column, start, stop)
        by_run = evaluate(step.predicate, {column.id: runs.values}, step.types)
        return runs.expand(by_run, start, stop)

    def _touch_span(self, column: ColumnSchema, start: int, stop: int) -> None:
        """Note the blocks of a stretch of rows."""
        zone = self._base.zone_map(column.id)
        if zone is not None:
            first, last = np.searchsorted(zone.first_ordinals, (start, stop - 1), "right") - 1
            self._blocks_read_of(column, zone)[first : last + 1] = True

    def _touch_rows(self, column: ColumnSchema, ordinals: Ordinals) -> None:
        """Note the blocks of some rows."""
        zone = self._base.zone_map(column.id)
        if zone is not None:
            # Few searches in many rows, not many in few.
            before = np.searchsorted(ordinals, zone.first_ordinals)
            self._blocks_read_of(column, zone)[np.diff(before) > 0] = True

    def _blocks_read_of(self, column: ColumnSchema, zone: ZoneMap) -> npt.NDArray[np.bool_]:
        return self._blocks_read.setdefault(column.id, np.zeros(zone.block_count, np.bool_))

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
