"""Tasks that the thread which asks for them shares with the threads of a pool.

To wake a thread takes 40 us on a virtual machine whose processor sleeps, and what it then waits for
may be the interpreter's lock. So who asks computes instead of being woken by each result, and a
task that no thread of the pool came to is not waited for.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.scan.read_ahead import task_of

_Result = TypeVar("_Result")


def side_by_side(pool: ThreadPool, tasks: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """What tasks return, in their order.

    They are begun in their order, by the calling thread and as many of the pool as make its
    `workers` together. Raises what a task raised, or what interrupted this thread; no task is begun
    after that, and none is at work any more.
    """
    shared = _SharedTasks(tasks)
    others = min(pool.workers, len(tasks)) - 1
    helpers = list[Future[None]]()
    try:
        for _ in range(others):
            helpers.append(pool.submit(task_of(_SharedTasks.work, shared)))
        shared.work()
        _join(helpers)
    finally:
        shared.stop()
        _let_end(helpers)
    return [shared.results[place] for place in range(len(tasks))]


def _join(helpers: "list[Future[None]]") -> None:
    """Wait for those that began. Raises what one raised."""
    while helpers:
        if not helpers[-1].cancel():
            helpers[-1].result()
        helpers.pop()


def _let_end(helpers: "list[Future[None]]") -> None:
    """Wait for the tasks at work where another failed: they read files that may soon be closed.

    Nothing here holds a future afterwards: what one raised refers to the frames that waited for it,
    and with them all of the scan would stay until cycles are collected.
    """
    wait([helper for helper in helpers if not helper.cancel()])
    helpers.clear()


class _SharedTasks(Generic[_Result]):
    """Tasks that several threads take from one queue.

    `results`: by the places of the tasks.
    """

    def __init__(self, tasks: Sequence[Callable[[], _Result]]) -> None:
        self.results: dict[int, _Result] = {}
        self._coming = deque(enumerate(tasks))

    def work(self) -> None:
        """Run tasks until none is left. Raises what one raised, and leaves none to others."""
        try:
            while self._coming:
                self._run_next()
        except BaseException:
            self.stop()
            raise

    def _run_next(self) -> None:
        try:
            place, task = self._coming.popleft()
        except IndexError:  # another thread was faster
            return
        self.results[place] = task()

    def stop(self) -> None:
        """Leave what was not begun."""
        self._coming.clear()
