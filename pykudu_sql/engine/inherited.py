"""What a child made by fork inherits of DuckDB, and must not destroy.

The threads that DuckDB works with are not there in the child. Its destructors wait for them, for
ever, and for mutexes that they may have held. So whatever the child inherits stays in memory until
it ends, whoever lets go of it.

DuckDB's binding counts what is still there at the very end of a process, and prints two pages about
it. It prints through C's `stderr`, which Python does not use: that is turned away at the end.
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
    """Somebody who holds objects of DuckDB."""

    def leave(self) -> Iterable[object]:
        """Forget all of them; called in a child made by fork, which cannot use them.

        Returns:
            What must not be destroyed.
        """
        ...


class _Holders:
    """Who holds objects of DuckDB in this process."""

    def __init__(self) -> None:
        self.known: WeakSet[Inheritable] = WeakSet()
        os.register_at_fork(after_in_child=self._leave)

    def _leave(self) -> None:
        left = [one for holder in tuple(self.known) for one in holder.leave()]
        self.known = WeakSet()
        for one in left:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))
        # Also where nobody holds anything: another thread may have been about to, and what its
        # frames refer to is in the child for ever.
        if "duckdb" in sys.modules:
            atexit.register(_turn_away_c_stderr)


def _turn_away_c_stderr() -> None:
    """What C code, and no Python, prints as an error from here on is lost."""
    with suppress(ValueError, OSError):  # another C library keeps it where it cannot be written
        if not os.confstr("CS_GNU_LIBC_VERSION"):
            return
        libc = ctypes.CDLL(None)
        libc.fopen.restype = ctypes.c_void_p
        ctypes.c_void_p.in_dll(libc, "stderr").value = libc.fopen(b"/dev/null", b"w")


_HOLDERS: Final = _Holders()


def leave_at_fork(holder: Inheritable) -> None:
    """Have a holder leave what it holds alone in each child that is forked from this process."""
    _HOLDERS.known.add(holder)
