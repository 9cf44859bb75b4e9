"""Turns: statements that lost a race run again one after the other, and others let them go first.

Without them, threads that all change one row lose to each other again and again. Who waits does so
as long as turns go round: a statement that takes its time is not waited for, and a turn that cannot
be had is done without. What turns order is only who tries when; that a commit is right is what the
check against other commits sees to.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LONG_SECONDS = 0.25


class Turns:
    """Of the sessions of one open database. Safe for threads."""

    __slots__ = ("_ended", "_lock")

    def __init__(self) -> None:
        """Nobody has lost a race yet."""
        self._lock = threading.Lock()
        self._ended = 0

    def let_others_go_first(self) -> None:
        """Wait while statements that lost run again."""
        if self._lock.locked() and self._acquire():
            self._lock.release()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A block in which a statement that has lost runs again."""
        is_mine = self._acquire()
        try:
            yield
        finally:
            if is_mine:
                self._ended += 1
                self._lock.release()

    def _acquire(self) -> bool:
        """Have the turn; False when one statement has it for long."""
        ended = -1
        while ended != self._ended:
            ended = self._ended
            if self._lock.acquire(timeout=_LONG_SECONDS):
                return True
        return False
