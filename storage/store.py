"""The store of the one process that writes a database directory.

Opening takes the lock, folds the manifest into catalog and tablets, replays the write-ahead
log, and removes files that nothing names. From then on each change of the catalog is one manifest
edit with a hybrid time of its own, so it is atomic, durable, and seen AS OF later times only.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from pykudu_sql.storage.common.types.hybrid_time import UNCOMMITTED, Timestamp, bound_at
from pykudu_sql.storage.errors import DirectoryReplacedError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.directory_check import check_entries, check_names
from pykudu_sql.storage.fs.env import Env, FileLock
from pykudu_sql.storage.fs.lease import Position
from pykudu_sql.storage.open_store import OpenStore, store_resources
from pykudu_sql.storage.recovery.logs import Logs, open_logs
from pykudu_sql.storage.recovery.manifest_log import ManifestLog
from pykudu_sql.storage.recovery.orphans import remove_orphans
from pykudu_sql.storage.recovery.tablet_opener import TabletOpener, open_tablets
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.store_services import StoreResources, StoreServices, store_services
from pykudu_sql.storage.tablet.files.file_reaper import FileReaper

if TYPE_CHECKING:
    from pykudu_sql.storage.tablet.tablet import Tablet

__all__ = ["Store", "StoreOptions"]
_LOG: Final = logging.getLogger("pykudu_sql.recovery")


class Store(OpenStore):
    """A database directory, open for writing. Safe for threads."""

    def __init__(self, env: Env, path: str, options: StoreOptions) -> None:
        """Open a store, or make it where there is none.

        `path`: of its directory. Raises LockedError: another process has it open for writing;
        FormatVersionError: a newer version wrote it; CorruptionError: a file is not what was
        written.
        """
        resources = store_resources(env, path, options)
        with ExitStack() as closing:
            lock = _take(resources)
            closing.callback(lock.release)
            logs = open_logs(env, resources.path, options.log_segment_bytes)
            self._manifest = logs.manifest
            services = _recover(resources, logs)
            lock.announce()  # readers heed DURABLE from here on: before, it was an earlier writer's
            super().__init__(resources, services)
            closing.callback(self._close_tablets)
            closing.callback(_unless_replaced, env, logs.mark.close)
            closing.callback(_unless_replaced, env, logs.manifest.close)
            closing.callback(services.committer.note_end)
            closing.callback(services.purge.collect_last_files)
            closing.callback(_unless_replaced, env, logs.log.close)
            closing.callback(resources.pool.shutdown)
            closing.callback(services.maintenance.stop)
            services.maintenance.start()
            self._closing = closing.pop_all()

    def refresh(self) -> None:
        """Nothing: a store that writes sees every commit."""

    def _position(self) -> Position:
        return self._manifest.position


def _take(resources: StoreResources) -> FileLock:
    """Make the directory where there is none, lock it, and empty its place for temporary files."""
    env, path = resources.env, resources.path
    check_entries(env, path)
    check_names(env, path)
    env.make_dir(path)
    lock = env.lock(layout.lock_path(path))
    env.guard(lock)
    try:
        env.remove_tree(layout.temporary_directory(path), point="open.empty_tmp")
        env.make_dir(layout.temporary_directory(path))
    except BaseException:
        lock.release()
        raise
    return lock


def _unless_replaced(env: Env, close: Callable[[], None]) -> None:
    """Close what is written to at its end, or let go of it in a directory that is ours no more."""
    with suppress(DirectoryReplacedError):
        env.check_guard()
        close()


def _recover(resources: StoreResources, logs: Logs) -> StoreServices:
    """The tablets as manifest and log have them, and the services over them."""
    env, path, started = resources.env, resources.path, time.perf_counter()
    manifest, state, log = logs.manifest, logs.state, logs.log
    reaper = FileReaper(env, path, lambda: manifest.position, resources.cache.forget)
    opener = TabletOpener(env, path, manifest.database_id, resources.cache, reaper)
    tablets = open_tablets(opener, state)
    for tablet_id in tablets:
        env.make_dir(layout.tablet_directory(path, tablet_id))
    newest, records = _replay_log(logs, tablets)
    # Only now that log and manifest have been found to agree is anything thrown away.
    remove_orphans(env, path, tablets, state.tablets)
    if records:
        _LOG.info(
            "database %r: %d records of its log replayed into %d tablets in %.3f s",
            path,
            records,
            len(tablets),
            time.perf_counter() - started,
        )
    visible = bound_at(max([newest, state.newest, *(t.newest for t in tablets.values())]))
    logs.start_mark()
    past = max(visible, state.reserved)
    edits = ManifestLog(manifest, state)
    return store_services(resources, opener, state, tablets, log, edits, visible, past)


def _replay_log(logs: Logs, tablets: "Mapping[str, Tablet]") -> tuple[Timestamp, int]:
    """Apply what the log holds beyond the tablets' files; the newest time and the records in it.

    Raises CorruptionError: see `bootstrap.replay`.
    """
    state, log = logs.state, logs.log
    records = log.replay(state.log_after)
    first = next(records, None)
    if first is None:
        return UNCOMMITTED, 0
    from pykudu_sql.storage.tablet.bootstrap import replay

    behind = chain([first], records)
    replayed = replay(tablets, behind, state.commits, log.path_of, state.purged)
    if replayed.unplaced is not None:
        raise replayed.unplaced.error
    return replayed.newest, replayed.records
