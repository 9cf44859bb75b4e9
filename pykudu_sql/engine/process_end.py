"""The end of the process, for statements of threads that outlive the main one: daemon threads.

They work on while handlers of `atexit` close what they work with, and what Arrow or DuckDB calls
then calls into an interpreter that is being taken apart, which ends in `Fatal Python error`. So
their statements are stopped first: each ends with SystemExit, which ends its thread, lets go of
what that holds and prints nothing, and so does each that such a thread begins afterwards. The
thread that ends the process waits for them and goes on, in handlers of `atexit` too.

Handlers run in the reverse of the order in which they are registered. Sessions are imported behind
the databases that they read, so this one comes before that which closes those; DuckDB, which
interrupts what it computes, registers one when it is loaded, so this one is registered again then.
"""

import atexit
import os
import threading
import time
from collections.abc import Collection
from threading import get_ident
from typing import Final, Protocol
from weakref import WeakSet

_INTERVAL: Final = 0.02
_PATIENCE: Final = 5.0  # seconds for the program's own code, which cannot be interrupted


class Stoppable(Protocol):
    """What may have a statement at work."""

    def stop_at_exit(self) -> bool:
        """Ask the statement at work to stop; whether there is one."""


class _Registry:
    """What may have statements at work in this process."""

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self._stop_all)

    def _begin(self) -> None:
        """Begin without any: a forked child has none of its parent's threads."""
        self._lock = threading.Lock()
        self._stoppables: WeakSet[Stoppable] = WeakSet()
        self._ended: list[threading.Thread] = []  # appended to by each of them
        self.ending_thread: int | None = None

    def come_first(self) -> None:
        """See the function `come_first`."""
        atexit.unregister(self._stop_all)
        atexit.register(self._stop_all)

    def add(self, stoppable: Stoppable) -> None:
        """See `stop_before_exit`."""
        with self._lock:
            self._stoppables.add(stoppable)

    def _stop_all(self) -> None:
        self.ending_thread = get_ident()
        with self._lock:
            stoppables = tuple(self._stoppables)
        deadline = time.monotonic() + _PATIENCE
        while self._are_at_work(stoppables) and time.monotonic() < deadline:
            time.sleep(_INTERVAL)

    def _are_at_work(self, stoppables: Collection[Stoppable]) -> bool:
        at_work = [stoppable.stop_at_exit() for stoppable in stoppables]
        return any(at_work) or any([thread.is_alive() for thread in self._ended])

    def check(self) -> None:
        """See `check_process`."""
        if self.ending_thread != get_ident():
            self._ended.append(threading.current_thread())
            raise SystemExit


_REGISTRY: Final = _Registry()


def stop_before_exit(stoppable: Stoppable) -> None:
    """Have the statement of an object stopped before databases are closed at the end."""
    _REGISTRY.add(stoppable)


def come_first() -> None:
    """Stop statements before all handlers that have been registered until now."""
    _REGISTRY.come_first()


def check_process() -> None:
    """A place where a statement begins or ends.

    Raises SystemExit: the process ends, and this thread is left over.
    """
    if _REGISTRY.ending_thread is not None:
        _REGISTRY.check()
