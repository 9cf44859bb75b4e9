"""Leases: how processes that read a database keep the one that writes it from removing files.

A reader holds the lock of a file of its own, `leases/<uuid>`, from before it reads the manifest
until it is done. The file says up to which position of the manifest (number of the log, sequence
of the record) the reader has followed; files that edits up to there dropped, it does not need. The
writer tries the locks: one that it gets belonged to a process that ended, however it ended, and is
removed. So a killed reader holds nothing back, and nothing is guessed from process ids or times.

The text of a lease is the note of its lock, then a line for the position:

    4711
    2024-05-01T12:00:00+00:00
    host
    reads 7 123

Until that line is there and whole, the lease stands for position (0, 0): every file is needed.
"""

import errno
import re
from collections.abc import Callable
from uuid import uuid4

from pykudu_sql.storage.errors import DiskError, LockedError
from pykudu_sql.storage.fs.env import Env, FileLock, names_if_there
from pykudu_sql.storage.fs.layout import current_path, is_own, lease_path, leases_directory

Position = tuple[int, int]

NOTHING_READ: Position = (0, 0)
_LINE = re.compile(rb"reads ([0-9]{1,19}) ([0-9]{1,19}) *\n")
# Wide enough for every position, so that a later one overwrites an earlier one exactly.
_LINE_BYTES = 48


class Lease:
    """One reader's claim on the files of a database. Held until `release` or the process ends."""

    def __init__(self, env: Env, path: str, lock: FileLock) -> None:
        """Use `take`."""
        self._env = env
        self._lock = lock
        self._place = len(env.read_file(path))
        self._is_locked = True
        self.path = path

    @classmethod
    def take(cls, env: Env, root: str) -> "Lease":
        """Take a lease that keeps every file.

        Raises DiskError: refused by the file system, as on a read-only one, or no database is
        there (any more).
        """
        env.size_of(current_path(root))  # making a directory would make its parents
        env.make_dir(leases_directory(root))
        while True:
            path = lease_path(root, str(uuid4()))
            try:
                lock = env.lock(path)
            except LockedError:
                continue  # a writer came between making the file and locking it
            if env.exists(path):
                return cls(env, path, lock)
            lock.release()

    @classmethod
    def take_if_possible(cls, env: Env, root: str) -> "Lease | None":
        """A lease, or None in a directory that this process cannot write to.

        Raises DiskError: the process, or the system, has no open files left.
        """
        try:
            return cls.take(env, root)
        except DiskError as error:
            reason = error.__cause__
            if isinstance(reason, OSError) and reason.errno in (errno.EMFILE, errno.ENFILE):
                raise
            return None

    def move_to(self, position: Position) -> None:
        """Give back the files that edits up to a position of the manifest have dropped.

        Raises DiskError: refused by the file system.
        """
        line = f"reads {position[0]} {position[1]}".ljust(_LINE_BYTES - 1) + "\n"
        file = self._env.open_writable(self.path)
        try:
            file.write_at(self._place, line.encode(), point="lease.move")
        finally:
            file.close()

    def release(self) -> None:
        """Give all files back. Releasing twice is allowed.

        Raises DiskError: refused by the file system; what stays behind holds nothing.
        """
        if self._is_locked and self._lock.is_held:
            self._is_locked = False
            try:
                self._env.unlink(self.path, point="lease.release")
            finally:
                self._lock.release()

    def hand_over(self, take: Callable[[str, int], None]) -> None:
        """Let another process hold the lease on; for this one it is released, its file stays.

        `take`: starts that process, given the lease's path and a descriptor to inherit. It removes
        the file at its end. Raises NotSupportedError: the file system is this process's own.
        """
        self._lock.hand_over(lambda descriptor: take(self.path, descriptor))
        self._is_locked = False


def renew(env: Env, path: str) -> None:
    """Write to a lease that somebody else holds, which shows that it is in use.

    Raises DiskError: it is gone: its holder gave the files back.
    """
    end = env.size_of(path)
    file = env.open_writable(path)
    try:
        file.write_at(end - 1, b"\n", point="lease.renew")
    finally:
        file.close()


def oldest_lease(env: Env, root: str) -> Position | None:
    """The lowest position of the manifest that a living reader depends on; None without readers.

    Removes the leases of processes that have ended. Raises DiskError: refused by the file system.
    """
    directory = leases_directory(root)
    paths = [f"{directory}/{name}" for name in names_if_there(env, directory)]
    positions = [_position_of(env, path) for path in paths if is_own(root, path)]
    return min((position for position in positions if position is not None), default=None)


def _position_of(env: Env, path: str) -> Position | None:
    """What a lease depends on; one that nobody holds is removed.

    A lease that its holder gave back since it was listed stays away: locking does not make it anew.
    """
    try:
        lock = env.lock_existing(path)
    except LockedError:
        return _read_position(env, path)
    except DiskError:
        if env.exists(path):
            raise
        return None
    try:
        env.unlink(path, point="lease.remove_dead")
    except DiskError:
        if env.exists(path):
            raise
        # Its holder gave it back, or another thread removed it, since we opened it.
    finally:
        lock.release()
    return None


def _read_position(env: Env, path: str) -> Position:
    try:
        match = _LINE.search(env.read_file(path))
    except DiskError:
        # Its holder is giving it back at this moment.
        return NOTHING_READ
    return NOTHING_READ if match is None else (int(match[1]), int(match[2]))
