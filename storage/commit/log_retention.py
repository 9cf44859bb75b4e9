"""Which part of the write-ahead log is still needed, and letting go of the rest.

A record is needed until everything it changed is on disk. Each tablet knows the oldest record that
it needs, its anchor (Kudu's `consensus/log_anchor_registry.h`); the segments before the oldest
anchor of all go.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from pykudu_sql.storage.tablet.tablet import Tablet


class LogRetention:
    """The log's needed part. Safe for threads."""

    def __init__(
        self,
        log: WriteAheadLog | ReadOnlyLog,
        tablets: Mapping[str, Tablet],
        commit_lock: AbstractContextManager[object],
        log_after: Callable[[], int],
        record: Callable[[dict[str, Any]], None],
    ) -> None:
        """Watch over a log.

        Args:
            log: of the database.
            tablets: whose changes it holds, by UUID.
            commit_lock: held while the log is cut.
            log_after: the record behind which the manifest says that the log is needed.
            record: appends an edit to the manifest.
        """
        self._log = log
        self._tablets = tablets
        self._commit_lock = commit_lock
        self._log_after = log_after
        self._record = record

    def held_by(self, anchor: int | None) -> int:
        """Bytes of the log from a record on; 0 for None."""
        return 0 if anchor is None else self._log.bytes_from(anchor)

    def garbage(self) -> int:
        """Bytes of the log that nothing needs any more; `collect` drops them."""
        return self._log.bytes_from(0) - self._log.bytes_from(self._needed_after() + 1)

    def collect(self) -> int:
        """Drop the segments that nothing needs.

        Returns:
            Their bytes.

        Raises:
            DiskError, ReadOnlyError: the disk refused.
        """
        with self._commit_lock:
            after = self._needed_after()
            if after <= self._log_after():
                return 0
            before = self._log.bytes_from(0)
            self._record({"op": "log", "after": after})
            self._log.drop_before(after + 1)
            return before - self._log.bytes_from(0)

    def _needed_after(self) -> int:
        anchors = [tablet.anchor for tablet in list(self._tablets.values())]
        held = [anchor for anchor in anchors if anchor is not None]
        return min(held, default=self._log.last_sequence + 1) - 1
