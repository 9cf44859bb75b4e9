"""Reads that have just begun go before batches of writes.

Threads share the interpreter's lock, which changes hands every 5 ms unless its owner waits; a read
of a millisecond that is due together with two batches of writes would wait for most of both. So a
batch gives way between its steps while a read is in its first milliseconds. This is scheduling by
multilevel feedback (Corbato 1962): a statement counts as short until it has shown that it is not.

A batch waits no longer in all than `PATIENCE`, however many reads there are, and where there is
none it does not wait at all. It must not give way while it holds a lock.
"""

from threading import get_ident
from time import perf_counter, sleep
from typing import Final

QUANTUM: Final = 0.005
PATIENCE: Final = 0.005
_PAUSE: Final = 0.0003


class ReadPriority:
    """The reads that run, with the times when they began. Safe for threads."""

    __slots__ = ("_starts",)

    def __init__(self) -> None:
        """No read runs."""
        self._starts: dict[int, float] = {}

    def __enter__(self) -> None:
        """A read begins on this thread."""
        self._starts[get_ident()] = perf_counter()

    def __exit__(self, *_: object) -> None:
        """The read of this thread has ended."""
        self._starts.pop(get_ident(), None)

    def has_short_read(self) -> bool:
        """Whether a read of another thread is in its first `QUANTUM` seconds."""
        if not self._starts:
            return False
        own, latest = get_ident(), perf_counter() - QUANTUM
        return any(start > latest for thread, start in list(self._starts.items()) if thread != own)


class BatchTurn:
    """The patience of one batch of writes. Used by one thread."""

    __slots__ = ("_patience", "_reads")

    def __init__(self, reads: ReadPriority) -> None:
        """Nothing is waited yet for `reads`."""
        self._reads = reads
        self._patience = PATIENCE

    def give_way(self) -> None:
        """Wait for short reads to end, as long as patience lasts."""
        while self._patience > 0 and self._reads.has_short_read():
            start = perf_counter()
            sleep(_PAUSE)
            self._patience -= perf_counter() - start
