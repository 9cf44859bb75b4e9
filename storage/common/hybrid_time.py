"""Hybrid time: 52 bits of microseconds since 1970 and 12 bits that count within one of them.

A timestamp is the int `micros << 12 | logical` (Kudu's `clock/hybrid_clock.h`). The clock never
goes back and never gives a timestamp twice, whatever the wall clock does; `update` carries it over
a restart. A *bound* B of a snapshot means: commits with a timestamp less than B are visible.
"""

import datetime as dt
import threading
import time
from collections.abc import Callable

from pykudu_sql.storage.common.types import EPOCH

LOGICAL_BITS = 12
# In the year 2077. A later time on disk is damage: a clock going on from it would soon overflow.
LATEST = 3 << 62
_LOGICAL_MASK = (1 << LOGICAL_BITS) - 1


class HybridClock:
    """Gives strictly increasing hybrid timestamps close to the wall clock. Thread-safe."""

    def __init__(self, wall: Callable[[], int] | None = None) -> None:
        """Start at the wall clock.

        Args:
            wall: microseconds since 1970, UTC; the system's clock when None.
        """
        self._wall = wall or wall_micros
        self._last = 0
        self._lock = threading.Lock()

    def now(self) -> int:
        """A timestamp greater than every one given or seen before."""
        with self._lock:
            reading = self._wall() << LOGICAL_BITS
            last = self._last + 1
            self._last = last if last > reading else reading
            return self._last

    def latest(self) -> int:
        """The present, without using a timestamp up: never below one given or seen before."""
        return max(self._last, self._wall() << LOGICAL_BITS)

    def update(self, seen: int) -> None:
        """Never again give a timestamp at or below one seen elsewhere, as in a log."""
        with self._lock:
            self._last = max(self._last, seen)


def wall_micros() -> int:
    """Microseconds since 1970, UTC, by the system's clock."""
    return time.time_ns() // 1000


def to_micros(timestamp: int) -> int:
    """The microseconds of a timestamp."""
    return timestamp >> LOGICAL_BITS


def from_micros(micros: int) -> int:
    """The first timestamp within a microsecond."""
    return micros << LOGICAL_BITS


def bound_at(timestamp: int) -> int:
    """The bound of the snapshot AS OF a timestamp: commits at it are visible."""
    return timestamp + 1


def bound_at_micros(micros: int) -> int:
    """The bound of the snapshot AS OF a wall clock time: its whole microsecond is visible."""
    return from_micros(micros + 1)


def to_datetime(timestamp: int) -> dt.datetime:
    """The time of a timestamp in UTC, without zone.

    Raises:
        OverflowError: the year is past 9999.
    """
    return EPOCH + dt.timedelta(microseconds=to_micros(timestamp))


def format_timestamp(timestamp: int) -> str:
    """A timestamp for people: `2026-01-31 12:00:00.000001`, and ` (+n)` when the count is n > 0.

    The last count of a microsecond is left out too: it is what a moment given as wall time has.
    The brackets keep a reader from taking the count for a time zone.
    """
    try:
        text = to_datetime(timestamp).isoformat(" ", "microseconds")
    except OverflowError:
        text = f"{to_micros(timestamp)} us"
    logical = timestamp & _LOGICAL_MASK
    return text if logical in (0, _LOGICAL_MASK) else f"{text} (+{logical})"
