"""A line of progress on a terminal, erased before anything else is written.

The thread that waits for a statement draws the line, the thread that runs it writes results; a lock
lets one of them write at a time. Once results are written, the line is not drawn again.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import IO

_DELAY_SECONDS = 1.0
_REDRAW_SECONDS = 0.1
_ERASE_LINE = "\r\x1b[K"

# The text of the line, from the seconds that have passed and the columns of the terminal.
Text = Callable[[float, int], str]


class StatusLine:
    """The last line of a stream while a statement runs; none where that is no terminal."""

    def __init__(self, stream: IO[str]) -> None:
        """Nothing is shown before `begin`."""
        self._stream = stream
        self._lock = threading.Lock()
        self._since: float | None = None
        self._last_redraw: float | None = None

    def begin(self) -> None:
        """A statement begins."""
        if self._stream.isatty() and os.environ.get("TERM") != "dumb":
            with self._lock:
                self._since = time.monotonic()

    def end(self) -> None:
        """Erase the line; it is not drawn again until the next statement begins."""
        if self._since is None:
            return
        with self._lock:
            self._since = None
            if self._last_redraw is not None:
                self._last_redraw = None
                self._write(_ERASE_LINE)

    def show(self, text: Text) -> None:
        """Draw the line, if the statement takes long. Meant to be called many times a second."""
        with self._lock:
            now = time.monotonic()
            if self._since is None or now - self._since < _DELAY_SECONDS:
                return
            if self._last_redraw is None or now - self._last_redraw >= _REDRAW_SECONDS:
                self._last_redraw = now
                self._write(_ERASE_LINE + text(now - self._since, self._columns()))

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            return 80

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
