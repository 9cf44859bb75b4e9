"""A thread that hears of SIGINT while the main thread is in C code, where no handler is called.

Python's own handler in C writes the number of each signal into a pipe, `signal.set_wakeup_fd`, from
which the thread reads. There is one such pipe for a process: bytes for whoever had set one before,
a loop of asyncio for instance, are passed on.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from pykudu_sql.storage.common.ctrl_c import SIGINT, set_wakeup

_INTERVAL: Final = 0.02
_MARK: Final = 0  # no signal's number
_PATIENCE: Final = 1.0


class _Pipe:
    """A pipe for signals and the thread that reads it.

    Attributes:
        wakeup: where signals are written.
        others: the pipe that was set before, -1 for none.
    """

    def __init__(self) -> None:
        """Start the thread."""
        self._source, self.wakeup = os.pipe()
        os.set_blocking(self.wakeup, False)
        self.others = -1
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None
        self._reached = threading.Event()
        threading.Thread(target=self._run, name="pykudu-ctrl-c", daemon=True).start()

    def begin(self, interrupt: Callable[[], None]) -> None:
        """Have SIGINT interrupt a work from now on."""
        self._interrupt = interrupt
        self.others = set_wakeup(self.wakeup, warn_on_full_buffer=False)

    def end(self, presses: Sequence[int]) -> None:
        """Interrupt no more; what was pressed until now is never about another work."""
        set_wakeup(self.others, warn_on_full_buffer=False)
        with self._lock:
            self._interrupt = None
        if presses:
            self._reached.clear()
            self.write(_MARK)
            self._reached.wait(_PATIENCE)

    def write(self, number: int) -> None:
        """Write a number as Python does."""
        with suppress(BlockingIOError):  # it is full of signals
            os.write(self.wakeup, bytes([number]))

    def _run(self) -> None:
        while True:
            numbers = os.read(self._source, 4096)
            signals = bytes(number for number in numbers if number != _MARK)
            if signals and self.others != -1:
                with suppress(OSError):  # theirs is full, or closed
                    os.write(self.others, signals)
            if SIGINT in signals:
                while self._press():
                    time.sleep(_INTERVAL)
            if _MARK in numbers:
                self._reached.set()

    def _press(self) -> bool:
        """Interrupt the work; False where it has ended."""
        with self._lock:
            if self._interrupt is None:
                return False
            with suppress(RuntimeError):  # no thread can be started: the next press may do it
                self._interrupt()
            return True


class _Pipes:
    """The pipe of this process; made by the first work, and anew in a forked child."""

    def __init__(self) -> None:
        self._pipe: _Pipe | None = None
        os.register_at_fork(after_in_child=self._forget)

    def pipe(self) -> _Pipe:
        if self._pipe is None:
            self._pipe = _Pipe()
        return self._pipe

    def _forget(self) -> None:
        """Write nothing into the parent's pipe."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            with suppress(ValueError):
                before = set_wakeup(-1)
                if before != pipe.wakeup:
                    set_wakeup(before, warn_on_full_buffer=False)


_PIPES: Final = _Pipes()


@contextmanager
def watch_sigint(interrupt: Callable[[], None], presses: Sequence[int]) -> Iterator[None]:
    """A block of the main thread that SIGINT interrupts, again and again until it has ended.

    Args:
        interrupt: called by another thread.
        presses: the signals that the handler in force has been called for; at the end of the block
            those that came in it.
    """
    pipe = _PIPES.pipe()
    try:
        pipe.begin(interrupt)  # in which the handler of another signal may raise
        if presses:
            pipe.write(SIGINT)  # it came before the pipe was there
        yield
    finally:
        pipe.end(presses)
