"""Log retention: which part of the write-ahead log is still needed, and dropping the rest.

A record is needed until everything it changed is on disk. Each tablet knows the oldest record that
it needs, its anchor (Kudu's `consensus/log_anchor_registry.h`); the segments before the oldest
anchor of all go.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.store_state import StoreState
    from pykudu_sql.storage.commit.committer import Committer
    from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
    from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
    from pykudu_sql.storage.tablet.tablet import Tablet

# Measured: 50,000 changes of single rows 1.3 s, 36 MB of rows of a kilobyte 1.1 s.
_RECORD_SECONDS = 25e-6
_BYTE_SECONDS = 1 / (40 << 20)


class LogRetention:
    """Knows the part of the log that is needed, and drops the rest. Safe for threads."""

    def __init__(
        self,
        log: "WriteAheadLog | ReadOnlyLog",
        tablets: Mapping[str, "Tablet"],
        committer: "Committer",
        state: "StoreState",
    ) -> None:
        """Watch over a log.

        Args:
            tablets: whose changes it holds, by UUID.
            committer: its lock is held while the log is cut; it notes the edit.
            state: says behind which record the log is needed.
        """
        self._log = log
        self._tablets = tablets
        self._committer = committer
        self._state = state

    def retained_bytes(self, anchor: int | None) -> int:
        """Bytes of the log that an anchor retains, from its record on; 0 for None."""
        return 0 if anchor is None else self._log.bytes_from(anchor)

    def replay_seconds(self, anchor: int | None) -> float:
        """Processor time that an opening takes for the log from a record on, roughly."""
        if anchor is None:
            return 0.0
        records = self._log.last_sequence + 1 - anchor
        return records * _RECORD_SECONDS + self._log.bytes_since(anchor) * _BYTE_SECONDS

    def garbage(self) -> int:
        """Bytes of the log that nothing needs any more; `collect` drops them."""
        return self._log.bytes_from(0) - self._log.bytes_from(self._anchored_sequence() + 1)

    def collect(self) -> int:
        """Drop the segments that nothing needs.

        Returns their bytes. Raises DiskError, ReadOnlyError: the disk refused.
        """
        with self._committer.lock:
            after = self._anchored_sequence()
            if after <= self._state.log_after:
                return 0
            garbage = self.garbage()
            self._committer.note({"op": "log", "after": after})
        self._log.drop_before(after + 1)
        return garbage

    def _anchored_sequence(self) -> int:
        anchors = [tablet.anchor for tablet in list(self._tablets.values())]
        anchored = [anchor for anchor in anchors if anchor is not None]
        return min(anchored, default=self._log.last_sequence + 1) - 1
