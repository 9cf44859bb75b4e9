"""DuckDB objects that a forked child inherits and must not destroy, or that are there at the end.

The threads that DuckDB works with are not there in the child. Its destructors wait for them, for
ever, and for mutexes that they may have held. So whatever the child inherits stays in memory until
it ends.

DuckDB's binding counts what is still there at the very end of a process, and prints two pages about
it. So what the frames of daemon threads would keep is closed before that, unless one is at work in
DuckDB. In a child it cannot be closed. The pages are printed through C's `stderr`, which Python
does not use: that is silenced there.
"""

import atexit
import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Protocol
from weakref import WeakSet


class Inheritable(Protocol):
    """An object that holds objects of DuckDB."""

    def leave(self) -> Iterable[object]:
        """Forget all of them; called in a child made by fork, which cannot use them.

        Returns what must not be destroyed.
        """

    def close_at_exit(self) -> None:
        """Close all of them that no thread is at work with, as the process ends."""


class _Registry:
    """The objects of this process that hold objects of DuckDB."""

    def __init__(self) -> None:
        self.inheritables: WeakSet[Inheritable] = WeakSet()
        os.register_at_fork(after_in_child=self._leave)
        atexit.register(self._close)

    def _leave(self) -> None:
        left = [one for inheritable in tuple(self.inheritables) for one in inheritable.leave()]
        self.inheritables = WeakSet()
        for one in left:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))
        # Also where nobody holds anything: another thread may have been about to, and what its
        # frames refer to is in the child for ever.
        if "duckdb" in sys.modules:
            atexit.register(_silence_c_stderr)

    def _close(self) -> None:
        for one in tuple(self.inheritables):
            one.close_at_exit()


def _silence_c_stderr() -> None:
    """Send what C code, not Python, prints to stderr from here on to /dev/null."""
    with suppress(ValueError, OSError):  # another C library keeps it where it cannot be written
        if not os.confstr("CS_GNU_LIBC_VERSION"):
            return
        libc = ctypes.CDLL(None)
        libc.fopen.restype = ctypes.c_void_p
        ctypes.c_void_p.in_dll(libc, "stderr").value = libc.fopen(b"/dev/null", b"w")


_REGISTRY: Final = _Registry()


def hold_duckdb(inheritable: Inheritable) -> None:
    """Call `leave` of an object in each child that is forked from this process, and `close_at_exit`
    at the end of it."""
    _REGISTRY.inheritables.add(inheritable)
