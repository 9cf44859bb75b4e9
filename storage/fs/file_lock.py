"""The lock of the one writing process, and the note in it that names the holder.

flock(2) belongs to the open file, not to its name: the kernel drops it when the process ends,
however it ends, so no stale lock exists, and a second opening in the same process is refused like
one in another. The file's text is only for the message; it is never what decides.

The open file is shared with children made by fork, and the lock lasts until all have closed it. So
a child closes its copies at once, which lets nobody in; a fork waits for files that other threads
are opening at that moment, and whoever gives a lock back unlocks it.

An flock can only be tested by taking it, which could refuse somebody who takes it at that moment.
So a holder that has announced itself has a second one on the same open file, of fcntl(2)
(F_OFD_SETLK): that can be tested without being taken, and lives as long. It decides nothing but the
answer of `is_lock_held`.
"""

import fcntl
import os
import struct
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Self

from pykudu_sql.storage.common.types.hybrid_time import from_micros, to_datetime, wall_micros
from pykudu_sql.storage.errors import DirectoryReplacedError, LockedError
from pykudu_sql.storage.fs.os_error import disk_error

_LONGEST_NOTE = 1024
# struct flock of Linux: type, whence, start, length, process.
_FLOCK = struct.Struct("hhqqi0q")
# Nobody takes a lock for long; waiting must not hang where a thread is stuck in the kernel.
_FORK_WAITS_SECONDS = 1.0


class _LockFile:
    """The open file of a lock. `is_open` is False once this process has begun to close it."""

    __slots__ = ("descriptor", "identity", "is_open")

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.is_open = True
        self.identity = _identity_of(os.fstat(descriptor))

    def unlock(self) -> None:
        """Let others in and close it, once.

        A child that was forked a moment ago may not have closed its copy yet, which alone would
        keep the lock.
        """
        if self.is_open:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
            _show(self.descriptor, fcntl.F_UNLCK)
        self.close()

    def close(self) -> None:
        """Close it, once, and leave the lock to the process that has the file as well."""
        if self.is_open:
            self.is_open = False
            os.close(self.descriptor)
            _OPEN_FILES.files.discard(self)

    def close_copy(self) -> None:
        """Close it in a child made by fork.

        The number may be that of another file if the parent was closing it at that moment.
        """
        self.is_open = False
        with suppress(OSError):
            if _identity_of(os.fstat(self.descriptor)) == self.identity:
                os.close(self.descriptor)


def _identity_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


class _OpenFiles:
    """The open files of the locks that this process holds."""

    def __init__(self) -> None:
        self.taking = threading.RLock()
        self.files: set[_LockFile] = set()
        os.register_at_fork(
            before=self._before_fork,
            after_in_parent=self._after_in_parent,
            after_in_child=self._after_in_child,
        )

    def _before_fork(self) -> None:
        self.taking.acquire(timeout=_FORK_WAITS_SECONDS)

    def _after_in_parent(self) -> None:
        with suppress(RuntimeError):  # it was not to be had
            self.taking.release()

    def _after_in_child(self) -> None:
        self.taking = threading.RLock()
        for file in self.files:
            file.close_copy()
        self.files = set()


_OPEN_FILES: Final = _OpenFiles()


def take_lock(path: str, open_file: Callable[[], int]) -> "LocalFileLock":
    """Take a lock without waiting.

    `path`: of the lock file, for messages; `open_file`: opens it, and returns its descriptor.
    Raises LockedError: it is held; names the holder; OSError: the file system knows no locks.
    """
    with _OPEN_FILES.taking:
        file = _LockFile(open_file())
        _OPEN_FILES.files.add(file)
    return LocalFileLock(path, file)


class LocalFileLock:
    """An flock on an open file, held until `release` or the end of the process."""

    def __init__(self, path: str, file: _LockFile) -> None:
        """Take the lock; the file is ours from here on, also when that fails. See `take_lock`."""
        self._path = path
        self._file = file
        # At the end of the process the system does, behind the last write of the database.
        weakref.finalize(self, file.unlock).atexit = False
        descriptor = file.descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = os.pread(descriptor, _LONGEST_NOTE, 0)
            file.close()
            raise locked_error(path, _holder(note)) from None
        except OSError:
            file.close()
            raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _note(), 0)

    @property
    def is_held(self) -> bool:
        """Whether this process holds it; not so in a child forked from that which took it."""
        return self._file.is_open

    def announce(self) -> None:
        """Let `is_lock_held` know of it."""
        _show(self._file.descriptor, fcntl.F_WRLCK)

    def check(self) -> None:
        """See that the file has its name still; see `FileLock`."""
        file = self._file
        if not file.is_open:
            return
        try:
            names = os.fstat(file.descriptor).st_nlink
        except OSError as error:  # of a network file system
            raise disk_error("look at", self._path, error) from error
        if not names:
            raise _replaced(self._path)

    def check_path(self) -> None:
        """See that it has that very name; see `FileLock`."""
        if not self.is_held:
            return
        try:
            in_place = _identity_of(os.lstat(self._path)) == self._file.identity
        except (FileNotFoundError, NotADirectoryError):
            in_place = False
        except OSError as error:
            raise disk_error("look at", self._path, error) from error
        if not in_place:
            raise _replaced(self._path)

    def release(self) -> None:
        if self.is_held:
            os.ftruncate(self._file.descriptor, 0)
            self._file.unlock()

    def hand_over(self, take: Callable[[int], None]) -> None:
        """Let another process hold the lock on; see `FileLock`."""
        take(self._file.descriptor)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()


def is_lock_held(descriptor: int) -> bool:
    """Whether somebody holds the lock of an open file, which stays as it is, and has announced it.

    Where the system has no F_OFD_GETLK the lock itself is tried, shared with others that do. Raises
    OSError: the file system knows no locks.
    """
    if hasattr(fcntl, "F_OFD_GETLK"):
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_WRLCK))
        kind: int = _FLOCK.unpack(answer)[0]
        return kind != fcntl.F_UNLCK
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _show(descriptor: int, kind: int) -> None:
    """Let `is_lock_held` know. A network file system that makes one lock of both refuses the
    second, and shows the first."""
    if hasattr(fcntl, "F_OFD_SETLK"):
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _whole_file(kind))


def _whole_file(kind: int) -> bytes:
    return _FLOCK.pack(kind, os.SEEK_SET, 0, 0, 0)


def locked_error(path: str, holder: str) -> LockedError:
    """The error for a lock that somebody holds.

    `path`: the lock file, inside the database directory; `holder`: who, in words.
    """
    database = os.path.dirname(path) or path
    return LockedError(
        f"database '{database}' is open for writing by {holder}",
        hint="Close it there, or open it read-only here (--read-only, read_only=True): one process "
        "at a time writes a database.",
    )


def _replaced(path: str) -> DirectoryReplacedError:
    """The error for a lock whose file is not where it was taken."""
    return DirectoryReplacedError(
        f"database '{os.path.dirname(path)}' was removed, or another directory is in its place, "
        "since this process opened it for writing; nothing was written",
        hint="Close all connections to it and connect again.",
    )


def _note() -> bytes:
    """What a holder writes about itself: process id, time, host."""
    now = f"{to_datetime(from_micros(wall_micros())):%Y-%m-%dT%H:%M:%S}+00:00"
    return f"{os.getpid()}\n{now}\n{os.uname().nodename}\n".encode()


def _holder(note: bytes) -> str:
    """Who holds the lock, from the note; written by others, so nothing in it is trusted."""
    match note.decode("utf-8", "replace").splitlines():
        case [process, since, host] if process.isascii() and process.isdigit():
            if process == str(os.getpid()) and host == os.uname().nodename:
                return f"this process ({process}) since {_printable(since)}"
            return f"process {process} on {_printable(host)} since {_printable(since)}"
        case _:
            return "another process"


def _printable(text: str) -> str:
    """The text without what could steer a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text[:80])
