"""Work that recurses deeper than the interpreter allows, on a thread with a larger stack.

Parser, binder and printer recurse some twenty frames for each level of a statement, and the
interpreter's limit is a thousand frames by default. The limit is one for all threads, so it is
raised for as long as the work takes and no further than their stacks bear.
"""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Final, TypeVar

_T = TypeVar("_T")

# Frames of Python take no machine stack, calls through C about half a kilobyte: 8 MiB, what other
# threads have, would bear it. This thread has room for calls that take much more.
_FRAMES: Final = 10_000
_STACK_BYTES: Final = 128 << 20


class _DeepStack:
    """The recursion limit and the size of new threads' stacks, which belong to the process."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._usual = sys.getrecursionlimit()
        os.register_at_fork(after_in_child=self._restore)

    def _restore(self) -> None:
        """In a child made by fork: a thread that has the limit raised is not there."""
        if self._mutex.locked():
            self._mutex = threading.Lock()
            sys.setrecursionlimit(self._usual)

    def run(self, work: Callable[[], None]) -> None:
        """Do some work with both enlarged, one at a time."""
        thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
        with self._mutex:
            self._usual = sys.getrecursionlimit()
            sys.setrecursionlimit(max(self._usual, _FRAMES))
            try:
                size = threading.stack_size(_STACK_BYTES)
                try:
                    thread.start()
                finally:
                    threading.stack_size(size)
                thread.join()
            finally:
                sys.setrecursionlimit(self._usual)


_DEEP_STACK: Final = _DeepStack()


def run_deep(work: Callable[[], _T]) -> _T:
    """Do some work that may recurse to 10,000 frames.

    `work`: takes no lock that the caller holds. Raises RecursionError: that was not enough, or the
    system has no memory for such a thread; BaseException: what the work raised.
    """
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    try:
        _DEEP_STACK.run(run)
    except RuntimeError as error:  # no thread
        raise RecursionError(str(error)) from error
    return future.result()
