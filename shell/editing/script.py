"""A script cut into its parts: runs of SQL, and commands of the shell on lines of their own.

A line is a command when it starts with `.name` or `\\name` and no statement is open before it, so
a line inside a string, a comment or an unfinished statement stays what it is.
"""

import re
from collections.abc import Callable, Iterator

from pykudu_sql.dataclass import dataclass

_COMMAND_LINE = re.compile(r"^[ \t]*([.\\](?:[A-Za-z?!][^\n]*))$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SqlPart:
    """Any number of statements.

    `text`: as it stands in the script; `line`: its first line in the script, from 1.
    """

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One command of the shell, its dot or backslash included."""

    text: str
    line: int


def split_script(text: str, is_complete: Callable[[str], bool]) -> Iterator[SqlPart | CommandPart]:
    """The parts of a script in order.

    `text`: the script; `is_complete`: whether every statement of a text is closed.
    """
    start, line = 0, 1
    for match in _COMMAND_LINE.finditer(text):
        before = text[start : match.start()]
        if not is_complete(before):
            continue
        if before.strip():
            yield SqlPart(before, line)
        line += before.count("\n")
        yield CommandPart(match.group(1).strip(), line)
        start = match.end()
    if text[start:].strip():
        yield SqlPart(text[start:], line)


def is_command(text: str) -> bool:
    """Whether what was typed is a command of the shell and not SQL."""
    return _COMMAND_LINE.match(text.strip()) is not None
