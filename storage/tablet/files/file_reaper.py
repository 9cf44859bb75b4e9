"""The file reaper: files that the manifest names no more, unlinked when nobody reads them.

A compaction ends with a manifest edit that drops its inputs, but scans and snapshots that began
before still read them. Each such file is retired together with the object through which it is
read. Once that object is gone the file waits in a queue, which the maintenance thread drains,
because a finalizer may run on any thread and at any point. Closing the database ends the wait of
all: nothing is read after it. What a killed process leaves is removed by the next opening, as an
orphan.

Other processes that read the database hold leases (see `fs.lease`), each with the position of the
manifest that it has followed. A file waits until every lease is past the edit that dropped it.

Kudu's block manager keeps deleted blocks alive for open readers in the same way
(`fs/log_block_manager.cc`).
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable

from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.lease import Position, oldest_lease


class FileReaper:
    """Files to be unlinked. Safe for threads."""

    def __init__(
        self, env: Env, root: str, position: Callable[[], Position], forget: Callable[[str], None]
    ) -> None:
        """Nothing to unlink yet.

        Args:
            position: of the manifest's newest edit; called by any thread.
            forget: lets go of what is cached of a file, given its path.
        """
        self._env = env
        self._root = root
        self._position = position
        self._forget = forget
        self._released: deque[tuple[str, Position]] = deque()
        self._retired: list[weakref.finalize[..., object]] = []
        self._retiring = threading.Lock()
        # Never taken by a finalizer, which may run in the middle of `collect`.
        self._collecting = threading.Lock()

    def retire(self, path: str, user: object) -> None:
        """Unlink a file once an object that reads it is gone.

        Args:
            path: of a file that the manifest, durably, does not name any more.
            user: the one object through which this process reads it.
        """
        waiting = (path, self._position())
        finalizer = weakref.finalize(user, self._released.append, waiting)
        finalizer.atexit = False
        with self._retiring:
            self._retired = [files for files in self._retired if files.alive]
            self._retired.append(finalizer)

    def collect(self) -> int:
        """Unlink the files whose users are gone.

        Returns:
            How many were unlinked. One that another process needs, or that the disk refuses to
            unlink, waits for the next call.

        Raises DiskError: the disk refused.
        """
        if not self._released:
            return 0
        with self._collecting:
            return self._unlink_unused()

    def collect_last(self) -> int:
        """Unlink the files whose users are still there too: the database is being closed.

        Returns how many were unlinked. One that another process needs stays for the next opening.
        Raises DiskError: the disk refused.
        """
        with self._retiring:
            for finalizer in self._retired:
                finalizer()
            self._retired = []
        return self.collect()

    def _unlink_unused(self) -> int:
        oldest = oldest_lease(self._env, self._root)
        unlinked = 0
        for _ in range(len(self._released)):
            path, dropped = self._released.popleft()
            self._forget(path)
            if oldest is not None and oldest < dropped:
                self._released.append((path, dropped))
                continue
            try:
                self._env.unlink(path, point="tablet.unlink")
            except BaseException:
                self._released.append((path, dropped))
                raise
            unlinked += 1
        return unlinked
