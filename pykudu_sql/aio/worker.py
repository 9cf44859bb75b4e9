"""The thread of an asynchronous connection.

What is awaited runs there whole: a task that is cancelled interrupts its statement, and goes on
when the thread is free again, so that the connection can be used at once. A commit that has begun
comes to its end.

A child made by fork does not have the thread, and a connection that is closed has none any more.
There a call runs where it is awaited: what is closed or belongs to the parent refuses it, and
closing does nothing.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import ParamSpec, TypeVar

from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.errors import InterfaceError
from pykudu_sql.storage.fs.process import current_process

P = ParamSpec("P")
R = TypeVar("R")


class Worker:
    """Runs calls one after another in one thread."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._pool = ThreadPool(1, "pykudu_sql.aio")
        self._interrupt: Callable[[], None] | None = None
        self._process = current_process()
        self._has_ended = False

    def interrupts_by(self, interrupt: Callable[[], None]) -> None:
        """Set the function that interrupts a running call when its task is cancelled."""
        self._interrupt = interrupt

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call in the thread; returns or raises what it does.

        Raises CancelledError: the task was cancelled; the call has ended, or never began.
        """
        if self._has_ended or not self._process.is_current:
            return call(*args, **kwargs)
        return await self._result(self._pool.submit(call, *args, **kwargs))

    async def run_beside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call that ends those which run, or wait, in the thread: in another one.

        Raises CancelledError: see `run`.
        """
        if self._has_ended or not self._process.is_current:
            return call(*args, **kwargs)
        beside = ThreadPool(1, "pykudu_sql.aio")
        try:
            return await self._result(beside.submit(call, *args, **kwargs))
        finally:
            beside.shutdown(wait=False)

    async def _result(self, submitted: "Future[R]") -> R:
        waiting = asyncio.wrap_future(submitted)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if not submitted.cancel():
                if self._interrupt is not None:
                    with suppress(InterfaceError):  # it is being closed, which interrupts too
                        self._interrupt()
                await asyncio.wait([waiting])
                if not waiting.cancelled():
                    waiting.exception()  # what it raised is of no more use
            raise

    def end(self) -> None:
        """Stop the thread once the call that runs in it has returned."""
        self._has_ended = True
        self._pool.shutdown(wait=False)
