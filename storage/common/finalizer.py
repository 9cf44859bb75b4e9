"""Closes what is given up without being closed, and never inside the garbage collector.

A collection runs within any allocation, so on any thread, which may hold any mutex at that moment.
A finalizer that takes a mutex there waits for its own thread, or for one that waits for it: a
database that is closed joins its maintenance thread; if that collects another connection, and the
registry of open databases is locked by whoever joins, neither goes on. So a finalizer that the
collector runs only puts its call into a queue, as in Java's `Cleaner`; a thread that holds nothing
makes the call. Where the last reference goes by itself, the call is made at once: who writes `del
connection` has the directory free behind it.

    start_finalizer()                      # by what makes objects with a finalizer
    def __del__(self): finalize(self._close)
    wait_for_finalizers()                  # by what needs that such an object is closed
"""

import gc
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final

Close = Callable[[], object]


class _Finalizer:
    """The calls that collections of this process left to be made, and the thread that makes them.

    `SimpleQueue.put` and `deque.append` may be called within themselves, as a collection may.
    """

    def __init__(self) -> None:
        # The phase in which the collector is comes last. It moves it there by a call that runs no
        # code of Python's, in which Ctrl-C would raise KeyboardInterrupt for nobody.
        self._phases: OrderedDict[str, None] = OrderedDict.fromkeys(("start", "stop"))
        note_phase: Any = self._phases.move_to_end  # the other argument, facts, counts as true
        gc.callbacks.append(note_phase)
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Begin without calls and without a thread; a forked child has no use for its parent's."""
        self._starting = threading.Lock()
        self._calls: SimpleQueue[Close] = SimpleQueue()
        self._pending: deque[None] = deque()  # one element a call that has not ended
        self._thread: threading.Thread | None = None
        self._phases.move_to_end("stop")

    def start(self) -> None:
        """See `start_finalizer`."""
        if self._thread is not None:
            return
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(
                    target=self._run, args=(self._calls,), name="pykudu-finalizer", daemon=True
                )
                thread.start()
                self._thread = thread

    def finalize(self, close: Close) -> None:
        """See the function `finalize`."""
        # A list, unlike a tuple, is filled without an allocation in which a collection may begin.
        if self._thread is not None and list(self._phases)[-1] == "start":
            self._pending.append(None)
            self._calls.put(close)
        else:
            _close(close)

    def wait(self) -> None:
        """See `wait_for_finalizers`."""
        if self._pending and threading.current_thread() is not self._thread:
            reached = threading.Event()
            self._pending.append(None)
            self._calls.put(reached.set)
            reached.wait()

    def _run(self, calls: SimpleQueue[Close]) -> None:
        while True:
            _close(calls.get())
            self._pending.popleft()


def _close(close: Close) -> None:
    with suppress(Exception):  # nobody is there to catch it; Python would print it
        close()


_FINALIZER: Final = _Finalizer()


def start_finalizer() -> None:
    """Have a thread for the calls of collections; nothing happens where there is one."""
    _FINALIZER.start()


def finalize(close: Close) -> None:
    """Make a call for an object that nobody refers to; what it raises is lost.

    At once, or, inside a collection, soon and from a thread that holds no mutex.
    """
    _FINALIZER.finalize(close)


def wait_for_finalizers() -> None:
    """Return when the calls that collections have left until now are made.

    To be called without a mutex that one of them could want.
    """
    _FINALIZER.wait()
