"""The time of a statement: of its `now()`, and of the defaults of the rows that it writes."""

from collections.abc import Callable

from pykudu_sql.storage.common.types.hybrid_time import (
    Timestamp,
    from_micros,
    to_micros,
    wall_micros,
)


def system_time() -> Timestamp:
    """The wall clock's time."""
    return from_micros(wall_micros())


class StatementTime:
    """The time of one statement: read when first asked for, the same from then on.

    Used by one thread at a time.
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
