"""Lets no fork happen while another thread imports a module.

Python holds a lock for each module that is being imported. A child made by `os.fork` has a copy of
that lock but not the thread that holds it, so the child's own import of the module waits for ever.
A database has threads of its own, and modules that it imports at first use, so a program that forks
would meet that by chance. The barrier waits, before each fork of the process, until no other thread
imports anything, for `_WAIT_SECONDS` at most, and keeps new imports from starting until the fork is
over. A thread that forks within an import of its own waits for the others only.
"""

import _imp
import importlib._bootstrap
import os
import threading
import time
from contextlib import suppress
from typing import Final

# An import that runs longer waits for something else, maybe for the thread that forks.
_WAIT_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.001


def start_import_barrier() -> None:
    """Hold every later fork of this process back while another thread imports. Call it once."""
    os.register_at_fork(before=_acquire, after_in_parent=_release, after_in_child=_release)


def _acquire() -> None:
    """Take the import lock, re-entrant, at a moment when no other thread imports."""
    deadline = time.monotonic() + _WAIT_SECONDS
    _imp.acquire_lock()
    while _is_import_running() and time.monotonic() < deadline:
        _imp.release_lock()
        time.sleep(_LOOK_SECONDS)
        _imp.acquire_lock()


def _release() -> None:
    with suppress(RuntimeError):  # an exception in `_acquire` left it free
        _imp.release_lock()


def _is_import_running() -> bool:
    """Whether a live thread but this one holds the lock of a module.

    The registry of these locks is CPython's own; where it has another name no fork waits.
    """
    references = getattr(importlib._bootstrap, "_module_locks", {}).values()
    owners = {getattr(reference(), "owner", None) for reference in list(references)}
    others = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}
    return not owners.isdisjoint(others)
