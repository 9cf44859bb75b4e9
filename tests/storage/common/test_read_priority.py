"""Batches of writes give way to reads that have just begun, and to no others."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep

from pykudu_sql.storage.common.read_priority import QUANTUM, BatchTurn, ReadPriority


@contextmanager
def reading_elsewhere(reads: ReadPriority) -> Iterator[None]:
    """Another thread reads within the block."""
    begun, finish = threading.Event(), threading.Event()

    def read() -> None:
        with reads:
            begun.set()
            finish.wait()

    thread = threading.Thread(target=read)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        finish.set()
        thread.join()


def test_a_read_of_another_thread_counts_until_it_ends() -> None:
    reads = ReadPriority()
    seen = False
    for _ in range(100):  # the block may begin only after the read's first milliseconds
        with reading_elsewhere(reads):
            seen = reads.has_short_read()
        if seen:
            break
    assert seen
    assert not reads.has_short_read()


def test_a_read_of_the_same_thread_does_not_count() -> None:
    reads = ReadPriority()
    with reads:
        assert not reads.has_short_read()


def test_a_read_that_lasts_does_not_count_any_more() -> None:
    reads = ReadPriority()
    with reading_elsewhere(reads):
        sleep(2 * QUANTUM)
        assert not reads.has_short_read()


def test_a_read_ends_also_where_it_fails() -> None:
    reads = ReadPriority()

    def fail() -> None:
        try:
            with reads:
                raise ValueError
        except ValueError:
            pass

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert not reads.has_short_read()


def test_a_batch_goes_on_though_there_is_always_a_new_read() -> None:
    reads, ended = ReadPriority(), threading.Event()

    def read_always() -> None:
        while not ended.is_set():
            with reads:
                pass

    threads = [threading.Thread(target=read_always) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        turn = BatchTurn(reads)
        for _ in range(50):
            turn.give_way()  # ends, or the test does not
    finally:
        ended.set()
        for thread in threads:
            thread.join()
