"""The prompt as it stands until the line editor is loaded, which takes as long as the database.

Whoever starts the shell sees the prompt at once and may type: the terminal keeps the keys, without
drawing them, and the editor finds them there when it draws the same prompt over this one.
"""

import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING

from pykudu_sql.shell.commands.timestamps import wall_time
from pykudu_sql.shell.output.display import escape, width
from pykudu_sql.shell.output.spans import Role, add_colour

if TYPE_CHECKING:
    from pykudu_sql import Connection

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"  # so that pasted lines do not run


def welcome(connection: "Connection", version: str) -> str:
    """What a shell says first."""
    lines = [f'pykudu-sql {version}, type ".help" for help']
    if connection.path == ":memory:":
        lines.append('Nothing is kept: this database is in memory. ".open DB" opens one on disk.')
    return "\n".join(lines)


def prompt_text(connection: "Connection") -> str:
    """The prompt: the database, the moment that is read, and a star in a transaction."""
    name = "memory" if connection.path == ":memory:" else PurePath(connection.path).name
    moment = ""
    if connection.as_of is not None:
        moment = f"[as of {wall_time(connection.as_of).isoformat(' ', 'seconds')}]"
    return f"{escape(name)}{moment}{'*' if connection.in_transaction else ''}> "


@contextmanager
def first_prompt(connection: "Connection") -> Iterator[None]:
    """Show the prompt while the block loads the editor, which begins in the same line."""
    prompt = prompt_text(connection)
    # The editor can only begin where this prompt does if both have one line of one terminal.
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    if not is_terminal or width(prompt) >= os.get_terminal_size().columns:
        yield
        return
    with _pending_keys(sys.stdin.fileno()):
        _write(_PASTE_ON + add_colour(prompt, Role.NAME))
        try:
            yield
        finally:
            _write(_PASTE_OFF + "\r")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def _pending_keys(terminal: int) -> Iterator[None]:
    """Keys are neither drawn nor acted on meanwhile, Ctrl-C included: all wait for a reader."""
    before = termios.tcgetattr(terminal)
    raw_mode = termios.tcgetattr(terminal)
    raw_mode[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON)
    raw_mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    termios.tcsetattr(terminal, termios.TCSANOW, raw_mode)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
