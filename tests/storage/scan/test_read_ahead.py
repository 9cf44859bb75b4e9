"""Blocks are read ahead: in order, few at a time, and no further than somebody asks."""

import gc
import threading
import weakref
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.scan.read_ahead import Blocks, Source, read_ahead
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock


class Sources:
    """Sources of blocks that note what is done with them; the length of a block says which it is.

    `at_once`: the most of them that were begun and not ended or closed.
    """

    def __init__(self, blocks: list[list[int]], failing: int = -1) -> None:
        self.opened: list[int] = []
        self.ended: list[int] = []
        self.at_once = 0
        self._blocks = blocks
        self._failing = failing
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Source]:
        for number in range(len(self._blocks)):
            stats = ScanStats()
            yield self._source(number, stats), stats

    def _source(self, number: int, stats: ScanStats) -> Blocks:
        with self._lock:
            self.opened.append(number)
            self.at_once = max(self.at_once, len(self.opened) - len(self.ended))
        try:
            for length in self._blocks[number]:
                stats.rows_scanned += 1
                yield RowBlock([], length)
            if number == self._failing:
                raise OSError(f"source {number}")
        finally:
            with self._lock:
                self.ended.append(number)


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


BLOCKS = [[1, 2, 3], [], [4], [5, 6], [], [], [7]]


@pytest.mark.parametrize("most", [1, 2, 3, 20])
def test_blocks_come_in_order_and_few_sources_are_read_at_once(
    pool: ThreadPoolExecutor, most: int
) -> None:
    sources, stats = Sources(BLOCKS), ScanStats()
    lengths = [block.length for block in read_ahead(pool, iter(sources), most, stats)]
    assert lengths == [1, 2, 3, 4, 5, 6, 7]
    assert sources.at_once <= most
    assert sorted(sources.ended) == list(range(len(BLOCKS)))
    assert stats.rows_scanned == 7


def test_who_asks_for_no_more_ends_the_reading(pool: ThreadPoolExecutor) -> None:
    sources, stats = Sources([[1] * 100] * 50), ScanStats()
    blocks = read_ahead(pool, iter(sources), 3, stats)
    assert len(list(islice(blocks, 2))) == 2
    del blocks
    assert sources.opened == sorted(sources.ended)
    assert len(sources.opened) <= 3
    assert 3 <= stats.rows_scanned <= 5


def test_an_error_comes_behind_the_blocks_before_it(pool: ThreadPoolExecutor) -> None:
    sources = Sources(BLOCKS, failing=3)
    lengths = []
    with pytest.raises(OSError, match="source 3"):
        for block in read_ahead(pool, iter(sources), 3, None):
            lengths.append(block.length)
    assert lengths == [1, 2, 3, 4, 5, 6]
    assert sorted(sources.opened) == sorted(sources.ended)


def test_the_thread_that_reads_may_end_the_reading_as_the_garbage_collector_does(
    pool: ThreadPoolExecutor,
) -> None:
    is_suspended, has_ended = threading.Event(), threading.Event()
    reading: list[Generator[RowBlock, None, None]] = []

    def blocks() -> Blocks:
        yield RowBlock([], 1)
        is_suspended.wait(10)
        reading[0].close()
        has_ended.set()
        yield RowBlock([], 2)

    reading.append(read_ahead(pool, iter([(blocks(), None)]), 1, None))
    assert next(reading[0]).length == 1
    is_suspended.set()
    assert has_ended.wait(10)
    assert list(reading[0]) == []


def test_what_failed_is_let_go_with_its_error(pool: ThreadPoolExecutor) -> None:
    gc.disable()
    try:
        sources = Sources([[1], [2]], failing=0)
        token = weakref.ref(sources)
        with pytest.raises(OSError, match="source 0"):
            list(read_ahead(pool, iter(sources), 2, None))
        del sources
        assert token() is None
    finally:
        gc.enable()


def test_all_sources_end_where_the_end_of_one_is_interrupted(pool: ThreadPoolExecutor) -> None:
    ended = []

    def blocks(number: int) -> Blocks:
        try:
            yield RowBlock([], 1)
            yield RowBlock([], 1)
        finally:
            ended.append(number)
            if number == 2:
                raise KeyboardInterrupt

    reading = read_ahead(pool, iter([(blocks(number), None) for number in range(4)]), 4, None)
    assert next(reading).length == 1
    with pytest.raises(KeyboardInterrupt):
        reading.close()
    assert sorted(ended) == [0, 1, 2, 3]
