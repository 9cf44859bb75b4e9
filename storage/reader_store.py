"""The store of a process that only reads a database directory, while another may write it.

It shows what was committed when it was opened or last refreshed. Each view has services of its
own: transactions that began on an earlier view keep that.
"""

import threading
from contextlib import ExitStack

from pykudu_sql.storage.common.ctrl_c import DeferSigint
from pykudu_sql.storage.common.types.hybrid_time import last_before
from pykudu_sql.storage.fs.directory_check import check_entries
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.lease import NOTHING_READ, Position
from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
from pykudu_sql.storage.open_store import OpenStore, store_resources
from pykudu_sql.storage.recovery.database_reader import DatabaseReader
from pykudu_sql.storage.recovery.tablet_opener import TabletOpener
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.store_services import StoreResources, StoreServices, store_services
from pykudu_sql.storage.tablet.files.file_reaper import FileReaper


class ReaderStore(OpenStore):
    """A database directory, open for reading. Safe for threads."""

    def __init__(self, env: Env, path: str, options: StoreOptions) -> None:
        """Open a store that is there.

        `path`: of its directory. Raises FormatVersionError: a newer version wrote it;
        CorruptionError: a file is not what was written, or there is no database.
        """
        resources = store_resources(env, path, options)
        check_entries(env, resources.path)
        with ExitStack() as closing:
            self._reader = DatabaseReader(env, resources.path, resources.cache)
            self._refreshing = threading.Lock()
            closing.callback(self._reader.close)
            super().__init__(resources, _services_over(resources, self._reader))
            closing.callback(self._close_tablets)
            closing.callback(resources.pool.shutdown)
            self._closing = closing.pop_all()

    def refresh(self) -> None:
        """See `OpenStore.refresh`."""
        reader = self._reader
        with self._refreshing:
            if reader.has_changed():
                with DeferSigint():  # else what was read would not be shown until more is written
                    self._show_newest()

    def _show_newest(self) -> None:
        reader = self._reader
        view = reader.view
        reader.refresh()
        if reader.view is view:
            committer, newest = self._services.committer, last_before(reader.bound)
            committer.clock.update(newest)
            committer.mvcc.publish(newest)
        else:
            self._services = _services_over(self._resources, reader)

    def _position(self) -> Position:
        return self._reader.view.position


def _services_over(resources: StoreResources, reader: DatabaseReader) -> StoreServices:
    """The services over what a reader sees now."""
    env, path, cache, view = resources.env, resources.path, resources.cache, reader.view
    reaper = FileReaper(env, path, lambda: NOTHING_READ, cache.forget)
    opener = TabletOpener(env, path, view.database_id, cache, reaper)
    # "Now" is not to be ahead of the view: what is read of the future could still change.
    return store_services(
        resources,
        opener,
        view.state,
        dict(view.tablets),
        ReadOnlyLog(),
        None,
        reader.bound,
        reader.bound,
    )
