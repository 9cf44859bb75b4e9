"""Blocks that Ctrl-C does not interrupt: SIGINT is deferred to their end.

Python raises KeyboardInterrupt between any two steps of the main thread. Between a commit's record
on disk and its rows in memory it would leave a process that goes on with something else than what
the next opening finds. Programs that handle SIGINT in their own way have their handler called a
little later as well.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any, ClassVar

# The module beneath `signal`, whose own functions turn every handler into an enum and back: 7 us of
# a commit of one row that takes 50, where these take 0.5.
_signals = import_module("_signal")
_handler_of: Callable[[int], Any] = _signals.getsignal
_set_handler: Callable[[int, Any], Any] = _signals.signal
_SIGINT: int = _signals.SIGINT
_WAIT_SECONDS = 0.05


class DeferSigint:
    """A block of the main thread in which SIGINT is deferred; other threads never get it.

    The handler in force is called when the outermost such block ends. It may raise: the work of the
    block is done then.
    """

    __slots__ = ("_handler", "_press")
    _is_deferred: ClassVar[bool] = False  # whether the main thread is in such a block

    def __init__(self) -> None:
        """No signal is pending yet."""
        self._handler: object = None
        self._press: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> None:
        if DeferSigint._is_deferred or threading.get_ident() != threading.main_thread().ident:
            return
        handler = _handler_of(_SIGINT)
        if callable(handler):
            self._handler = handler
            _set_handler(_SIGINT, self._notice)
            DeferSigint._is_deferred = True  # only now: before, SIGINT may have raised

    def _notice(self, number: int, frame: FrameType | None) -> None:
        self._press = number, frame

    def __exit__(self, *_: object) -> None:
        handler = self._handler
        if callable(handler):
            self._handler = None
            DeferSigint._is_deferred = False
            _set_handler(_SIGINT, handler)
            if self._press is not None:
                handler(*self._press)


class CommitLock:
    """A re-entrant lock; Ctrl-C does not interrupt the thread that holds it."""

    __slots__ = ("_deferrals", "_lock")

    def __init__(self) -> None:
        """Nobody has it."""
        self._lock = threading.RLock()
        self._deferrals: list[DeferSigint | None] = []

    def __enter__(self) -> None:
        deferral = None
        if not DeferSigint._is_deferred:
            deferral = DeferSigint()
            deferral.__enter__()
        self._lock.acquire()
        self._deferrals.append(deferral)

    def __exit__(self, *_: object) -> None:
        deferral = self._deferrals.pop()
        self._lock.release()
        if deferral is not None:
            deferral.__exit__()


@contextmanager
def acquire_lock(lock: threading.Lock, cancel_check: Callable[[], None]) -> Iterator[None]:
    """A block that holds a lock.

    Ctrl-C ends the wait for the lock, and so does an error of `cancel_check`, which is called every
    few milliseconds of the wait.
    """
    acquired = False
    try:
        while not acquired:
            with DeferSigint():
                acquired = lock.acquire(timeout=_WAIT_SECONDS)
            if not acquired:
                cancel_check()
        yield
    finally:
        if acquired:
            lock.release()
