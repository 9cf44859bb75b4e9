"""The work behind each kind of operation: the same functions that tests and SQL call."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from pykudu_sql.storage.common.cancellation import CancelCheck
from pykudu_sql.storage.maintenance.context import MaintenanceContext
from pykudu_sql.storage.maintenance.operation import OperationKind
from pykudu_sql.storage.maintenance.stats_collector import StatsCollector
from pykudu_sql.storage.maintenance.tablet_stats import updated_columns
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.maintenance.flush import flush_delta_stores, flush_memrowset
from pykudu_sql.storage.tablet.maintenance.history_gc import collect_deleted_rowsets, collect_undo
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.tablet import Tablet

TabletWork = Callable[[Tablet, CancelCheck], object]


class _Cancelled(Exception):
    """The maintenance thread is being stopped."""


class OperationRunner:
    """Runs operations on single tablets, whose maintenance locks the caller holds.

    What an operation's `cancel_check` raises ends it, and leaves the tablet as it was.
    """

    def __init__(
        self, context: MaintenanceContext, collector: StatsCollector, cancelled: Callable[[], bool]
    ) -> None:
        """Nothing runs yet.

        Args:
            context: the store.
            collector: knows which rowsets gain most.
            cancelled: called now and then by long operations, which then stop.
        """
        self._services = context.committer.tablet_services
        self._collector = collector
        self._cancelled = cancelled
        self.work: Mapping[OperationKind, TabletWork] = {
            OperationKind.FLUSH_MEMROWSET: self._flush_memrowset,
            OperationKind.FLUSH_DELTA_STORES: self._flush_delta_stores,
            OperationKind.COMPACT_ROWSETS: self._compact_rowsets,
            OperationKind.MINOR_DELTA_COMPACTION: self._compact_redo,
            OperationKind.MAJOR_DELTA_COMPACTION: self._compact_major,
            OperationKind.UNDO_GC: lambda tablet, _: collect_undo(tablet, self._services),
            OperationKind.DELETED_ROWSET_GC: lambda tablet, _: collect_deleted_rowsets(
                tablet, self._services
            ),
        }

    def compact_all(self, tablet: Tablet, cancel_check: CancelCheck) -> None:
        """Merge all rowsets of a tablet into ones in order, of the target size."""
        every = {rowset.id for rowset in tablet.components.tree.rowsets}
        self._compact(tablet, every, cancel_check)

    def _flush_memrowset(self, tablet: Tablet, cancel_check: CancelCheck) -> None:
        self._collector.begin_flush(tablet.id, OperationKind.FLUSH_MEMROWSET)
        flush_memrowset(tablet, self._services, cancel_check)

    def _flush_delta_stores(self, tablet: Tablet, cancel_check: CancelCheck) -> None:
        self._collector.begin_flush(tablet.id, OperationKind.FLUSH_DELTA_STORES)
        flush_delta_stores(tablet, self._services, cancel_check)

    def _compact_rowsets(self, tablet: Tablet, cancel_check: CancelCheck) -> None:
        self._compact(tablet, self._collector.choice(tablet).ids, cancel_check)

    def _compact(
        self, tablet: Tablet, rowset_ids: Collection[int], cancel_check: CancelCheck
    ) -> None:
        def stop_or_go_on() -> None:
            cancel_check()
            if self._cancelled():
                raise _Cancelled

        tree = tablet.components.tree
        rowsets = [rowset for rowset in tree.rowsets if rowset.id in rowset_ids]
        if rowsets:
            with suppress(_Cancelled):
                compact_rowsets(tablet, rowsets, self._services, cancel_check=stop_or_go_on)
            self._collector.note_compaction(tablet, tree)

    def _compact_redo(self, tablet: Tablet, cancel_check: CancelCheck) -> None:
        rowset = _rowset(tablet, self._collector.disk(tablet).minor.rowset_id)
        if rowset is not None:
            compact_redo(tablet, rowset, self._services, cancel_check)

    def _compact_major(self, tablet: Tablet, cancel_check: CancelCheck) -> None:
        rowset = _rowset(tablet, self._collector.disk(tablet).major.rowset_id)
        if rowset is not None:
            columns = updated_columns(rowset.meta)
            compact_major(tablet, rowset, columns, self._services, cancel_check)


def _rowset(tablet: Tablet, rowset_id: int | None) -> DiskRowSet | None:
    rowsets = (rowset for rowset in tablet.components.tree.rowsets if rowset.id == rowset_id)
    return next(rowsets, None)
