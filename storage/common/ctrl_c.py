"""Blocks that Ctrl-C does not interrupt: SIGINT is deferred to their end.

Python raises KeyboardInterrupt between any two steps of the main thread. Between a commit's record
on disk and its rows in memory it would leave a process that goes on with something else than what
the next opening finds. Programs that handle SIGINT in their own way have their handler called a
little later as well.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import get_ident
from types import FrameType
from typing import Any, Final

# Of the module beneath `signal`, whose own functions turn every handler into an enum and back: 7 us
# of a commit of one row that takes 50, where these take 0.5.
_signals = import_module("_signal")
handler_of: Callable[[int], Any] = _signals.getsignal
set_handler: Callable[[int, Any], Any] = _signals.signal
set_wakeup: Callable[..., int] = _signals.set_wakeup_fd
SIGINT: int = _signals.SIGINT
INTERRUPT: object = _signals.default_int_handler  # raises KeyboardInterrupt
_WAIT_SECONDS = 0.05


def _ignore(number: int, frame: FrameType | None) -> None:
    """Stands for the handler in force until the first block."""


class _Deferral:
    """What the main thread's blocks share; only that thread changes it.

    Attributes:
        thread: the identity of the main thread.
        depth: blocks within each other that it is in.
        handler: of the program, called at the end of the outermost one.
        press: what it is to be called with; None where SIGINT has not come.
    """

    __slots__ = ("depth", "handler", "press", "thread")

    def __init__(self) -> None:
        self.thread = threading.main_thread().ident
        self.depth = 0
        self.handler: Callable[[int, FrameType | None], object] = _ignore
        self.press: tuple[int, FrameType | None] | None = None
        os.register_at_fork(after_in_child=self._after_in_child)

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT within a block."""
        self.press = number, frame

    def _after_in_child(self) -> None:
        """The thread that forked is the main thread of the child."""
        thread = get_ident()
        if self.depth and self.thread != thread:  # blocks of a thread that is not in the child
            self.depth = 0
            set_handler(SIGINT, self.handler)
        self.thread = thread


_DEFERRAL: Final = _Deferral()
_note: Final = _DEFERRAL.note


class DeferSigint:
    """A block of the main thread in which SIGINT is deferred; other threads never get it.

    The handler in force is called when the outermost such block ends. It may raise: the work of the
    block is done then.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        deferral = _DEFERRAL
        if get_ident() != deferral.thread:
            return
        if not deferral.depth:
            handler = handler_of(SIGINT)
            if not callable(handler):
                return
            if handler is not _note:  # else the handler of another signal raised in a block's end
                deferral.handler = handler
            deferral.press = None
            set_handler(SIGINT, _note)
        deferral.depth += 1  # of the outermost only now: before, SIGINT may have raised

    def __exit__(self, *_: object) -> None:
        deferral = _DEFERRAL
        if not deferral.depth or get_ident() != deferral.thread:
            return
        deferral.depth -= 1
        if not deferral.depth:
            set_handler(SIGINT, deferral.handler)
            if deferral.press is not None:
                deferral.handler(*deferral.press)


class CommitLock:
    """A re-entrant lock; Ctrl-C does not interrupt the thread that holds it."""

    __slots__ = ("_deferral", "_lock")

    def __init__(self) -> None:
        """Nobody has it."""
        self._lock = threading.RLock()
        self._deferral = DeferSigint()

    def __enter__(self) -> None:
        self._deferral.__enter__()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._deferral.__exit__()


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
