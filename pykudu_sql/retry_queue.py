"""The queue of statements that run again after a write conflict, one at a time.

Without it, threads that all change one row conflict with each other again and again. The queue only
decides who tries when; whether a commit is valid is decided by the conflict check at commit. So it
may be left at any time: a session waits while retries end one after another, but not for one that
takes much longer than its first attempt, and runs beside it then. Who retries loses only to
attempts that were under way before, and to transactions that BEGIN opened.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

_LEAST_SECONDS = 0.25
_MOST_SECONDS = 10.0
_ATTEMPTS = 16
_CHECKED_SECONDS = 0.1


class RetryQueue:
    """The retries of all sessions of one open database. Safe for threads."""

    __slots__ = ("_completed", "_lock", "_patience")

    def __init__(self) -> None:
        """No statement runs again yet."""
        self._lock = threading.Lock()
        self._completed = 0
        self._patience = _LEAST_SECONDS

    def wait_for_retries(self, cancel_check: Callable[[], None]) -> None:
        """Wait while other statements run again, before a first attempt.

        `cancel_check`: called meanwhile; may raise to end the wait.
        """
        if self._lock.locked() and self._acquire(cancel_check):
            self._lock.release()

    @contextmanager
    def retrying(self, seconds: float, cancel_check: Callable[[], None]) -> Iterator[None]:
        """A block in which a statement runs again after a conflict.

        `seconds`: that its first attempt took. Others wait for as long as some of these take.
        `cancel_check`: see `wait_for_retries`.
        """
        is_acquired = self._acquire(cancel_check)
        if is_acquired:
            self._patience = min(max(_LEAST_SECONDS, _ATTEMPTS * seconds), _MOST_SECONDS)
        try:
            yield
        finally:
            if is_acquired:
                self._completed += 1
                self._lock.release()

    def _acquire(self, cancel_check: Callable[[], None]) -> bool:
        """Take the lock; False when one retry holds it for long."""
        completed = -1
        while completed != self._completed:
            completed = self._completed
            end = monotonic() + self._patience
            while (left := end - monotonic()) > 0:
                if self._lock.acquire(timeout=min(left, _CHECKED_SECONDS)):
                    return True
                cancel_check()
        return False
