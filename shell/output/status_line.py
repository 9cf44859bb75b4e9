"""One line of a terminal that says how far a statement is, and goes before anything else comes.

A thread that waits for the statement shows it, the one that runs the statement writes results: each
has the line to itself meanwhile. Once results are being written it stays away.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import IO

_SHOWN_AFTER_SECONDS = 1.0
_REDRAWN_AFTER_SECONDS = 0.1
_ERASED = "\r\x1b[K"

# What a line says: the text for seconds that have passed and columns that there are.
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
        """Take the line away until the next statement begins, if it is there."""
        if self._since is None:
            return
        with self._lock:
            self._since = None
            if self._last_redraw is not None:
                self._last_redraw = None
                self._write(_ERASED)

    def show(self, text: Text) -> None:
        """Draw the line, if the statement takes long. Meant to be called many times a second."""
        with self._lock:
            now = time.monotonic()
            if self._since is None or now - self._since < _SHOWN_AFTER_SECONDS:
                return
            if self._last_redraw is None or now - self._last_redraw >= _REDRAWN_AFTER_SECONDS:
                self._last_redraw = now
                self._write(_ERASED + text(now - self._since, self._columns()))

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            return 80

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
