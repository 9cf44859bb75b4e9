"""Pools of threads that work to the end of the process.

From the end of the main thread on `concurrent.futures` takes no more work, but handlers of `atexit`
and threads that outlive the main one still read and write. There the thread that asks works itself.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import main_thread
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


class ThreadPool(ThreadPoolExecutor):
    """A pool whose calls, once the main thread has ended, run in the thread that submits them.

    `workers`: threads that it has at most.
    """

    def __init__(self, workers: int, name: str = "") -> None:
        super().__init__(workers, name)
        self.workers = workers

    def submit(
        self, fn: Callable[_P, _Result], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> "Future[_Result]":
        """See Executor; `map` submits by this, too."""
        if main_thread().is_alive():
            try:
                return super().submit(fn, *args, **kwargs)
            except RuntimeError as error:
                # In a child that a late thread forked that thread is the main one. Else the pool
                # was shut down, or there is no thread left.
                if main_thread().is_alive() and "after interpreter shutdown" not in str(error):
                    raise
        return _done(fn, *args, **kwargs)


def _done(fn: Callable[..., _Result], *args: Any, **kwargs: Any) -> "Future[_Result]":
    """A call that has run."""
    future: Future[_Result] = Future()
    try:
        future.set_result(fn(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future
