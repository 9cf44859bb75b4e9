"""The exit codes of `pykudu-sql` and of all its subcommands, as docs/shell.md lists them."""

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykudu_sql import Error

# SQLSTATEs of what does not exist: a file or database, a table, a snapshot or a part of a database.
_NOT_THERE = frozenset(("58P01", "42P01", "42704"))


class ExitCode(IntEnum):
    """How a command line ended."""

    OK = 0
    FAILED = 1  # a statement, a job or a check; nothing is wrong with the command line
    USAGE = 2  # the command line is wrong, or something that it names is not there
    INTERRUPTED = 130
    BROKEN_PIPE = 141


def exit_code(error: "Error") -> ExitCode:
    """The exit code of a command that ends with an error."""
    return ExitCode.USAGE if error.sqlstate in _NOT_THERE else ExitCode.FAILED
