"""What a command is, and what the functions of all commands share."""

import re
import shlex
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.settings import UsageError, replace_setting

if TYPE_CHECKING:
    from pykudu_sql.shell.session import ShellSession

_GROUP = re.compile(r"\[[^]]*\]|\S+")  # words that are left out together, or a word

Action = Callable[["ShellSession", Sequence[str]], None]


class ExternalAccess(StrEnum):
    """What a command accesses besides the database, in the words of safe mode's error."""

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
        paged: whether its output is a text that may go through a pager.
        raw: whether the action gets the rest of the line as one argument, quotes included.
        examples: lines that call it, which `.help` shows behind its summary.
    """

    names: tuple[str, ...]
    arguments: str
    summary: str
    action: Action
    access: ExternalAccess = ExternalAccess.NOTHING
    raw: bool = False
    paged: bool = False
    examples: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """Name and arguments."""
        return f"{self.names[0]} {self.arguments}".rstrip()

    def accepts(self, count: int) -> bool:
        """Whether so many arguments may be given."""
        groups = _GROUP.findall(self.arguments)
        required = sum(not group.startswith("[") for group in groups)
        repeats = self.arguments.rstrip("]").endswith("...")
        return required <= count and (repeats or count <= len(self.arguments.split()))


class Quit(Exception):
    """The user wants to leave."""


def command(
    *names: str,
    arguments: str = "",
    summary: str,
    access: ExternalAccess = ExternalAccess.NOTHING,
    raw: bool = False,
    paged: bool = False,
    examples: tuple[str, ...] = (),
) -> Callable[[Action], Command]:
    """Make a function the action of a command."""

    def register(action: Action) -> Command:
        return Command(names, arguments, summary, action, access, raw, paged, examples)

    return register


def quote_identifier(name: str) -> str:
    """A name as an identifier of SQL, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def split_words(text: str) -> list[str]:
    """The words of a command line, quotes taken off. Raises UsageError: a quote is open."""
    try:
        return shlex.split(text.rstrip(";"))
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from error


def parse_path(text: str) -> Path:
    """A path, `~` for the user's home. Raises UsageError: there is no such user."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{text}: there is no such home; ./~ is a file's name") from error


def parse_switch(text: str, usage: str) -> bool:
    """True for `on`, false for `off`. Raises UsageError: it is neither."""
    if text.lower() not in ("on", "off"):
        raise UsageError(f"usage: {usage}")
    return text.lower() == "on"


def set_switch(
    session: "ShellSession", name: str, arguments: Sequence[str], command: Command
) -> None:
    """Set a setting of the shell to `on` or `off`; without an argument, to what it is not.

    Raises UsageError: the argument is neither.
    """
    enabled = not getattr(session.settings, name)
    if arguments:
        enabled = parse_switch(arguments[0], command.usage)
    session.settings = replace_setting(session.settings, name, enabled)
    if not arguments:
        show_switch(session, command.names[0], enabled)


def show_switch(session: "ShellSession", name: str, enabled: bool) -> None:
    """Tell a person at the prompt what a command without `on` and `off` has made of a choice."""
    if session.is_interactive:
        session.output.write(f"{name} is {'on' if enabled else 'off'}.\n")


def parse_number(text: str) -> int:
    """A text as a whole number. Raises UsageError: it is none."""
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number") from None
