"""Tasks shared by the thread that asks and those of a pool."""

import gc
import weakref
from collections.abc import Callable, Iterator
from threading import Barrier, Event, get_ident
from time import sleep
from typing import Any

import pytest

from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.scan.side_by_side import side_by_side


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    with ThreadPool(2) as pool:
        yield pool


def test_results_come_in_the_order_of_the_tasks(pool: ThreadPool) -> None:
    assert side_by_side(pool, [lambda n=n: n * n for n in range(100)]) == [
        n * n for n in range(100)
    ]
    assert side_by_side(pool, []) == []


def test_the_calling_thread_and_one_of_the_pool_work_at_once(pool: ThreadPool) -> None:
    both = Barrier(2, timeout=30)

    def task() -> int:
        both.wait()
        return get_ident()

    threads = side_by_side(pool, [task, task])
    assert get_ident() in threads
    assert len(set(threads)) == 2


def test_a_pool_that_is_busy_is_not_waited_for(pool: ThreadPool) -> None:
    release = Event()
    try:
        for _ in range(2):
            pool.submit(release.wait, 30)
        threads = side_by_side(pool, [get_ident] * 5)
        assert threads == [get_ident()] * 5
    finally:
        release.set()


def test_one_worker_is_the_calling_thread() -> None:
    with ThreadPool(1) as pool:
        assert side_by_side(pool, [get_ident] * 3) == [get_ident()] * 3


@pytest.mark.parametrize("failing", [0, 1, 5])
def test_what_a_task_raised_is_raised_and_ends_the_others(pool: ThreadPool, failing: int) -> None:
    begun: list[int] = []

    def task(number: int) -> Callable[[], None]:
        def run() -> None:
            begun.append(number)
            if number == failing:
                raise ValueError("broken")

        return run

    with pytest.raises(ValueError, match="broken"):
        side_by_side(pool, [task(number) for number in range(1000)])
    assert len(begun) < 1000


def test_no_task_is_at_work_any_more_when_another_has_failed(pool: ThreadPool) -> None:
    caller, both, ended = get_ident(), Barrier(2, timeout=30), Event()

    def task() -> None:
        both.wait()
        if get_ident() == caller:
            raise ValueError("broken")
        sleep(0.2)
        ended.set()

    with pytest.raises(ValueError, match="broken"):
        side_by_side(pool, [task, task])
    assert ended.is_set()


def test_an_interrupt_between_helpers_leaves_the_tasks() -> None:
    class Interrupted(ThreadPool):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            if waiting:
                raise KeyboardInterrupt
            waiting.append(super().submit(*args, **kwargs))
            return waiting[0]

    waiting, begun = list[Any](), list[int]()

    def task() -> None:
        begun.append(get_ident())
        sleep(0.2)

    with Interrupted(4) as pool:
        with pytest.raises(KeyboardInterrupt):
            side_by_side(pool, [task] * 100)
        assert waiting[0].done()
    assert len(begun) < 2


def test_a_failure_in_a_thread_of_the_pool_leaves_nothing_in_memory(pool: ThreadPool) -> None:
    class Large:
        """Something that a scan holds."""

    caller, both = get_ident(), Barrier(2, timeout=30)
    held: list[weakref.ref[Large]] = []

    def scan() -> None:
        large = Large()
        held.append(weakref.ref(large))

        def task() -> None:
            both.wait()
            if get_ident() != caller:
                raise ValueError(repr(large))

        side_by_side(pool, [task, task])

    gc.disable()
    try:
        with pytest.raises(ValueError, match="Large"):
            scan()
        pool.submit(int).result()
        assert held[0]() is None
    finally:
        gc.enable()
