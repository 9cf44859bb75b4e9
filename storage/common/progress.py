"""How far long work is: counters that it moves between its steps, and that others may read.

Work counts what it has done on a `Counter`, a step at a time (a stretch of a scan, a slice of a
compaction), so that counting costs nothing beside it. Counters belong to a statement: the first one
of a statement puts those of the statement before aside. Work that knows no statement, such as a
compaction, asks `counter` for one, which nobody reads where nobody follows.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from pykudu_sql.dataclass import dataclass

Unit = Literal["rows", "bytes"]


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """How far a statement is.

    Attributes:
        activity: what it does, such as `reading orders`.
        done: how much of that is done.
        total: how much there is to do; None if that is not known. About right where rows are
            passed over.
        unit: what is counted.
    """

    activity: str
    done: int
    total: int | None
    unit: Unit


class Counter:
    """How much of one piece of work is done. Safe for threads.

    Attributes:
        activity, total, unit: as of `ProgressReport`.
        done: so far.
    """

    __slots__ = ("_lock", "activity", "done", "total", "unit")

    def __init__(self, activity: str, total: int | None = None, unit: Unit = "rows") -> None:
        """Nothing is done yet."""
        self.activity = activity
        self.total = total
        self.unit: Unit = unit
        self.done = 0
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        """So much more is done."""
        with self._lock:
            self.done += count

    @property
    def is_done(self) -> bool:
        """Whether all of it is; never where nobody knows how much that is."""
        return self.total is not None and self.done >= self.total


NewCounter = Callable[[str, int | None, Unit], Counter]


class Progress:
    """The counters of the statement of a session that counted last."""

    __slots__ = ("_counters", "_statement")

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self._statement = 0
        self._counters: list[Counter] = []

    def counter(self, statement: int, activity: str, total: int | None, unit: Unit) -> Counter:
        """A new counter of a statement, which is named by its number in the session."""
        if statement != self._statement:
            self._statement, self._counters = statement, []
        counter = Counter(activity, total, unit)
        self._counters.append(counter)
        return counter

    def report(self, statement: int) -> ProgressReport | None:
        """How far a statement is with what it does now; None if it has not counted.

        Counters of one activity are one: what a join reads side by side, or a table by tablets.
        """
        counters = tuple(self._counters) if self._statement == statement else ()
        if not counters:
            return None
        now = next((c for c in counters if not c.is_done), counters[-1])
        same = [c for c in counters if c.activity == now.activity and c.unit == now.unit]
        done = sum(c.done for c in same)
        if any(c.total is None for c in same):
            return ProgressReport(now.activity, done, None, now.unit)
        total = sum(c.total or 0 for c in same)
        return ProgressReport(now.activity, min(done, total), total, now.unit)


_FOLLOWED: ContextVar[NewCounter | None] = ContextVar("followed", default=None)


@contextmanager
def followed(new_counter: NewCounter) -> Iterator[None]:
    """A block whose `counter`s, on this thread, are made by a function."""
    token = _FOLLOWED.set(new_counter)
    try:
        yield
    finally:
        _FOLLOWED.reset(token)


def counter(activity: str, total: int | None = None, unit: Unit = "rows") -> Counter:
    """A counter for who follows the work of this thread; one that nobody reads if nobody does."""
    new_counter = _FOLLOWED.get()
    return (
        Counter(activity, total, unit)
        if new_counter is None
        else new_counter(activity, total, unit)
    )
