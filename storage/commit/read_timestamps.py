"""Timestamps to read at: pinned now, or in the past and waited for until all below is visible.

No commit gets a timestamp that was handed out here, or one below it, also not after a crash.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykudu_sql.storage.common.types.hybrid_time import (
    EVERYTHING,
    bound_at_micros,
    last_before,
    to_micros,
)
from pykudu_sql.storage.errors import SnapshotInFutureError

if TYPE_CHECKING:
    from pykudu_sql.storage.commit.timestamp_reserve import TimestampReserve
    from pykudu_sql.storage.common.cancellation import CancelCheck
    from pykudu_sql.storage.common.ctrl_c import CommitLock
    from pykudu_sql.storage.common.types.hybrid_time import (
        HybridClock,
        SnapshotBound,
        Timestamp,
    )
    from pykudu_sql.storage.tablet.rowset.mvcc import MvccManager


class ReadTimestamps:
    """Hands out timestamps to read at. Safe for threads."""

    def __init__(
        self,
        clock: "HybridClock",
        mvcc: "MvccManager",
        reserve: "TimestampReserve | None",
        commit_lock: "CommitLock",
        check_readable: Callable[[], None],
        is_in_doubt: Callable[[], bool],
    ) -> None:
        """Read what a committer has published.

        Args:
            reserve: None in a process that only reads: it commits nothing, and reserves nothing.
            commit_lock, check_readable: see `Committer`.
            is_in_doubt: whether a commit has an unknown outcome.
        """
        self._clock = clock
        self._mvcc = mvcc
        self._reserve = reserve
        self._commit_lock = commit_lock
        self._check_readable = check_readable
        self._is_in_doubt = is_in_doubt

    def pin(self) -> "Timestamp":
        """Pin a timestamp to read at: after every visible commit, and before every later one."""
        moment = self._clock.now()
        self.reserve_through(moment)
        return moment

    def wait_until_readable(self, bound: "SnapshotBound") -> None:
        """Wait until every commit below a bound in the past is visible or has failed.

        Raises SnapshotInFutureError: the moment has not come yet; DiskError: the outcome of a
        commit is not known.
        """
        clock = self._clock
        if bound > bound_at_micros(to_micros(clock.now())):
            raise SnapshotInFutureError(
                "the requested moment lies in the future", hint="AS OF takes a moment in the past"
            )
        if bound <= self._mvcc.bound:
            return
        self._check_readable()
        self.reserve_through(last_before(bound))
        clock.update(last_before(bound))
        with self._commit_lock:
            pass  # a commit that had its time already is now known to MVCC; later ones lie behind
        self._mvcc.wait_for(bound, self._is_in_doubt)
        self._check_readable()

    def wait_until_visible(self, cancel_check: "CancelCheck") -> None:
        """Wait until every commit that is applied by now is visible or has failed.

        Who lost to one of them and begins again at once would not see it, and lose again.
        `cancel_check`: called every few milliseconds of the wait. Raises OperationalError: that
        took longer than a minute; or what `cancel_check` raises.
        """
        self._mvcc.wait_for(EVERYTHING, self._is_in_doubt, cancel_check)

    def reserve_through(self, moment: "Timestamp") -> None:
        """Reserve timestamps up to `moment`, which no commit gets, also not after a crash."""
        if self._reserve is not None:
            self._reserve.cover(moment)
