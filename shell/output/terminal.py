"""Where results go: a terminal, a pipe or a file.

On a terminal nothing that data contains can act on it: every character written there is escaped
first. Into a pipe or a file text goes as it is.
"""

import os
import sys
from pathlib import Path
from typing import TextIO

from pykudu_sql.shell.output.display import escape
from pykudu_sql.shell.settings import UsageError


class Output:
    """A stream of text that can be redirected to a file and back."""

    def __init__(self, stream: TextIO) -> None:
        self._standard = stream
        self._stream = stream

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self._stream.isatty()

    def write(self, text: str) -> None:
        """Write text, escaped if this is a terminal."""
        self._stream.write(escape(text, keep="\n\t") if self.is_terminal else text)

    def flush(self) -> None:
        """Hand everything written to the operating system."""
        self._stream.flush()

    def width(self) -> int | None:
        """Columns of the terminal; None for a pipe or a file."""
        if not self.is_terminal:
            return None
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            return 80

    def redirect(self, path: Path, *, replace: bool = True) -> None:
        """Write to a file until `restore`.

        Args:
            path: of the file; made where there is none.
            replace: empty a file that exists; otherwise it is refused.

        Raises UsageError: the file cannot be written, or exists and is not to be replaced.
        """
        try:
            stream = path.open("w" if replace else "x", encoding="utf-8", newline="")
        except FileExistsError:
            raise UsageError(
                f"cannot write {path}: it exists, and a read-only session replaces no file; "
                "give another name"
            ) from None
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
        self.restore()
        self._stream = stream

    def restore(self) -> None:
        """Write to the standard stream again."""
        if self._stream is not self._standard:
            self._stream.close()
            self._stream = self._standard


def print_error(text: str) -> None:
    """A message that is not a result, on the standard error stream, escaped for a terminal."""
    print(escape(text, keep="\n"), file=sys.stderr, flush=True)
