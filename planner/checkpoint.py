"""Places where planning can stop without harm, since a statement was cancelled or took too long.

Whoever plans says what to ask there; what takes long while planning asks: each step of parsing,
each pass, and the loops over the nodes of a tree whose work for one node is more than a look.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


def _go_on() -> None:
    """Outside of statements nothing is cancelled."""


_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=_go_on)


def checkpoint() -> None:
    """A place where planning can stop.

    Raises Error: the check of the statement did.
    """
    _CHECK.get()()


@contextmanager
def checked_by(check: Callable[[], None]) -> Iterator[None]:
    """A block whose checkpoints ask `check`, which raises an Error to stop it."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)
