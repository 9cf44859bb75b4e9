"""The timestamp reserve: no timestamp that was handed out is assigned to a commit after a crash.

A commit's time is in the log. A timestamp that was only read (AS OF it, or as a snapshot's
timestamp) is nowhere, so after a crash a wall clock that went back could give it to a new commit,
and AS OF it would show other rows than before. So the manifest always names a time ahead of every
timestamp handed out, and an opening after a crash goes on above it. It moves on by `AHEAD_MICROS`,
so there is one edit for many of them; a clean close ends the reserve with the time itself.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pykudu_sql.storage.common.types.hybrid_time import (
    NOTHING,
    Timestamp,
    bound_before,
    from_micros,
    later_by,
    to_micros,
)
from pykudu_sql.storage.errors import Error

AHEAD_MICROS = 2_000_000


class TimestampReserve:
    """Covers timestamps before they are handed out. Safe for threads."""

    def __init__(self, record: Callable[[dict[str, Any]], None]) -> None:
        """Nothing is reserved yet. `record`: appends an edit to the manifest, durably."""
        self._record = record
        self._until = NOTHING
        self._lock = threading.Lock()

    def cover(self, timestamp: Timestamp) -> None:
        """Ensure that after a crash no commit gets this hybrid time, or one below it.

        If the manifest refuses the edit, reads go on: nothing can be committed either before the
        next opening. `timestamp`: given by the clock, or below
        one that was.
        """
        if timestamp < self._until:
            return
        until = bound_before(later_by(from_micros(to_micros(timestamp)), AHEAD_MICROS))
        with suppress(Error):
            self._record({"op": "reserve", "until": until})
            with self._lock:
                self._until = max(self._until, until)
