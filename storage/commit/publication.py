"""Publication of what a commit brings in files, before the commit lock is taken.

Delta files of a very large UPDATE or DELETE are for rowsets as they are now. So the writes are
moved onto the commits so far, and what these left in memory of the rowsets is flushed, since it is
older than the files. Other commits go on meanwhile. Whether they are in conflict is seen under the
lock, and what they changed of the rowsets since is written there.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.errors import IntegrityError, SerializationError

if TYPE_CHECKING:
    from pykudu_sql.storage.commit.commit_counters import CommitCounters
    from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
    from pykudu_sql.storage.tablet.tablet_services import TabletServices
    from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites


def publish_files(
    pending: Sequence["PendingWrites"], services: "TabletServices", counters: "CommitCounters"
) -> Sequence["PendingWrites"]:
    """Make the files of a transaction and their names durable.

    Args:
        pending: its writes, one entry a tablet; the caller holds the maintenance locks of those
            that have files of changes.
        services: of the tablets.
        counters: of conflicts.

    Returns the writes, rebased where rowsets of a tablet were swapped since. Raises
    SerializationError: see `rebased`; DiskError, ReadOnlyError: the disk refused.
    """
    moved = [_moved(writes, services, counters) for writes in pending]
    for writes in moved:
        _flush_older(writes, services)
        writes.publish_ahead()
    return moved


def _moved(
    writes: "PendingWrites", services: "TabletServices", counters: "CommitCounters"
) -> "PendingWrites":
    """Writes rebased onto the current rowsets, if delta files change some."""
    if not writes.files.changes_rowsets:
        return writes
    with services.commit_lock:
        bound = bound_at(writes.tablet.newest)
    return rebased(writes, bound, counters)


def _flush_older(writes: "PendingWrites", services: "TabletServices") -> None:
    """Flush the DeltaMemStores of the rowsets that delta files change."""
    # Only such a change needs them, and a connection opens without what it may never need.
    from pykudu_sql.storage.tablet.maintenance.flush import flush_stores_of
    from pykudu_sql.storage.tablet.maintenance.publication import ROUNDS

    if not writes.files.changed_ids:
        return
    for _ in range(ROUNDS):
        if not flush_stores_of(writes.files.changed_ids, writes.tablet, services):
            break


def rebased(
    writes: "PendingWrites", bound: "SnapshotBound", counters: "CommitCounters"
) -> "PendingWrites":
    """A transaction's writes, moved onto the commits since its snapshot.

    `bound`: above the commits that are applied; `counters`: of conflicts. Raises
    SerializationError: another commit changed one of the keys first.
    """
    try:
        if not writes.has_conflict():
            return writes.rebase(bound)
        message = "another transaction changed one of the rows first"
    except IntegrityError as error:
        message = error.message
    counters.conflicts += 1
    raise SerializationError(message, hint="run the transaction again")
