"""MVCC: which commits a reader sees (Kudu's `tablet/mvcc.h`, one manager for the database).

A snapshot is a *bound*: it sees exactly the commits whose hybrid time is below it. Commits get
their time under the store's commit lock, are applied in that order, and are published, again in
that order, once they are durable. So one number, `bound`, says all there is to say about "now".
"""

import threading
from collections.abc import Callable
from time import monotonic

from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.types.hybrid_time import (
    SnapshotBound,
    Timestamp,
    bound_at,
    last_before,
)
from pykudu_sql.storage.errors import OperationalError

_TIMEOUT = 60.0  # seconds
_CHECK_SECONDS = 0.02


class MvccManager:
    """Tracks the time up to which commits are visible. Safe for threads.

    `bound`: of a snapshot taken now.
    """

    def __init__(self, bound: SnapshotBound) -> None:
        """Start with every commit below `bound` visible."""
        self.bound = bound
        self._assigned = last_before(bound)
        self._lock = threading.RLock()
        self._published = threading.Condition(self._lock)
        self._waiting = 0

    def assign(self, timestamp: Timestamp) -> None:
        """Note that a commit of this time is being applied. The caller holds the commit lock."""
        self._assigned = timestamp

    def publish(self, timestamp: Timestamp) -> None:
        """Make every commit up to and including this time visible."""
        with self._lock:  # as the condition does, with two calls less
            if timestamp >= self.bound:
                self.bound = bound_at(timestamp)
                if self._waiting:
                    self._published.notify_all()

    def publish_assigned(self) -> None:
        """Make every commit visible that was applied. The caller holds the commit lock."""
        self.publish(self._assigned)

    def wake(self) -> None:
        """Wake the threads in `wait_for`, so that each calls its `in_vain` again."""
        with self._published:
            self._published.notify_all()

    def wait_for(
        self,
        bound: SnapshotBound,
        in_vain: Callable[[], bool],
        cancel_check: CancelCheck = never_cancelled,
    ) -> None:
        """Wait until no commit below `bound` is on its way any more.

        Args:
            bound: above those commits.
            in_vain: whether a commit cannot go on; called again after each `wake`.
            cancel_check: called every few milliseconds of the wait.

        Raises OperationalError: that took longer than a minute; or what `cancel_check` raises.
        """
        target = min(bound, bound_at(self._assigned))
        with self._published:
            self._waiting += 1
            try:
                is_complete = self._wait(lambda: self.bound >= target or in_vain(), cancel_check)
            finally:
                self._waiting -= 1
        if not is_complete:
            raise OperationalError(f"commits before {bound} did not finish in {_TIMEOUT} s")

    def _wait(self, is_over: Callable[[], bool], cancel_check: CancelCheck) -> bool:
        """Wait for something; whether it came in time."""
        end = monotonic() + _TIMEOUT
        while not self._published.wait_for(is_over, _CHECK_SECONDS):
            if monotonic() >= end:
                return False
            cancel_check()
        return True
