"""Which process something belongs to: a child made by fork inherits it and must not use it.

A forked child has a copy of all objects of its parent: of an open database, its locks and its
files, but none of its threads, and any mutex may be held for ever by one that is not there. Two
processes that write one log lose what both wrote. So whoever holds such a thing keeps the process
that it belongs to, and asks it at each door:

    self._process = current_process()
    ...
    self._process.check()              # InterfaceError in a forked child

What the child opens by itself belongs to the child. Asking reads one attribute: it is the fork
that changes it, not a look at the process id.
"""

import os
from typing import Final

from pykudu_sql.storage.errors import InterfaceError


class Process:
    """One process.

    `is_current`: whether it is the one that runs this code; False in a child forked from it.
    """

    __slots__ = ("_number", "is_current")

    def __init__(self) -> None:
        """The process that runs this code."""
        self._number = os.getpid()
        self.is_current = True

    def check(self) -> None:
        """See that this is the process that runs.

        Raises InterfaceError: this is a child forked from it.
        """
        if not self.is_current:
            raise InterfaceError(
                f"this belongs to process {self._number}: process {os.getpid()} was forked from it "
                "and cannot use its connections, cursors and results",
                hint="call pykudu_sql.connect in the child; read_only=True works while another "
                "process has the database open for writing",
            )


class _Current:
    """The process that runs, another one after each fork."""

    def __init__(self) -> None:
        self.process = Process()
        os.register_at_fork(after_in_child=self._change)

    def _change(self) -> None:
        self.process.is_current = False
        self.process = Process()


_CURRENT: Final = _Current()


def current_process() -> Process:
    """The process that runs this code."""
    return _CURRENT.process
