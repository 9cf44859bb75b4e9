"""Reading a database that another process writes, or wrote until it was killed.

A reader takes no lock that a writer could miss, and changes nothing but its own lease. It reads the
manifest, then the write-ahead log, as recovery would but without cutting a torn tail, and what
comes of it is a view: tablets and a bound. It is consistent, though the writer goes on meanwhile:

* The log is read after the manifest, so it has every commit before the manifest's last one.
* Commits that reached the manifest alone (bulk inserts, changes of the catalog) while the log was
  read would be missing between others. The manifest's end is looked at again, and the bound of the
  view lies at the first of them.
* A flush or compaction meanwhile moves rows to a rowset that the manifest read does not name.
  Commits that change such rows are not in the view; its bound lies at the first of them.
* A log segment or a manifest that the writer replaced meanwhile is missed with an error; the
  manifest shows that it was so, and the reader begins again.
* Files that the view names stay, for the lease was taken before the manifest was read. It is given
  back when nothing refers to the view's tablets any more.

Looking whether there is more costs a few small reads. If only the log has grown, its new records
are applied to the view at hand; if the manifest has changed, a new view is made.
"""

import weakref
from collections.abc import Mapping
from contextlib import suppress

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.errors import (
    CorruptionError,
    DirectoryReplacedError,
    DiskError,
    OperationalError,
)
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.lease import NOTHING_READ, Lease, Position
from pykudu_sql.storage.log.manifest_tail import ManifestTail
from pykudu_sql.storage.log.wal_tail import WalTail
from pykudu_sql.storage.recovery.tablet_opener import TabletOpener, open_tablets
from pykudu_sql.storage.tablet.bootstrap import replay
from pykudu_sql.storage.tablet.files.file_reaper import FileReaper
from pykudu_sql.storage.tablet.tablet import Tablet

_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class DatabaseView:
    """What a reader sees.

    `tablets`: by UUID, with what the log held; `position`: of the manifest, that the view is of.
    """

    database_id: bytes
    state: StoreState
    tablets: Mapping[str, Tablet]
    position: Position


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of manifest and log, from the beginning.

    Attributes:
        view: what came of it.
        bound: of the newest snapshot that the view was good for at once.
        manifest, wal: where to look for more.
        is_behind: edits that came meanwhile are not in the view.
    """

    view: DatabaseView
    bound: SnapshotBound
    manifest: ManifestTail
    wal: WalTail
    is_behind: bool

    def manifest_moved_on(self) -> bool:
        """Whether there are edits that change what is seen; seals and reserves do not."""
        manifest = self.manifest
        if not manifest.has_changed():
            return False
        return manifest.was_replaced() or any(
            edit.get("op") != "reserve" for edit in manifest.read_more()
        )

    def close(self) -> None:
        """Close the logs."""
        self.manifest.close()
        self.wal.close()


class DatabaseReader:
    """Follows a database without writing to it. Belongs to one thread at a time.

    `bound`: of the newest snapshot that the view is good for.
    """

    def __init__(self, env: Env, root: str, cache: BlockCache) -> None:
        """Read the database as it is.

        Raises CorruptionError: a file is not what was written; FormatVersionError: a newer version
        wrote it; DiskError: it is not there, or the disk refused.
        """
        self._env = env
        self._root = root
        self._cache = cache
        self._leases: list[weakref.finalize[[Lease | None], FileReaper]] = []
        self._reading = self._load()
        self.bound = self._reading.bound
        self._is_stale = self._reading.is_behind

    @property
    def view(self) -> DatabaseView:
        """What is seen; another one after a `refresh` that found the manifest changed."""
        return self._reading.view

    def has_changed(self) -> bool:
        """Whether `refresh` may find something new."""
        reading = self._reading
        try:
            return self._is_stale or reading.manifest.has_changed() or reading.wal.has_grown()
        except (CorruptionError, DiskError):
            return True

    def refresh(self) -> None:
        """Take in what was committed since.

        Raises CorruptionError: a file is not what was written; DirectoryReplacedError: the
        database is not there any more; DiskError: the disk refused.
        """
        if not self._is_stale and self._advance():
            return
        if not self._env.exists(layout.current_path(self._root)):
            raise DirectoryReplacedError(
                f"database '{self._root}' was removed, or another directory is in its place, since "
                "this process opened it",
                hint="Close all connections to it and connect again.",
            )
        self._is_stale = True
        reading = self._load()
        self._reading.close()
        self._reading = reading
        self.bound = max(self.bound, reading.bound)
        self._is_stale = reading.is_behind

    def close(self) -> None:
        """Give all leases back, also those of earlier views that are still read."""
        self._reading.close()
        for lease_ends in self._leases:
            lease_ends()

    def _advance(self) -> bool:
        """Apply new records of the log to the view, unless the manifest has changed."""
        reading = self._reading
        tablets, state, wal = reading.view.tablets, reading.view.state, reading.wal
        try:
            if reading.manifest_moved_on():
                return False
            replayed = replay(tablets, wal.read(), state.commits, wal.path_of, state.purged)
            if reading.manifest_moved_on() or reading.manifest.has_read_too_far():
                return False
            if replayed.unplaced is not None:
                return False
        except (CorruptionError, DiskError):
            return False  # read from the beginning, it shows whether it is more than a race
        self.bound = max(self.bound, bound_at(replayed.newest))
        return True

    def _load(self) -> _Reading:
        """A new reading under a lease, which ends when its tablets are gone."""
        lease = Lease.take_if_possible(self._env, self._root)
        reaper = FileReaper(self._env, self._root, lambda: NOTHING_READ, self._cache.forget)
        lease_ends = weakref.finalize(reaper, _give_back, lease)
        failure: CorruptionError | DiskError | None = None
        repeated = 0
        for _ in range(_ATTEMPTS):
            manifest = ManifestTail.open(self._env, self._root)
            try:
                position = manifest.position
                reading = self._read_behind(manifest, reaper)
                if not manifest.was_replaced() and not manifest.has_read_too_far():
                    if lease is not None:
                        lease.move_to(position)
                    living = [one for one in self._leases if one.alive]
                    self._leases = [*living, lease_ends]
                    return reading
            except (CorruptionError, DiskError) as error:
                # The writer gives back what it allocated of a log behind its end, and the manifest
                # does not show that. Damage fails in the same way again.
                is_same = failure is not None and error.message == failure.message
                if is_same and not _has_changed(manifest):
                    raise
                failure, repeated = error, repeated + 1 if is_same else 1
            manifest.close()
        if failure is not None and repeated == _ATTEMPTS:
            # What stands behind the manifest's end looks like a change, and is none.
            raise failure
        raise OperationalError(
            f"the process that writes '{self._root}' changes it too fast to be followed",
            hint="try again",
        )

    def _read_behind(self, manifest: ManifestTail, reaper: FileReaper) -> _Reading:
        """The view of a manifest just read, unless that is replaced meanwhile."""
        position = manifest.position
        state = StoreState.of(manifest.edits, manifest.path)
        opener = TabletOpener(self._env, self._root, manifest.database_id, self._cache, reaper)
        tablets = open_tablets(opener, state)
        directory = layout.wal_directory(self._root)
        database_id, limits = manifest.database_id, manifest.limits
        wal = WalTail(
            self._env, directory, database_id, state.log_after, limits, reaches=state.log_end
        )
        replayed = replay(tablets, wal.read(), state.commits, wal.path_of, state.purged)
        later = manifest.read_more()
        newest = max([replayed.newest, state.newest, *(t.newest for t in tablets.values())])
        times = [edit["ts"] for edit in later if isinstance(edit.get("ts"), int)]
        if replayed.unplaced is not None:
            # A writer at work may have named the rowset further on than may be read now.
            if not later and not limits.in_force:
                raise replayed.unplaced.error
            times.append(replayed.unplaced.timestamp)
        view = DatabaseView(manifest.database_id, state, tablets, position)
        bound, is_behind = min([bound_at(newest), *times]), bool(later or times)
        return _Reading(view, bound, manifest, wal, is_behind)


def read_without_log(env: Env, root: str, cache: BlockCache) -> DatabaseView:
    """The state in the manifest alone, to inspect a database whose log cannot be read.

    Nothing keeps its files. Raises CorruptionError, FormatVersionError, DiskError: the manifest
    cannot be read either.
    """
    manifest = ManifestTail.open(env, root)
    manifest.close()
    state = StoreState.of(manifest.edits, manifest.path)
    reaper = FileReaper(env, root, lambda: NOTHING_READ, cache.forget)
    opener = TabletOpener(env, root, manifest.database_id, cache, reaper)
    tablets = open_tablets(opener, state)
    return DatabaseView(manifest.database_id, state, tablets, manifest.position)


def _give_back(lease: Lease | None) -> None:
    if lease is not None:
        with suppress(DiskError):
            lease.release()


def _has_changed(manifest: ManifestTail) -> bool:
    try:
        return manifest.has_changed()
    except (CorruptionError, DiskError):
        return True
