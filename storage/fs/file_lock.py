"""The lock of the one writing process, and the words that tell others who holds it.

flock(2) belongs to the open file, not to its name: the kernel drops it when the process ends,
however it ends, so no stale lock exists, and a second opening in the same process is refused like
one in another. The file's text is only for the message; it is never what decides.
"""

import fcntl
import os
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pykudu_sql.storage.common.hybrid_time import from_micros, to_datetime, wall_micros
from pykudu_sql.storage.errors import LockedError
from pykudu_sql.storage.fs.descriptor import close_with

_LONGEST_NOTE = 1024


class LocalFileLock:
    """An flock on a descriptor, held until `release` or the end of the process."""

    def __init__(self, path: str, descriptor: int) -> None:
        """Take the lock; the descriptor is ours from here on, also when that fails.

        Raises:
            LockedError: it is held; names the holder.
            OSError: the file system knows no locks.
        """
        self._close = close_with(self, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = os.pread(descriptor, _LONGEST_NOTE, 0)
            self._close()
            raise locked_error(path, _holder(note)) from None
        except OSError:
            self._close()
            raise
        self._descriptor = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _note(), 0)

    def release(self) -> None:
        """Let others in. Releasing twice is allowed."""
        if self._close.alive:
            os.ftruncate(self._descriptor, 0)
            self._close()

    def hand_over(self, take: Callable[[int], None]) -> None:
        """Let another process hold the lock on; see `FileLock`."""
        take(self._descriptor)
        # The lock belongs to the open file, which the other process has as well.
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def locked_error(path: str, holder: str) -> LockedError:
    """The error for a lock that somebody holds.

    Args:
        path: the lock file, inside the database directory.
        holder: who, in words.
    """
    database = os.path.dirname(path) or path
    return LockedError(
        f"database '{database}' is open for writing by {holder}",
        hint="Close it there, or open it read-only here: one process at a time writes a database.",
    )


def _note() -> bytes:
    """What a holder writes about itself: process id, time, host."""
    now = f"{to_datetime(from_micros(wall_micros())):%Y-%m-%dT%H:%M:%S}+00:00"
    return f"{os.getpid()}\n{now}\n{socket.gethostname()}\n".encode()


def _holder(note: bytes) -> str:
    """Who holds the lock, from the note; written by others, so nothing in it is trusted."""
    match note.decode("utf-8", "replace").splitlines():
        case [process, since, host] if process.isascii() and process.isdigit():
            if process == str(os.getpid()) and host == socket.gethostname():
                return f"this process ({process}) since {_printable(since)}"
            return f"process {process} on {_printable(host)} since {_printable(since)}"
        case _:
            return "another process"


def _printable(text: str) -> str:
    """The text without what could steer a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text[:80])
