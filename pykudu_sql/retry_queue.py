"""The queue of statements that run again after a write conflict, one at a time.

Without it, threads that all change one row conflict with each other again and again. The queue only
decides who tries when; whether a commit is valid is decided by the conflict check at commit. So it
may be left at any time: a session waits while retries end one after another, but not for a retry
that takes long, and runs beside it then.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LONG_SECONDS = 0.25


class RetryQueue:
    """The retries of all sessions of one open database. Safe for threads."""

    __slots__ = ("_ended", "_lock")

    def __init__(self) -> None:
        """No statement runs again yet."""
        self._lock = threading.Lock()
        self._ended = 0

    def wait_for_retries(self) -> None:
        """Wait while other statements run again, before a first attempt."""
        if self._lock.locked() and self._acquire():
            self._lock.release()

    @contextmanager
    def retrying(self) -> Iterator[None]:
        """A block in which a statement runs again after a conflict."""
        is_acquired = self._acquire()
        try:
            yield
        finally:
            if is_acquired:
                self._ended += 1
                self._lock.release()

    def _acquire(self) -> bool:
        """Take the lock; False when one retry holds it for long."""
        ended = -1
        while ended != self._ended:
            ended = self._ended
            if self._lock.acquire(timeout=_LONG_SECONDS):
                return True
        return False
