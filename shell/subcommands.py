"""The subcommands of `pykudu-sql`, one entry each.

The first word of a command line is one of these or a database. A word that is neither is a mistake
and makes no database: a new one is named by a path with a separator or an extension.
"""

import os
import shlex
from collections.abc import Sequence
from importlib import import_module

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.settings import UsageError, suggest_name

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One subcommand.

    Attributes:
        name: the first word of the command line.
        arguments: what it takes, for the help.
        summary: what it does, for the help.
        module: where its function stands, loaded when it is run.
        function: takes the other words, returns the exit code.
    """

    name: str
    arguments: str
    summary: str
    module: str
    function: str

    def run(self, argv: Sequence[str]) -> int:
        """Run it and return the exit code."""
        module = import_module(f"pykudu_sql.shell.{self.module}")
        code: int = getattr(module, self.function)(argv)
        return code


SUBCOMMANDS = (
    Subcommand("slt", "FILE...", "run sqllogictest scripts", "slt.command", "main"),
    Subcommand("check", "DB", "verify every checksum and every invariant", "tools.check", "main"),
    Subcommand("inspect", "DB [PART...]", "print what lies on disk, or draw it: --html FILE",
               "tools.inspect", "main"),
    Subcommand("load", "DB TABLE FILE...", "load files into a table",
               "tools.jobs", "load"),
    Subcommand("export", "DB TABLE FOLDER", "write a table to files",
               "tools.jobs", "export"),
    Subcommand("changes", "DB TABLE FOLDER", "write what commits did to a table's rows",
               "tools.jobs", "changes"),
    Subcommand("backup", "DB FOLDER", "back up all tables, or what changed since",
               "tools.backup_jobs", "backup"),
    Subcommand("restore", "FOLDER DB", "make tables as they were at a backup",
               "tools.backup_jobs", "restore"),
    Subcommand("demo", "[DIR]", "load real flight data and run the whole story",
               "demo.story", "main"),
    Subcommand("completions", "bash|zsh|fish", "print a script that completes the command line",
               "command_lines.command", "completions"),
    Subcommand("man", "", "print the manual page", "command_lines.command", "man"),
    Subcommand("help", "", "print this text", "cli", "print_help"),
)  # fmt: skip


def unknown_command(name: str) -> UsageError:
    """The error for a name that no subcommand has."""
    names = [command.name for command in SUBCOMMANDS]
    return UsageError(
        f"'{name}' is no command{suggest_name(name, names)}\ncommands: {', '.join(names)}"
    )


def subcommand(word: str) -> Subcommand | None:
    """The subcommand of a name, or None."""
    return next((command for command in SUBCOMMANDS if command.name == word), None)


def help_lines() -> str:
    """The subcommands, a line each."""
    uses = [f"pykudu-sql {command.name} {command.arguments}".rstrip() for command in SUBCOMMANDS]
    width = max(map(len, uses))
    return "\n".join(
        f"  {use:<{width}}  {command.summary}"
        for use, command in zip(uses, SUBCOMMANDS, strict=True)
    )


def names_a_database(name: str) -> bool:
    """Whether a word names a database: a path, a name with an extension, or a directory."""
    return bool(
        name == MEMORY or os.sep in name or os.path.splitext(name)[1] or os.path.isdir(name)
    )


def check_database_name(name: str) -> None:
    """Check that the first word of a command line names a database.

    `name`: as given. Raises UsageError: it has no separator and no extension, and no directory has
    that name; or it is a file, or a subcommand behind options.
    """
    if os.path.isfile(name):
        script = shlex.quote(name)
        raise UsageError(
            f"'{name}' is a file, and a database is a directory\n"
            f"A script is run by -f: pykudu-sql my.db -f {script}"
        )
    if names_a_database(name):
        return
    if (command := subcommand(name)) is not None:
        use = f"pykudu-sql {command.name} {command.arguments}".rstrip()
        raise UsageError(f"'{name}' is a command and stands before all options: {use}")
    names = [command.name for command in SUBCOMMANDS]
    raise UsageError(
        f"'{name}' is neither a command nor a database{suggest_name(name, names)}\n"
        f"commands: {', '.join(names)}\n"
        "A new database is named by a path with a separator or an extension: "
        f"{shlex.quote(f'./{name}')}, {shlex.quote(f'{name}.db')}"
    )
