"""Keys typed while a statement runs: not drawn into its progress, and there at the next prompt.

The terminal keeps what is typed until somebody reads it. Only that it draws each key at once, in
the middle of whatever stands there, is turned off; Ctrl-C works as ever. Programs that a statement
starts and that read keys (`.shell`) have them drawn.
"""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LOCAL_MODES = 3


@contextmanager
def undrawn_keys() -> Iterator[None]:
    """A block while which no key is drawn, if this process reads a terminal."""
    with _echo(0):
        yield


@contextmanager
def drawn_keys() -> Iterator[None]:
    """The opposite, within such a block."""
    with _echo(termios.ECHO):
        yield


@contextmanager
def _echo(flag: int) -> Iterator[None]:
    """A block with the terminal's echo on or off; afterwards it is as it was before."""
    before = _modes()
    if before is None:
        yield
        return
    terminal = sys.stdin.fileno()
    within = [*before]
    within[_LOCAL_MODES] = before[_LOCAL_MODES] & ~termios.ECHO | flag
    termios.tcsetattr(terminal, termios.TCSANOW, within)
    try:
        yield
    finally:
        # Of a terminal that was closed meanwhile nothing is left to be put right.
        if _modes() is not None:
            termios.tcsetattr(terminal, termios.TCSANOW, before)


def _modes() -> list[Any] | None:
    """The modes of the terminal that this process reads, None if it reads none."""
    try:
        return termios.tcgetattr(sys.stdin.fileno())
    except (termios.error, OSError, ValueError, AttributeError):
        return None
