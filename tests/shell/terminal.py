"""The shell in a terminal whose screen a test reads.

A program writes in pieces, so what a test looks at is only told once it is whole: the screen is
returned by `answer`, which waits for the prompt behind it, and a colour once its text is there.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COLUMNS, ROWS = 100, 40
CTRL_C, CTRL_D, CTRL_R, TAB, ENTER = "\x03", "\x04", "\x12", "\t", "\r"
UP = "\x1b[A"


class Terminal:
    """A program in a terminal whose screen can be read."""

    def __init__(
        self,
        folder: Path,
        environ: dict[str, str],
        *options: str,
        columns: int = COLUMNS,
        rows: int = ROWS,
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._raw = ""
        self._program = pexpect.spawn(
            sys.executable,
            ["-m", "pykudu_sql", "my.db", *options],
            cwd=str(folder),
            env={**os.environ, **environ},
            dimensions=(rows, columns),
            encoding="utf-8",
            timeout=30,
        )

    def type(self, keys: str) -> None:
        """Press keys."""
        self._program.send(keys)

    def line(self, text: str) -> None:
        """Type a line."""
        self.type(text + ENTER)

    def wait(self, condition: Callable[[str], bool] | str, seconds: float = 120) -> None:
        """Wait until the screen shows a text or meets a condition."""
        self._shown(condition, seconds)

    def answer(self, text: str, prompt: str = "my.db>") -> str:
        """The screen once it shows a text and stands at the prompt again."""
        return self._shown(lambda shown: text in shown and shown.endswith(prompt))

    def colour_of(self, text: str) -> str:
        """The colour in which the first letter of a text stands, `default` for none."""
        self.wait(lambda _: self._place(text) is not None)
        place = self._place(text)
        assert place is not None
        line, column = place
        return str(self._screen.buffer[line][column].fg)

    def _place(self, text: str) -> tuple[int, int] | None:
        for number, line in enumerate(self._screen.display):
            if text in line:
                return number, line.index(text)
        return None

    def _shown(self, condition: Callable[[str], bool] | str, seconds: float = 120) -> str:
        deadline = time.monotonic() + seconds
        while True:
            lines = (line.rstrip() for line in self._screen.display)
            shown = "\n".join(line for line in lines if line)
            if condition in shown if isinstance(condition, str) else condition(shown):
                return shown
            assert time.monotonic() < deadline, f"waited for {condition!r} on:\n{shown}"
            try:
                text = self._program.read_nonblocking(65536, 0.1)
                self._raw += text
                self._stream.feed(text)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                pytest.fail(f"the program ended; the screen:\n{shown}")

    def raw(self) -> str:
        """Every byte the program wrote so far, as text."""
        return self._raw

    def exit_code(self) -> int | None:
        """Wait for the end of the program."""
        self._program.expect(pexpect.EOF)
        self._program.close()
        code: int | None = self._program.exitstatus
        return code

    def kill(self) -> None:
        """End it if it still runs."""
        self._program.kill(signal.SIGKILL)
        self._program.wait()
        self._program.close()


def times(count: int, text: str) -> Callable[[str], bool]:
    """The screen shows a text so often."""
    return lambda shown: shown.count(text) >= count


def prompts(count: int, prompt: str = "my.db>") -> Callable[[str], bool]:
    """The screen shows so many prompts and waits at the last one."""
    return lambda shown: shown.count(prompt) >= count and shown.endswith(prompt)
