"""Publication: how rowsets that a flush or a merging compaction wrote become part of a tablet.

Commits go on while rowsets are written, and while their files are published. What they change goes
to stores in memory of which a part is on disk by then. So what came since the last look is written
as one more REDO file of each output, the log is made durable up to there (a file must never show a
commit that a crash can still undo), and the files get their names, durably; all that without the
commit lock. Then the lock is taken: if nothing came meanwhile, what is left to do under it is the
manifest's edit and the swap of the components. Else it is given back and all this is done again,
each time for the few changes that came while the last few were written.

Commits that come faster than a file is made durable would keep that up for ever. After `ROUNDS`
looks the rest is written under the lock: it is what came during one fsync.

The manifest's edit has its fsync under the lock. The next commit names the new rowsets in the log,
and must not be durable before them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING, SnapshotBound, bound_at
from pykudu_sql.storage.tablet.delta.delta_store import Deltas, Ordinals, merge_redo
from pykudu_sql.storage.tablet.delta.delta_tracker import visible_redo, visible_undo
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles
from pykudu_sql.storage.tablet.history.undo_builder import remap
from pykudu_sql.storage.tablet.maintenance.rowset_output import RollingRowSetWriter
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class MovedRows:
    """Rows that were written elsewhere.

    Attributes:
        store: takes their changes until the components are swapped.
        new_ordinals: of each row among all rows written, by its old one; -1 for none.
    """

    store: DeltaMemStore
    new_ordinals: Ordinals

    def between(self, start: SnapshotBound, stop: SnapshotBound) -> Deltas:
        """The changes that came from the one bound on and below the other, by the new ordinals."""
        return remap(
            visible_redo(visible_undo(self.store.deltas(), start), stop), self.new_ordinals
        )


class LateChanges:
    """Changes of rows that were written already. Belongs to the thread that writes them.

    `tablet`: the rows'.
    """

    def __init__(
        self,
        tablet: Tablet,
        writer: RollingRowSetWriter,
        moved: Sequence[MovedRows],
        bound: SnapshotBound,
    ) -> None:
        """What was committed below `bound` is written."""
        self.tablet = tablet
        self._writer = writer
        self._moved = moved
        self._written = bound

    @property
    def metas(self) -> Sequence[RowSetMeta]:
        """The rowsets, with the files of the changes that are written."""
        return self._writer.metas

    @property
    def are_written(self) -> bool:
        """Whether nothing was committed that is not written. The caller holds the commit lock."""
        return all(moved.store.max_timestamp < self._written for moved in self._moved)

    def write(self, bound: SnapshotBound) -> None:
        """Write what came since the last call and is below a bound, which no more commits get.

        Raises DiskError: the disk refused.
        """
        late = [moved.between(self._written, bound) for moved in self._moved]
        self._writer.add_changes(merge_redo(late))
        self._written = bound


@contextmanager
def published(
    late: LateChanges, staged: StagedFiles, services: TabletServices, point: str
) -> Iterator[Sequence[RowSetMeta]]:
    """A block under the commit lock in which rowsets may be named by the manifest.

    It gets their metadata. They have everything that was committed, and their files, the files'
    names and the log are durable.

    Args:
        late: changes of the rowsets' rows.
        staged: the rowsets' files.
        point: prefix of the fault points.

    Raises DiskError: the disk refused.
    """
    for _ in range(ROUNDS):
        with services.commit_lock:
            bound = bound_at(late.tablet.newest)
        _publish(late, bound, staged, services, point)
        with services.commit_lock:
            if late.are_written:
                yield late.metas
                return
    with services.commit_lock:
        _publish(late, EVERYTHING, staged, services, point)
        yield late.metas


def _publish(
    late: LateChanges,
    bound: SnapshotBound,
    staged: StagedFiles,
    services: TabletServices,
    point: str,
) -> None:
    """Make everything durable that was committed below a bound."""
    late.write(bound)
    services.sync_log()
    late.tablet.files.publish(staged, point)
