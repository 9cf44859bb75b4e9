"""The memory of a process with an open database: one limit, its shares, and who holds what.

`shares_of` divides the limit. The block cache and the engine keep to their shares by themselves,
memory of changes is flushed when it exceeds its own (`maintenance.manager`). What statements hold
is counted here: they ask how much is `free`, read or write in smaller pieces where that is little,
and `check` what cannot be made smaller.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from enum import StrEnum

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import OperationalError

# Code and libraries with their own buffers, once queries and writes have run.
PROCESS_BYTES = 160 << 20
LEAST_ENGINE_BYTES = 64 << 20
# Of a process that may take less, Arrow and the C library keep little of what is free; of one that
# may take less than the second, DuckDB keeps nothing, which costs its queries a tenth.
SMALL_LIMIT, TIGHT_LIMIT = 1 << 30, 512 << 20
MOST_CACHED = MOST_IN_MEMSTORES = 1 << 30
# What is taken at once is in memory about three times: read, changed and written.
LEAST_CHUNK, LEAST_PIECE, MOST_PIECE = 1 << 20, 4 << 20, 256 << 20
LEAST_VALUE, MOST_VALUE = 1 << 20, 64 << 20
# What makes a value, and what hands it on to a result, have it several times.
_COPIES_OF_VALUE = 8


class Holder(StrEnum):
    """Who holds memory."""

    BLOCK_CACHE = "block_cache"
    MEMSTORES = "memstores"
    ENGINE = "engine"
    STATEMENTS = "statements"


@dataclass(frozen=True, slots=True)
class MemoryShares:
    """Bytes that each holder may have.

    `limit`: of the whole process, which also needs some for its code.
    """

    limit: int
    block_cache: int
    memstores: int
    engine: int
    statements: int

    @property
    def piece(self) -> int:
        """Bytes of rows that background work takes at once."""
        return min(MOST_PIECE, max(LEAST_PIECE, self.statements // 8))

    @property
    def value(self) -> int:
        """Bytes that one value may have which a statement computes, in whole MiB."""
        share = _shared(self.limit) // _COPIES_OF_VALUE
        return min(MOST_VALUE, max(LEAST_VALUE, share >> 20 << 20))


def shares_of(
    limit: int,
    block_cache: int | None = None,
    memstores: int | None = None,
    engine: int | None = None,
) -> MemoryShares:
    """The shares of a limit. Those given stay as they are, and the others have what is left.

    A process takes `PROCESS_BYTES` anyhow; of a limit below twice that, half is shared. The
    engine sorts nothing in less than `LEAST_ENGINE_BYTES`, and has them if the limit does.
    """
    shared = _shared(limit)
    if block_cache is None:
        block_cache = min(shared // 8, MOST_CACHED)
    if memstores is None:
        memstores = min(shared // 8, MOST_IN_MEMSTORES)
    remaining = max(shared - block_cache - memstores, shared // 4)
    if engine is None:
        engine = max(remaining // 2, min(limit, LEAST_ENGINE_BYTES))
    statements = max(remaining - engine, shared // 4)
    return MemoryShares(limit, block_cache, memstores, engine, statements)


def _shared(limit: int) -> int:
    """What is left of a limit beside the process."""
    return max(limit - PROCESS_BYTES, limit // 2)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What one holder may have, has, and had at most; a peak is the highest that was looked at."""

    limit: int
    used: int
    peak: int


class MemoryBudget:
    """The accountant of one open database. Safe for threads.

    Attributes:
        shares: of the limit.
        is_pressed: whether changes in memory take more than their share: who writes flushes first.
    """

    def __init__(self, shares: MemoryShares) -> None:
        """Nothing is held yet."""
        self.shares = shares
        self.is_pressed = False
        self._used = 0
        self._peaks = dict.fromkeys(Holder, 0)
        self._gauges: dict[Holder, Callable[[], int]] = dict.fromkeys(Holder, lambda: 0)
        self._gauges[Holder.STATEMENTS] = self._held_bytes
        self._released: deque[int] = deque()
        self._mutex = threading.Lock()

    @property
    def free(self) -> int:
        """Bytes that statements may still hold."""
        return max(0, self.shares.statements - self._held_bytes())

    def hold(self, referent: object, size: int) -> None:
        """Count bytes as held by statements until an object is gone."""
        with self._mutex:
            self._apply_releases()
            self._used += size
            self._note(Holder.STATEMENTS, self._used)
        # A finalizer may run while this thread holds the mutex, so it leaves a note instead.
        weakref.finalize(referent, self._released.append, size).atexit = False

    def piece(self, most: int) -> int:
        """Bytes of rows that a statement may take at once, at most `most`."""
        return min(most, max(LEAST_CHUNK, self.free // 4))

    def check(self, size: int, what: str) -> None:
        """See that a statement may hold so many bytes more, of something that cannot be parted.

        Raises OperationalError: it may not (53200).
        """
        free = self.free
        if size > free:
            raise OperationalError(
                f"{what} take more than the {free} bytes that are left for statements",
                hint="write fewer rows in one transaction, or allow more: "
                "connect(memory_limit=...), --set memory_limit=..",
                sqlstate="53200",
            )

    def measure_with(self, holder: Holder, gauge: Callable[[], int]) -> None:
        """Let a function tell what a holder has now."""
        self._gauges[holder] = gauge

    def sample(self, holder: Holder) -> int:
        """Look at what a holder has now."""
        used = self._gauges[holder]()
        with self._mutex:
            self._note(holder, used)
        return used

    def uses(self) -> Mapping[Holder, MemoryUse]:
        """What every holder may have and has."""
        return {holder: self._use_of(holder) for holder in Holder}

    def _use_of(self, holder: Holder) -> MemoryUse:
        used = self.sample(holder)
        return MemoryUse(getattr(self.shares, holder), used, self._peaks[holder])

    def _held_bytes(self) -> int:
        with self._mutex:
            self._apply_releases()
            return self._used

    def _apply_releases(self) -> None:
        while self._released:
            self._used -= self._released.popleft()

    def _note(self, holder: Holder, used: int) -> None:
        self._peaks[holder] = max(self._peaks[holder], used)
