"""Hybrid time: 52 bits of microseconds since 1970 and 12 bits that count within one of them.

A `Timestamp` is `micros << 12 | logical` (Kudu's `clock/hybrid_clock.h`), the time of a commit. A
`SnapshotBound` B says what a snapshot sees: the commits with a timestamp less than B. Both are
integers of the same scale and types of their own, because what is a commit's own time and what
lies just above it must not be mistaken for each other: only the functions here make one of the
other, and every constant of the scale is here.

    0 <= timestamp < END_OF_TIME <= EVERYTHING        all of them fit an unsigned 64-bit integer

From 2041-05-10 on they do not fit a signed one, so arrays of them are unsigned everywhere.

The clock never goes back and never gives a timestamp twice, whatever the wall clock does; `update`
carries it over a restart.
"""

import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import Final, NewType

from pykudu_sql.storage.common.types.types import EPOCH, DataType, Kind
from pykudu_sql.storage.errors import ClockError

Timestamp = NewType("Timestamp", int)
SnapshotBound = NewType("SnapshotBound", int)

LOGICAL_BITS: Final = 12
# Before all commits; also what rows have that are not committed yet, which all snapshots see.
UNCOMMITTED: Final = Timestamp(0)
# In the year 2077. A later time on disk is damage: a clock going on from it would soon overflow.
END_OF_TIME: Final = Timestamp(3 << 62)
# The snapshot without any commit, and the one with all of them.
NOTHING: Final = SnapshotBound(0)
EVERYTHING: Final = SnapshotBound((1 << 64) - 1)
# A timestamp as a column: the types have no unsigned integer.
HYBRID_TIME: Final = DataType(Kind.DECIMAL, precision=20, scale=0)
_LOGICAL_MASK = (1 << LOGICAL_BITS) - 1


class HybridClock:
    """Gives strictly increasing hybrid timestamps close to the wall clock. Thread-safe."""

    def __init__(self, wall: Callable[[], int] | None = None) -> None:
        """Start at the wall clock.

        `wall`: microseconds since 1970, UTC; the system's clock when None.
        """
        self._wall = wall or wall_micros
        self._last = 0
        self._lock = threading.Lock()

    def now(self) -> Timestamp:
        """A timestamp greater than every one given or seen before.

        Raises ClockError: it would be the end of time, or later.
        """
        with self._lock:
            reading = self._wall() << LOGICAL_BITS
            last = self._last + 1
            timestamp = last if last > reading else reading
            if timestamp >= END_OF_TIME:
                raise _past_the_end(timestamp)
            self._last = timestamp
            return Timestamp(timestamp)

    def latest(self) -> Timestamp:
        """The present, without using a timestamp up: never below one given or seen before.

        Raises ClockError: it would be the end of time, or later.
        """
        timestamp = max(self._last, self._wall() << LOGICAL_BITS)
        if timestamp >= END_OF_TIME:
            raise _past_the_end(timestamp)
        return Timestamp(timestamp)

    def update(self, observed: Timestamp) -> None:
        """Never again give a timestamp at or below one seen elsewhere, as in a log."""
        with self._lock:
            self._last = max(self._last, observed)


def _past_the_end(timestamp: int) -> ClockError:
    return ClockError(
        f"the clock shows {format_timestamp(Timestamp(timestamp))}, and no commit can have a time "
        f"from {format_timestamp(END_OF_TIME)} on",
        hint="set the system's clock; nothing was changed",
    )


def wall_micros() -> int:
    """Microseconds since 1970, UTC, by the system's clock: the only place that reads it."""
    return time.time_ns() // 1000


def to_micros(timestamp: Timestamp) -> int:
    """The microseconds of a timestamp."""
    return timestamp >> LOGICAL_BITS


def from_micros(micros: int) -> Timestamp:
    """The first timestamp within a microsecond."""
    return Timestamp(micros << LOGICAL_BITS)


def logical_of(timestamp: Timestamp) -> int:
    """The count within a timestamp's microsecond."""
    return timestamp & _LOGICAL_MASK


def later_by(timestamp: Timestamp, micros: int) -> Timestamp:
    """The timestamp so many microseconds later, or earlier where they are negative."""
    return Timestamp(timestamp + (micros << LOGICAL_BITS))


def bound_at(timestamp: Timestamp) -> SnapshotBound:
    """The bound of the snapshot AS OF a timestamp: commits at it are visible."""
    return SnapshotBound(timestamp + 1)


def bound_before(timestamp: Timestamp) -> SnapshotBound:
    """The bound of the snapshot just before a timestamp: commits at it are not visible."""
    return SnapshotBound(timestamp)


def last_before(bound: SnapshotBound) -> Timestamp:
    """The last timestamp that a snapshot sees: its bound is that of AS OF this timestamp."""
    return Timestamp(bound - 1)


def first_beyond(bound: SnapshotBound) -> Timestamp:
    """The first timestamp that a snapshot does not see."""
    return Timestamp(bound)


def bound_at_micros(micros: int) -> SnapshotBound:
    """The bound of the snapshot AS OF a wall clock time: its whole microsecond is visible."""
    return bound_before(from_micros(micros + 1))


def to_datetime(timestamp: Timestamp) -> dt.datetime:
    """The time of a timestamp in UTC, without zone. Raises OverflowError: the year is past 9999."""
    return EPOCH + dt.timedelta(microseconds=to_micros(timestamp))


def format_timestamp(timestamp: Timestamp) -> str:
    """A timestamp for people: `2026-01-31 12:00:00.000001`, and ` (+n)` when the count is n > 0.

    The last count of a microsecond is left out too: it is what a moment given as wall time has.
    The brackets keep a reader from taking the count for a time zone.
    """
    try:
        text = to_datetime(timestamp).isoformat(" ", "microseconds")
    except OverflowError:
        text = f"{to_micros(timestamp)} us"
    logical = logical_of(timestamp)
    return text if logical in (0, _LOGICAL_MASK) else f"{text} (+{logical})"


def system_time() -> Timestamp:
    """The time of the system's clock as a timestamp, which a `HybridClock` may be ahead of."""
    return from_micros(wall_micros())


class StatementTime:
    """The time of one statement, of its `now()` and of the defaults of the rows that it writes.

    Read when first asked for, and the same from then on. Used by one thread at a time.
    """

    __slots__ = ("_clock", "_timestamp")

    def __init__(self, clock: Callable[[], Timestamp] = system_time) -> None:
        """`clock`: gives the time."""
        self._clock = clock
        self._timestamp: Timestamp | None = None

    @property
    def timestamp(self) -> Timestamp:
        """The time."""
        if self._timestamp is None:
            self._timestamp = self._clock()
        return self._timestamp

    @property
    def micros(self) -> int:
        """The same in microseconds since 1970, UTC."""
        return to_micros(self.timestamp)

    @property
    def reading(self) -> Timestamp | None:
        """The time if it was asked for."""
        return self._timestamp

    def restart(self, reading: Timestamp | None = None) -> None:
        """Begin the next statement, whose time is read when it is asked for.

        `reading`: goes back to a statement that another one interrupted.
        """
        self._timestamp = reading
