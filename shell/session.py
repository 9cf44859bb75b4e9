"""One session of the shell: a connection, the settings, and where results and errors go.

The interactive shell runs through it what was typed, the command line whole scripts. Errors are
printed as `file:line: ERROR sqlstate: message`, once, and counted.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pykudu_sql
from pykudu_sql.shell.editing.explain_json import explain_as_json
from pykudu_sql.shell.editing.listing import is_listing
from pykudu_sql.shell.editing.script import CommandPart, split_script
from pykudu_sql.shell.output.last_printed import LastPrinted
from pykudu_sql.shell.output.pager import pager_command
from pykudu_sql.shell.output.printer import (
    PrintedResult,
    format_last,
    print_plan,
    print_result,
    reprint,
)
from pykudu_sql.shell.output.summary import affected_rows, timed
from pykudu_sql.shell.output.terminal import Output, print_error
from pykudu_sql.shell.parameters import Parameters, Value, bind_parameters
from pykudu_sql.shell.scripts import ScriptPosition, print_statement_error, read_script
from pykudu_sql.shell.settings import Settings, UnknownCommandError, UsageError, settings_for
from pykudu_sql.statements import begins_statement

if TYPE_CHECKING:
    from pykudu_sql import Connection
    from pykudu_sql import Settings as DatabaseSettings

_MAX_READ_DEPTH = 16
# The values of the setting `pager` with which texts go through the pager, and results do.
PAGERS_OF_TEXT = ("on", "auto")
PAGERS_OF_RESULTS = ("on",)
# Errors of a file that is no script. Their messages quote the file, so they are not printed: a user
# who may name a file here may lack the right to read it.
_NO_SQL = (pykudu_sql.UnknownStatementError, UnknownCommandError)

CommandRunner = Callable[["ShellSession", str], None]


class StatementFailed(Exception):
    """A statement or command failed, the error was printed, and what follows must not run."""


class Cancelled(Exception):
    """The user pressed Ctrl-C between two statements or batches."""


class ShellSession:
    """A connection and how its results are printed.

    Attributes:
        connection: the open database.
        settings: choices of the user; replaced whole.
        output: where results go.
        failures: statements and commands that failed so far, and transactions left open.
        safe: whether what reaches files of the user's choice (COPY), or programs, is refused.
        read_only: whether nothing is changed, neither a database nor a file that exists.
        is_interactive: whether a person types at a prompt.
        last_statement: the statement that ran last, without its semicolon.
        keep_going: whether a script runs on after a failed statement.
        variables: values for `:name` in statements.
        is_once: whether the output is restored after the next result.
        prefill: text that the next line at the prompt begins with.
        read_history: returns the lines typed, the oldest first.
    """

    def __init__(
        self,
        path: str,
        settings: Settings,
        run_command: CommandRunner,
        *,
        read_only: bool = False,
        safe: bool = False,
        keep_going: bool = False,
        engine: str | None = None,
        spark_master: str | None = None,
        database_settings: Mapping[str, Value] | None = None,
    ) -> None:
        """Open a database.

        Args:
            path: its directory, or `:memory:`.
            settings: choices to start with.
            run_command: runs a line of a script that is a command of the shell.
            read_only: open it, and any other opened later, without the right to write.
            safe: refuse commands that read, write or open a file, and COPY.
            keep_going: run on after a failed statement.
            engine: what computes queries here, and in any other opened later; None for the default.
            spark_master: where Spark runs, likewise.
            database_settings: other arguments of `connect`, likewise.

        Raises pykudu_sql.Error: the database cannot be opened.
        """
        self.safe = safe
        self.read_only = read_only
        self.is_interactive = False
        self.last_statement: str | None = None
        self.prefill = ""
        self.is_once = False
        self.read_history: Callable[[], Sequence[str]] = tuple
        self._last = LastPrinted()
        self._values: tuple[Value, ...] = ()
        self.variables: dict[str, Value] = {}
        self.keep_going = keep_going
        self._engine = engine
        self._spark_master = spark_master
        self._database_settings = database_settings or {}
        self._cancelled = threading.Event()
        self._depth = 0
        self.settings = settings
        self._run_command = run_command
        self.output = Output(sys.stdout)
        self.failures = 0
        self.connection = self._connect(path)

    def _connect(self, path: str) -> "Connection":
        settings = {
            **self._database_settings,
            "engine": self._engine,
            "spark_master": self._spark_master,
            "files": not self.safe,
        }
        return pykudu_sql.connect(
            path,
            read_only=self.read_only,
            autocommit=True,
            **cast("DatabaseSettings", settings),
        )

    def open(self, path: str) -> None:
        """Open another database instead; the present one stays open if that fails.

        Raises pykudu_sql.Error: it cannot be opened.
        """
        opened = self._connect(path)
        self._leave()
        self.connection = opened

    def redirect(self, path: Path) -> None:
        """Write results to a file; a session that only reads replaces none.

        Raises pykudu_sql.Error: it belongs to a database; UsageError: it cannot be written.
        """
        self.check_written(path)
        self.output.redirect(path, replace=not self.read_only)

    def check_written(self, path: Path) -> None:
        """See that a file may be written. Raises pykudu_sql.Error: it belongs to a database."""
        from pykudu_sql.files.file_access import check_written

        is_in_memory = self.connection.path == ":memory:"
        check_written(str(path), str(path), None if is_in_memory else self.connection.path)

    def close(self) -> None:
        """Give up an open transaction, and close files and the database."""
        try:
            self.output.restore()
        except UsageError as error:
            print_error(f"ERROR: {error}")
            self.failures += 1
        finally:
            self._leave()

    def _leave(self) -> None:
        if self.connection.in_transaction:
            print_error("The open transaction was rolled back.")
            self.failures += 1
        self.connection.close()

    def cancel(self) -> None:
        """Ask what runs to stop. Called from another thread."""
        if self.output.has_pager:
            return  # Ctrl-C is for the pager, which ends what it shows
        self._cancelled.set()
        self.connection.interrupt()

    def show_progress(self) -> None:
        """Show the progress of a statement that takes long. Called from another thread."""
        if self.settings.progress:
            self.output.status.show(self._progress_line)

    def _progress_line(self, seconds: float, columns: int) -> str:
        from pykudu_sql.shell.output.progress_bar import progress_line

        return progress_line(self.connection.progress(), seconds, columns)

    @contextmanager
    def paged(self, pagers: Sequence[str] = PAGERS_OF_TEXT) -> Iterator[None]:
        """A block whose text goes through the pager if it does not fit the screen.

        `pagers`: the values of the setting `pager` with which it does.
        """
        command = None
        if self.is_interactive and self.settings.pager in pagers:
            pager_setting = self.settings.pager_command
            command = pager_command(pager_setting, os.environ, safe=self.safe)
        if command is None:
            yield
            return
        with self.output.paged(command, safe=self.safe):
            yield

    def run_script(self, text: str, source: str | None = None) -> None:
        """Run statements and commands in order.

        `text`: a script, or what was typed; `source`: its name for messages. Raises
        StatementFailed: one failed, and the session is not to keep going; Cancelled: `cancel` was
        called meanwhile; Quit: the script has the command to leave.
        """
        self._cancelled.clear()
        self._run_parts(text, source)
        if not self._flush(ScriptPosition(None)) and not self.keep_going:
            raise StatementFailed

    def _flush(self, place: ScriptPosition) -> bool:
        """Hand on what was printed; print the error and return False where that fails."""
        try:
            self.output.flush()
        except UsageError as error:
            self.failures += 1
            print_statement_error(error, place)
            return False
        return True

    def _run_parts(self, text: str, source: str | None) -> None:
        for part in split_script(text, pykudu_sql.is_complete):
            if isinstance(part, CommandPart):
                self._attempt(
                    partial(self._run_command, self, part.text), ScriptPosition(source, part.line)
                )
                continue
            for statement in pykudu_sql.split_statements(part.text):
                place = ScriptPosition(source, part.line + statement.line - 1)
                if self._may_be_quoted(statement.text):
                    self.last_statement = statement.text.strip().rstrip(";")
                self._attempt(partial(self.run_written, statement.text), place)

    def _attempt(self, action: Callable[[], None], place: ScriptPosition) -> None:
        """Run a command or a statement of a script; print the error if it fails."""
        self.check_cancelled()
        try:
            action()
        except (pykudu_sql.Error, UsageError) as error:
            self.check_cancelled()
            self.failures += 1
            self._flush(place)
            if self._depth and isinstance(error, _NO_SQL):
                code = f" {error.sqlstate}" if isinstance(error, pykudu_sql.Error) else ""
                print_error(f"{place.prefix()}ERROR{code}: neither SQL nor a command stands here")
            else:
                print_statement_error(error, place)
            if not self.keep_going:
                raise StatementFailed from error

    def _may_be_quoted(self, sql: str) -> bool:
        return not self._depth or begins_statement(sql)  # no words of a file that is no script

    def check_cancelled(self) -> None:
        """Raise Cancelled if the user pressed Ctrl-C since the script began."""
        if self._cancelled.is_set():
            raise Cancelled

    def run_written(self, sql: str) -> None:
        """Run a statement that the user wrote, which `.echo` prints. Raises as `run_statement`."""
        if self.settings.echo and self._may_be_quoted(sql):
            self.output.write(f"{sql.strip().rstrip(';')};\n")
        self.run_statement(sql)

    def run_statement(self, sql: str, values: Sequence[Value] | None = None) -> None:
        """Run one statement and print its result.

        `sql`: the statement; `values`: for its `?`, those at hand if None. Raises pykudu_sql.Error:
        it failed.
        """
        started, paged = time.perf_counter(), self.output.seconds_paged
        self.output.status.begin()
        try:
            summary = self._execute_and_print(sql, values)
        finally:
            self.output.status.end()
        if self.settings.timer:
            paged = self.output.seconds_paged - paged
            summary = timed(summary, time.perf_counter() - started - paged)
        self._summarise(summary)
        if self.is_once:
            self.is_once = False
            self.output.restore()

    def is_refused(self, sql: str) -> bool:
        """Whether a statement that runs next is refused as it stands: see `own_queries`."""
        from pykudu_sql.shell.own_queries import is_refused

        return is_refused(self.connection, sql, self._parameters(sql, None))

    def _execute_and_print(self, sql: str, values: Sequence[Value] | None) -> str:
        """Run a statement, print its rows and return its summary."""
        if values is None and (plan := self._print_plan(sql)) is not None:
            return self._last.retain(plan, self.is_interactive)
        with closing(self.connection.execute(sql, self._parameters(sql, values))) as cursor:
            if cursor.description is None:
                return cursor.message or affected_rows(cursor.rowcount)
            self._last.forget()
            printed = None
            with self.paged(PAGERS_OF_RESULTS):
                settings = settings_for(self.settings, self.output.file)
                if self.output.is_terminal and is_listing(sql):
                    settings = replace(settings, max_rows=0)
                printed = print_result(cursor, self.output, settings, self.check_cancelled)
        return self._last.retain(printed, self.is_interactive)

    def _print_plan(self, sql: str) -> PrintedResult | None:
        """Draw the plan of a query that EXPLAIN is about; None if there is nothing to draw."""
        if self.settings.format != "table" or not self.output.is_terminal:
            return None
        explain_sql = explain_as_json(sql)
        if explain_sql is None:
            return None
        from pykudu_sql.shell.own_queries import query

        try:
            values = self._parameters(explain_sql, None)
            ((document,),) = query(self.connection, explain_sql, values)
        except pykudu_sql.Error:
            return None  # the statement itself will say so, in its own words
        with self.paged(PAGERS_OF_RESULTS):
            return print_plan(document, self.output)

    def _parameters(self, sql: str, values: Sequence[Value] | None) -> Parameters:
        here = self._values, self.variables
        return bind_parameters(sql, *here) if values is None else tuple(values)

    def show_last(self) -> None:
        """Print the last result again in full. Raises UsageError: there is none, or it is gone."""
        result = self._last.result()
        with self.paged():
            summary = reprint(result, self.output, self.settings)
        self._summarise(summary)

    def last_as(self, format: str) -> str:
        """The last result in a format. Raises UsageError: there is none, or it is gone."""
        return format_last(self._last.result(), replace(self.settings, format=format))

    def _summarise(self, summary: str) -> None:
        # Other formats are for programs: what is not data stays out of their way.
        if settings_for(self.settings, self.output.file).format == "table":
            self.output.write(summary + "\n")
        elif self.settings.timer:
            print_error(summary)

    def run_saved(self, path: Path, values: tuple[Value, ...], named: Mapping[str, Value]) -> None:
        """Run a script from a file with values for its parameters.

        Raises UsageError: it cannot be read; StatementFailed: a statement in it failed.
        """
        before = self._values, self.variables
        self._values, self.variables = values, {**self.variables, **named}
        try:
            self.run_file(path)
        finally:
            self._values, self.variables = before

    def run_file(self, path: Path) -> None:
        """Run a script from a file.

        Raises UsageError: it cannot be read, or scripts read each other without end;
        StatementFailed: a statement in it failed.
        """
        if self._depth == _MAX_READ_DEPTH:
            raise UsageError(
                f"{path}: scripts are nested more than {_MAX_READ_DEPTH} deep; "
                "see whether one reads itself"
            )
        text = read_script(path, self.check_cancelled)
        self._depth += 1
        try:
            self._run_parts(text, str(path))
        finally:
            self._depth -= 1
