"""MVCC: which commits a reader sees (Kudu's `tablet/mvcc.h`, one manager for the database).

A snapshot is a *bound*: it sees exactly the commits whose hybrid time is below it. Commits get
their time under the store's commit lock, are applied in that order, and are published, again in
that order, once they are durable. So one number, `bound`, says all there is to say about "now".
"""

import threading
from collections.abc import Callable

from pykudu_sql.storage.common.types.hybrid_time import (
    SnapshotBound,
    Timestamp,
    bound_at,
    last_before,
)
from pykudu_sql.storage.errors import OperationalError

_TIMEOUT = 60.0  # seconds


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

    def wait_for(self, bound: SnapshotBound, in_vain: Callable[[], bool]) -> None:
        """Wait until no commit below `bound` is on its way any more.

        `in_vain`: whether a commit cannot go on; called again after each `wake`. Raises
        OperationalError: that took longer than a minute.
        """
        target = min(bound, bound_at(self._assigned))
        with self._published:
            self._waiting += 1
            try:
                is_complete = self._published.wait_for(
                    lambda: self.bound >= target or in_vain(), _TIMEOUT
                )
            finally:
                self._waiting -= 1
        if not is_complete:
            raise OperationalError(f"commits before {bound} did not finish in {_TIMEOUT} s")
