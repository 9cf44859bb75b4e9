"""Collecting history that no readable snapshot needs any more.

Snapshots are read at the ancient history mark or above, so two things may go without reading or
rewriting anything (Kudu's UndoDeltaBlockGCOp and DeletedRowsetGCOp, `tablet/tablet_mm_ops.h`):

- an UNDO file whose newest delta is below the mark: it leads back to times before it;
- a rowset whose rows were all deleted below the mark.

Both are decided by the statistics in the manifest. History inside of files that stay is left to
compactions.
"""

from dataclasses import replace

from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.tablet.maintenance.rowset_swap import swap_rowsets
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices


def undo_garbage(rowset: DiskRowSet, mark: SnapshotBound) -> int:
    """Bytes of a rowset's UNDO files that lead back only to times before a mark."""
    return sum(meta.size for meta in rowset.meta.undo if meta.stats.max_timestamp < mark)


def is_garbage(rowset: DiskRowSet, mark: SnapshotBound) -> bool:
    """Whether no snapshot at or above a mark sees any row of a rowset."""
    tracker = rowset.tracker
    if rowset.meta.live_rows or any(len(store) for store in tracker.stores):
        return False
    return tracker.newest < mark


def collect_undo(tablet: Tablet, services: TabletServices) -> int:
    """Drop UNDO files that lead back only to times before the ancient history mark.

    `tablet`: whose maintenance lock the caller holds. Returns Their bytes. Raises DiskError,
    ReadOnlyError: the disk refused; the tablet is as before.
    """
    mark = services.history_mark(tablet.id)
    rowsets = [r for r in tablet.components.tree.rowsets if undo_garbage(r, mark)]
    if not rowsets:
        return 0
    size = sum(undo_garbage(rowset, mark) for rowset in rowsets)
    changes = []
    for rowset in rowsets:
        undo = tuple(m for m in rowset.meta.undo if m.stats.max_timestamp >= mark)
        changes.append((rowset, replace(rowset.meta, undo=undo)))
    swap_rowsets(tablet, changes, [], services, "undo_gc")
    return size


def collect_deleted_rowsets(tablet: Tablet, services: TabletServices) -> int:
    """Drop rowsets whose rows were all deleted before the ancient history mark.

    `tablet`: whose maintenance lock the caller holds. Returns the bytes of their files. Raises
    DiskError, ReadOnlyError: the disk refused; the tablet is as before.
    """
    mark = services.history_mark(tablet.id)
    rowsets = [r for r in tablet.components.tree.rowsets if is_garbage(r, mark)]
    if not rowsets:
        return 0
    swap_rowsets(tablet, [(rowset, None) for rowset in rowsets], [], services, "rowset_gc")
    return sum(rowset.meta.total_size for rowset in rowsets)
