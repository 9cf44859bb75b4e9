"""Scripts from files: their text, and where their errors are."""

import os
import select
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import RawIOBase
from pathlib import Path

import pykudu_sql
from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.output.terminal import print_error
from pykudu_sql.shell.settings import UsageError

_POLL_MILLISECONDS = 50  # between two looks whether Ctrl-C was pressed
_CHUNK_BYTES = 1 << 20


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


def read_script(path: Path, check_cancelled: Callable[[], None] = lambda: None) -> str:
    """The text of a script: of a plain file, a pipe or a terminal.

    `check_cancelled`: called while a pipe has nothing to read; raises to stop.

    Raises UsageError: the file cannot be read, is a device, or is not UTF-8.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not _ends(file):
                raise UsageError(f"cannot read {path}: it is a device")
            data = b"".join(_chunks(file, check_cancelled))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    return decode_script(data, str(path))


def _ends(file: RawIOBase) -> bool:
    """Whether a device has an end: a terminal has, and what is empty."""
    return file.isatty() or os.path.samestat(os.fstat(file.fileno()), os.stat(os.devnull))


def _chunks(file: RawIOBase, check_cancelled: Callable[[], None]) -> Iterator[bytes]:
    """What a file holds; a pipe that no process has opened for writing yet is waited for."""
    pending = select.poll()
    pending.register(file, select.POLLIN)
    while True:
        while not pending.poll(_POLL_MILLISECONDS):
            check_cancelled()
        chunk = file.read(_CHUNK_BYTES)
        if chunk is None:
            continue
        if not chunk:
            return
        yield chunk


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
