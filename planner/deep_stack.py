"""Work that recurses deeper than the interpreter allows, on a thread with a larger stack.

Parser, binder and printer recurse some twenty frames for each level of a statement, and the
interpreter's limit is a thousand frames by default. The limit is one for all threads, and CPython
aborts the process when a thread that is already deeper than a limit calls on. So the limit is
raised while deep work is done, and lowered when no thread is at any work that may be deep.
"""

import gc
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from types import FrameType
from typing import Final, TypeVar

from pykudu_sql.storage.common.process_lock import ProcessLock

_T = TypeVar("_T")

# Frames of Python take no machine stack, calls through C about half a kilobyte: 8 MiB, what other
# threads have, would bear it. This thread has room for calls that take much more.
_FRAMES: Final = 10_000
_STACK_BYTES: Final = 128 << 20


class _RecursionLimit:
    """The interpreter's recursion limit, and how many threads are at work that may reach it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._working = 0
        self._usual: int | None = None  # while it is raised
        os.register_at_fork(after_in_child=self._restart)

    def begin(self) -> None:
        with self._mutex:
            self._working += 1

    def raise_(self) -> None:
        """Raise it until no thread is at work."""
        with self._mutex:
            limit = sys.getrecursionlimit()
            if limit < _FRAMES:
                self._usual = limit
                sys.setrecursionlimit(_FRAMES)

    def end(self) -> None:
        with self._mutex:
            self._working -= 1
            if self._working <= 0:
                self._lower()

    def _lower(self) -> None:
        usual = self._usual
        if usual is None or sys.getrecursionlimit() != _FRAMES:
            return  # it is not raised, or the program has set its own since
        # Half of it, for calls through C count and have no frame.
        if not any(_is_deep(frame, usual // 2) for frame in _frames_of_threads()):
            sys.setrecursionlimit(usual)
            self._usual = None

    def _restart(self) -> None:
        """In a child made by fork the other threads are not there, and their lock is for ever."""
        self._mutex = threading.Lock()
        self._working = 0
        self._lower()


def _frames_of_threads() -> list[FrameType]:
    """The innermost frame of each thread.

    CPython before 3.12 holds a lock of its own while it collects them. A collection of garbage that
    begins there may free a `threading.local`, which takes that lock again, and waits for ever.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return list(sys._current_frames().values())  # noqa: TID251
    finally:
        if was_enabled:
            gc.enable()


def _is_deep(frame: FrameType | None, depth: int) -> bool:
    while frame is not None and depth:
        frame, depth = frame.f_back, depth - 1
    return frame is not None


_LIMIT: Final = _RecursionLimit()
_STACK_SIZE_LOCK: Final = ProcessLock()


def run_deep(work: Callable[[], _T]) -> _T:
    """Do some work that may recurse to 10,000 frames: here, and anew on a larger stack if it must.

    `work` can be done twice, and takes no lock that the caller holds. Raises RecursionError: that
    was not enough, or the system has no memory for such a thread; BaseException: what it raised.
    """
    _LIMIT.begin()
    try:
        try:
            return work()
        except RecursionError:
            _LIMIT.raise_()
            return _run_on_large_stack(work)
    finally:
        _LIMIT.end()


def _run_on_large_stack(work: Callable[[], _T]) -> _T:
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    try:
        with _STACK_SIZE_LOCK:
            size = threading.stack_size(_STACK_BYTES)
            try:
                thread.start()
            finally:
                threading.stack_size(size)
    except RuntimeError as error:  # no thread
        raise RecursionError(str(error)) from error
    thread.join()
    return future.result()
