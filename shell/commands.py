"""Commands of the shell: a dot and a word, or a backslash and a letter for those who know psql.

Each command is one function under a decorator that gives its names, its arguments and its help.
`COMMANDS` lists them in the order `.help` shows.
"""

import fnmatch
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from pykudu_sql.shell.settings import (
    FORMATS,
    Settings,
    UnknownCommandError,
    UsageError,
    checked,
    near,
)
from pykudu_sql.shell.subcommands import names_a_database

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

Action = Callable[["ShellSession", Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        names: its name with the dot, then aliases.
        arguments: what it takes, as `.help` shows it; `[X]` may be left out, `...` repeats.
        summary: what it does.
        action: does it.
        names_a_file: it reads, writes or opens the file that it is given.
    """

    names: tuple[str, ...]
    arguments: str
    summary: str
    action: Action
    names_a_file: bool = False

    @property
    def usage(self) -> str:
        """Name and arguments."""
        return f"{self.names[0]} {self.arguments}".rstrip()

    def accepts(self, count: int) -> bool:
        """Whether so many arguments may be given."""
        words = self.arguments.split()
        required = sum(not word.startswith("[") for word in words)
        return required <= count <= len(words)


class Quit(Exception):
    """The user wants to leave."""


def command(
    *names: str, arguments: str = "", summary: str, names_a_file: bool = False
) -> Callable[[Action], Command]:
    """Make a function the action of a command."""

    def register(action: Action) -> Command:
        return Command(names, arguments, summary, action, names_a_file)

    return register


def run(session: "ShellSession", text: str) -> None:
    """Run one command line.

    Raises UsageError: no such command, or wrong arguments; the message says what is right; Quit: it
    is the command to leave.
    """
    name, _, rest = text.strip().rstrip(";").partition(" ")
    try:
        arguments = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from error
    command = next((c for c in COMMANDS if name in c.names), None)
    if command is None:
        names = [name for c in COMMANDS for name in c.names]
        raise UnknownCommandError(f"unknown command '{name}'{near(name, names)} (.help lists all)")
    if command.names_a_file and session.safe:
        raise UsageError(f"{name} is not available in safe mode: it takes a file (--safe)")
    if not command.accepts(len(arguments)):
        raise UsageError(f"usage: {command.usage}")
    command.action(session, arguments)


@command(".help", "\\?", "\\h", arguments="[COMMAND]", summary="list the commands, or explain one")
def help_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    wanted = arguments[0].lstrip(".\\") if arguments else None
    commands = [
        c for c in COMMANDS if wanted is None or wanted in (n.lstrip(".\\") for n in c.names)
    ]
    if not commands:
        raise UsageError(f"no command {arguments[0]!r} (.help lists all)")
    column = max(len(c.usage) for c in commands)
    for c in commands:
        aliases = f"  (also {', '.join(c.names[1:])})" if c.names[1:] else ""
        session.output.write(f"{c.usage:<{column}}  {c.summary}{aliases}\n")
    if wanted is None:
        session.output.write("Everything else is SQL and ends with a semicolon.\n")


@command(".tables", "\\dt", arguments="[PATTERN]", summary="list tables, such as 'm*'")
def tables(session: "ShellSession", arguments: Sequence[str]) -> None:
    for name in _matching_tables(session, arguments):
        session.output.write(f"{name}\n")


@command(".schema", arguments="[PATTERN]", summary="show the CREATE TABLE of tables")
def schema(session: "ShellSession", arguments: Sequence[str]) -> None:
    for name in _matching_tables(session, arguments):
        cursor = session.connection.execute(f"SHOW CREATE TABLE {quoted(name)}")
        for row in cursor.fetchall():
            session.output.write(f"{row[-1]};\n")


@command(".describe", "\\d", arguments="[TABLE]", summary="show a table's columns, or all tables")
def describe(session: "ShellSession", arguments: Sequence[str]) -> None:
    if arguments:
        session.run_statement(f"DESCRIBE {quoted(arguments[0])}")
    else:
        session.run_statement("SHOW TABLES")


@command(".mode", arguments="[FORMAT]", summary=f"how results look: {', '.join(FORMATS)}")
def mode(session: "ShellSession", arguments: Sequence[str]) -> None:
    if arguments:
        session.settings = checked(session.settings, "format", arguments[0])
    else:
        session.output.write(f"{session.settings.format}\n")


@command(".expanded", "\\x", summary="switch between a table and a line for each value")
def expanded(session: "ShellSession", arguments: Sequence[str]) -> None:
    wanted = "table" if session.settings.format == "line" else "line"
    session.settings = checked(session.settings, "format", wanted)


@command(".timer", "\\timing", arguments="[on|off]", summary="show how long statements take")
def timer(session: "ShellSession", arguments: Sequence[str]) -> None:
    if not arguments:
        wanted = not session.settings.timer
    elif arguments[0].lower() in ("on", "off"):
        wanted = arguments[0].lower() == "on"
    else:
        raise UsageError(f"usage: {timer.usage}")
    session.settings = checked(session.settings, "timer", wanted)


@command(".null", arguments="TEXT", summary="how NULL is written, such as ''")
def null(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.settings = checked(session.settings, "null", arguments[0])


@command(".maxrows", arguments="N", summary="rows of a table shown on a terminal; 0 for all")
def maxrows(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.settings = checked(session.settings, "max_rows", _number(arguments[0]))


@command(".maxwidth", arguments="N", summary="width of a table; 0 for the terminal's")
def maxwidth(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.settings = checked(session.settings, "max_width", _number(arguments[0]))


@command(".settings", summary="show the choices in force")
def settings(session: "ShellSession", arguments: Sequence[str]) -> None:
    for field in fields(Settings):
        session.output.write(f"{field.name}: {_shown(getattr(session.settings, field.name))}\n")


def _shown(choice: str | int | None) -> str:
    """A choice as the commands take it."""
    match choice:
        case None:
            return "as the format has it"
        case bool():
            return "on" if choice else "off"
    return str(choice)


@command(".read", "\\i", arguments="FILE", summary="run a script", names_a_file=True)
def read(session: "ShellSession", arguments: Sequence[str]) -> None:
    session.run_file(Path(arguments[0]).expanduser())


@command(
    ".output",
    "\\o",
    arguments="[FILE]",
    summary="write results to a file, or here again",
    names_a_file=True,
)
def output(session: "ShellSession", arguments: Sequence[str]) -> None:
    if arguments:
        session.redirect(Path(arguments[0]).expanduser())
    else:
        session.output.restore()


@command(".open", arguments="DB", summary="close this database and open another", names_a_file=True)
def open_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    (name,) = arguments
    if not names_a_database(name):
        raise UsageError(
            f"there is no database '{name}'; a new one is named by a path with a separator or an "
            f"extension: ./{name}, {name}.db"
        )
    session.open(name)


@command(".quit", "\\q", ".exit", summary="leave")
def quit_command(session: "ShellSession", arguments: Sequence[str]) -> None:
    raise Quit


COMMANDS: tuple[Command, ...] = (
    help_command, tables, schema, describe, mode, expanded, timer, null, maxrows, maxwidth,
    settings, read, output, open_command, quit_command,
)  # fmt: skip


def quoted(name: str) -> str:
    """A name as an identifier of SQL, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def _matching_tables(session: "ShellSession", arguments: Sequence[str]) -> list[str]:
    names = session.connection.list_tables()
    if not arguments:
        return names
    matching = [name for name in names if fnmatch.fnmatchcase(name, arguments[0].lower())]
    if not matching:
        raise UsageError(f"no table matches {arguments[0]!r}{near(arguments[0], names)}")
    return matching


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number") from None
