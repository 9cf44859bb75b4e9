"""What a command is, and what the functions of all commands share."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pykudu_sql.shell.settings import UsageError

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

Action = Callable[["ShellSession", Sequence[str]], None]


class ExternalAccess(StrEnum):
    """What a command reaches besides the database, as the refusal of safe mode says it."""

    NOTHING = "nothing"
    FILE = "takes a file"
    PROCESS = "starts a program"


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        names: its name with the dot, then aliases.
        arguments: what it takes, as `.help` shows it; `[X]` may be left out, a last `X...` or
            `[X...]` stands for any number of words.
        summary: what it does.
        action: does it.
        access: the kind of thing outside of the database that it may read, write or start.
        paged: what it shows is text to be read, which may go through a pager.
        raw: the action gets the rest of the line as one argument, quotes and all.
    """

    names: tuple[str, ...]
    arguments: str
    summary: str
    action: Action
    access: ExternalAccess = ExternalAccess.NOTHING
    raw: bool = False
    paged: bool = False

    @property
    def usage(self) -> str:
        """Name and arguments."""
        return f"{self.names[0]} {self.arguments}".rstrip()

    def accepts(self, count: int) -> bool:
        """Whether so many arguments may be given."""
        words = self.arguments.split()
        required = sum(not word.startswith("[") for word in words)
        repeats = bool(words) and words[-1].rstrip("]").endswith("...")
        return required <= count and (repeats or count <= len(words))


class Quit(Exception):
    """The user wants to leave."""


def command(
    *names: str,
    arguments: str = "",
    summary: str,
    access: ExternalAccess = ExternalAccess.NOTHING,
    raw: bool = False,
    paged: bool = False,
) -> Callable[[Action], Command]:
    """Make a function the action of a command."""

    def register(action: Action) -> Command:
        return Command(names, arguments, summary, action, access, raw, paged)

    return register


def quoted(name: str) -> str:
    """A name as an identifier of SQL, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def words_of(text: str) -> list[str]:
    """The words of a command line, quotes taken off. Raises UsageError: a quote is open."""
    try:
        return shlex.split(text.rstrip(";"))
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from error


def switch(text: str, usage: str) -> bool:
    """What `on` or `off` says. Raises UsageError: it is neither."""
    if text.lower() not in ("on", "off"):
        raise UsageError(f"usage: {usage}")
    return text.lower() == "on"


def number(text: str) -> int:
    """A whole number. Raises UsageError: it is none."""
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number") from None
