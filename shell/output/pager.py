"""A program such as `less` for what does not fit the screen.

Text is buffered until it is longer than the screen; then the program starts and reads the buffer
and all that follows. Text that fits the screen is written to the terminal.
"""

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from pykudu_sql.shell.output.display import width

if TYPE_CHECKING:
    import subprocess

# Options of `less`: colours are shown, and long lines are broken, or scrolled sideways.
WRAP_LINES, CHOP_LINES = "-R", "-SR"


class PagerClosed(Exception):
    """The user closed the pager; the rest of the text is not needed."""


def pager_command(setting: str, environ: Mapping[str, str], *, safe: bool) -> str | None:
    """The command of the pager; None if there is none.

    Args:
        setting: the setting `pager_command`; empty for `$PYKUDU_SQL_PAGER`, `$PAGER` or `less`.
        environ: of the process.
        safe: only `less` will do, which can be kept from running other programs.
    """
    if not safe:
        for command in (setting, environ.get("PYKUDU_SQL_PAGER"), environ.get("PAGER")):
            if command:
                return command
    return "less" if shutil.which("less") else None


def pager_environment(environ: Mapping[str, str], options: str, *, safe: bool) -> dict[str, str]:
    """The environment of the pager: the user's, and options of `less` unless they have theirs."""
    return {"LESS": options, **environ, **({"LESSSECURE": "1"} if safe else {})}


class PagedText:
    """Text that goes to a stream, or through a pager if it does not fit the screen.

    Attributes:
        seconds: that the user was in the pager.
    """

    def __init__(
        self, command: str, stream: IO[str], size: os.terminal_size, *, safe: bool
    ) -> None:
        """Nothing is written yet.

        Args:
            command: of the pager.
            stream: takes what fits.
            size: of the screen.
            safe: the pager must start no other program.
        """
        self._command = command
        self._safe = safe
        self._stream = stream
        self._size = size
        self._buffer: list[str] = []
        self._lines = 0
        self._program: subprocess.Popen[str] | None = None
        self._started = 0.0
        self.seconds = 0.0

    @property
    def is_active(self) -> bool:
        """Whether the pager has the screen."""
        return self._program is not None

    def write(self, text: str, plain: str) -> None:
        """Take text. `plain`: the same without colours.

        Raises PagerClosed: the user left the pager.
        """
        if self._program is not None:
            self._send(text)
            return
        self._buffer.append(text)
        for line in plain.split("\n")[:-1]:
            self._lines += max(1, -(-width(line) // self._size.columns))
        # The line of the prompt that comes next belongs on the screen, too.
        if self._lines >= self._size.lines - 1:
            self.start(WRAP_LINES)

    def start(self, options: str) -> None:
        """Start the pager, unless it is there. `options`: of `less`.

        Raises PagerClosed: the user left the pager.
        """
        if self._program is not None:
            return
        import subprocess  # a part of the start that few sessions need

        self._stream.flush()
        self._started = time.perf_counter()
        self._program = subprocess.Popen(
            self._command,
            shell=True,
            stdin=subprocess.PIPE,
            env=pager_environment(os.environ, options, safe=self._safe),
            encoding="utf-8",
            errors="surrogatepass",
        )
        self._send("".join(self._buffer))
        self._buffer.clear()

    def _send(self, text: str) -> None:
        assert self._program is not None and self._program.stdin is not None
        try:
            self._program.stdin.write(text)
        except BrokenPipeError:
            raise PagerClosed from None

    def close(self) -> None:
        """Write what fits the screen, or wait until the user leaves the pager."""
        if self._program is None:
            self._stream.write("".join(self._buffer))
            return
        assert self._program.stdin is not None
        with suppress(BrokenPipeError):
            self._program.stdin.close()
        self._program.wait()
        self._program = None
        self.seconds = time.perf_counter() - self._started
