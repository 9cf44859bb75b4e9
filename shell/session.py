"""One session of the shell: a connection, the settings, and where results and errors go.

Both doors lead here: the interactive shell hands over what was typed, the command line whole
scripts. Errors are told as `file:line: ERROR sqlstate: message`, once, and counted.
"""

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pykudu_sql
from pykudu_sql.shell import commands
from pykudu_sql.shell.display import escape
from pykudu_sql.shell.output import Output
from pykudu_sql.shell.printer import print_result
from pykudu_sql.shell.script import CommandPart, parts
from pykudu_sql.shell.settings import Settings, UsageError

if TYPE_CHECKING:
    from pykudu_sql import Connection

_MAX_READ_DEPTH = 16


class StatementFailed(Exception):
    """A statement or command failed, the user has been told, and what follows must not run."""


class Quit(Exception):
    """The user asked to leave."""


class _Cancelled(Exception):
    """The user pressed Ctrl-C between two statements or batches."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands, for messages.

    Attributes:
        source: a file's name, or None when the user has the statement before their eyes.
        line: its line there, from 1.
    """

    source: str | None
    line: int = 1

    def prefix(self) -> str:
        """`file:line: `, or nothing."""
        return "" if self.source is None else f"{escape(self.source)}:{self.line}: "


class Session:
    """A connection and how its results are shown.

    Attributes:
        connection: the open database.
        settings: choices of the user; replaced whole.
        output: where results go.
        interactive: whether a person sits at a prompt.
        failures: statements and commands that failed so far.
    """

    def __init__(
        self,
        path: str,
        settings: Settings,
        *,
        read_only: bool = False,
        keep_going: bool = False,
        interactive: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> None:
        """Open a database.

        Args:
            path: its directory, or `:memory:`.
            settings: choices to start with.
            read_only: open it, and any other opened later, without the right to write.
            keep_going: run on after a failed statement.
            interactive: whether a person sits at a prompt.
            options: further settings of the connection.

        Raises:
            pykudu_sql.Error: the database cannot be opened.
        """
        self._options = dict(options or {})
        self._read_only = read_only
        self._keep_going = keep_going
        self._cancelled = threading.Event()
        self._depth = 0
        self.interactive = interactive
        self.settings = settings
        self.output = Output(sys.stdout)
        self.failures = 0
        self.connection = self._connect(path)

    def _connect(self, path: str) -> "Connection":
        return pykudu_sql.connect(
            path, read_only=self._read_only, autocommit=True, **self._options
        )

    def open(self, path: str) -> None:
        """Open another database instead; the present one stays open if that fails.

        Raises:
            pykudu_sql.Error: it cannot be opened.
        """
        opened = self._connect(path)
        self.connection.close()
        self.connection = opened

    def close(self) -> None:
        """Give up an open transaction, and close files and the database."""
        self.output.restore()
        if self.connection.in_transaction:
            self._tell("The open transaction was rolled back.")
        self.connection.close()

    def cancel(self) -> None:
        """Ask what runs to stop. Called from another thread."""
        self._cancelled.set()
        self.connection.interrupt()

    def run_script(self, text: str, source: str | None = None) -> None:
        """Run statements and commands in order.

        Args:
            text: a script, or what was typed.
            source: its name for messages.

        Raises:
            StatementFailed: one failed, and the session is not to keep going.
            Quit: the script asked to leave.
        """
        self._cancelled.clear()
        self._run_parts(text, source)
        self.output.flush()

    def _run_parts(self, text: str, source: str | None) -> None:
        for part in parts(text, pykudu_sql.is_complete):
            if isinstance(part, CommandPart):
                self._guarded(commands.run, self, part.text, place=Place(source, part.line))
                continue
            for statement in pykudu_sql.split_statements(part.text):
                place = Place(source, part.line + statement.line - 1)
                self._guarded(self.run_statement, statement.text, place=place)

    def _guarded[**P](
        self, action: Callable[P, None], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        raise AssertionError

    def run_statement(self, sql: str) -> None:
        """Run one statement and print its result.

        Raises:
            pykudu_sql.Error: it failed.
        """
        started = time.perf_counter()
        cursor = self.connection.execute(sql)
        try:
            if cursor.description is None:
                summary = cursor.message or _affected(cursor.rowcount)
            else:
                summary = print_result(cursor, self.output, self.settings, self._checkpoint)
        finally:
            cursor.close()
        self._summarise(summary, time.perf_counter() - started)
