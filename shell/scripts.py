"""Scripts from files: their text, and where their errors are."""

from dataclasses import dataclass, replace
from pathlib import Path

import pykudu_sql
from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.output.terminal import print_error
from pykudu_sql.shell.settings import UsageError


@dataclass(frozen=True, slots=True)
class ScriptPosition:
    """Where a statement stands, for messages.

    Attributes:
        source: a file's name, or None for a statement that was typed or given with -c.
        line: its line there, from 1.
    """

    source: str | None
    line: int = 1

    def prefix(self) -> str:
        """`file:line: `, or nothing."""
        return "" if self.source is None else f"{escape(self.source)}:{self.line}: "


def read_script(path: Path) -> str:
    """The text of a script. Raises UsageError: it cannot be read, or is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    return decode_script(data, str(path))


def decode_script(data: bytes, source: str) -> str:
    """Text of the bytes of a script, a byte order mark left out.

    Raises UsageError: they are not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {source}: not UTF-8 at byte {error.start}") from error


def print_statement_error(error: Exception, place: ScriptPosition) -> None:
    """An error of the database or of the shell, and where it is."""
    if isinstance(error, pykudu_sql.Error):
        position = error.position
        line = place.line + (position.line - 1 if position else 0)
        print_error(f"{replace(place, line=line).prefix()}ERROR {error.sqlstate}: {error}")
    else:
        print_error(f"{place.prefix()}ERROR: {error}")
