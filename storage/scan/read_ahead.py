"""Blocks of rowsets in their order, while the threads of a pool read those that come next.

Of each of the first few rowsets that are not read to their end one block is at hand or being read,
so what memory holds grows neither with a rowset nor with their number.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import ExitStack
from itertools import islice
from threading import get_ident
from typing import TypeVar

from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock

Blocks = Generator[RowBlock, None, None]
Source = tuple[Blocks, ScanStats | None]

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


def read_ahead(
    pool: Executor, sources: Iterator[Source], most_at_once: int, stats: ScanStats | None
) -> Blocks:
    """All blocks, source after source. Raises what reading a block raised, at its turn.

    Args:
        pool: its threads read.
        sources: the blocks of each rowset, with what counts the work on them.
        most_at_once: sources of which a block is at hand or being read, 1 or more.
        stats: gets the work on a source once nothing more of it is read.
    """
    coming = deque[_ComingBlocks]()
    try:
        while True:
            for blocks, work in islice(sources, most_at_once - len(coming)):
                coming.append(_ComingBlocks(pool, blocks, work))
            if not coming:
                return
            block = coming[0].next()
            if block is not None:
                yield block
                continue
            _count(coming.popleft(), stats)
    finally:
        with ExitStack() as ending:  # all of them, also where one is interrupted
            while coming:
                ending.callback(_end, coming.pop(), stats)


def _end(source: "_ComingBlocks", stats: ScanStats | None) -> None:
    source.close()
    _count(source, stats)


class _ComingBlocks:
    """The blocks of a source, of which a thread reads the next one; for one thread that asks.

    `stats`: counts the work on them.
    """

    _reader = 0  # the thread that read last

    def __init__(self, pool: Executor, blocks: Blocks, stats: ScanStats | None) -> None:
        """Begin with the first."""
        self.stats = stats
        self._pool = pool
        self._blocks = blocks
        self._coming: Future[RowBlock | None] | None = self._submit()

    def next(self) -> RowBlock | None:
        """The next block, None behind the last. Raises what reading it raised."""
        coming = self._coming
        if coming is None:
            return None
        try:
            block = coming.result()
        except BaseException:
            # What reading raised refers to this frame: with the future that has it, all of the scan
            # would stay until cycles are collected. An interrupt ends the waiting alone.
            self._coming = None if coming.done() else coming
            del coming
            raise
        self._coming = None if block is None else self._submit()
        return block

    def close(self) -> None:
        """Read no more; waits for what is being read.

        Where the garbage collector ends the reading it may do so in the thread that reads, which
        must not wait for itself: the blocks end when it is done with this one.
        """
        coming, self._coming = self._coming, None
        if coming is not None and not coming.cancel() and not coming.done():
            if self._reader == get_ident():
                return
            wait([coming])
        self._blocks.close()

    def _submit(self) -> "Future[RowBlock | None]":
        return self._pool.submit(task_of(_ComingBlocks._read, self))

    def _read(self) -> RowBlock | None:
        self._reader = get_ident()
        return next(self._blocks, None)


def _count(ended: _ComingBlocks, stats: ScanStats | None) -> None:
    if stats is not None and ended.stats is not None:
        stats.add(ended.stats)


def task_of(work: Callable[[_Argument], _Result], argument: _Argument) -> Callable[[], _Result]:
    """A call for a pool. A thread of the pool holds it until after the result is there; by then the
    call has let go of its parts, and with them of a rowset, whose files may have to go."""
    parts = [(work, argument)]

    def run() -> _Result:
        call, value = parts.pop()
        return call(value)

    return run
