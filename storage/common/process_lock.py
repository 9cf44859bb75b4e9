"""A mutex that lives as long as the process, and is free in a child made by fork.

A child inherits the state of each mutex but none of the threads, so one that another thread held
stays held in the child for ever. Mutexes of an object that a child must not use are no danger; a
mutex of a module or of a class is used by the child too, and must be one of these.
"""

import os
import threading


class ProcessLock:
    """A mutex, not re-entrant. Make one for a module, not for an object: it is never freed."""

    def __init__(self) -> None:
        """Nobody has it."""
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def acquire(self, timeout: float = -1) -> bool:
        """Take it; False if `timeout` seconds were not enough. Without a limit when negative."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Give it back. Raises RuntimeError: nobody has it."""
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
