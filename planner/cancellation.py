"""Places where planning can stop without harm, since a statement was cancelled or took too long.

Whoever plans says what to ask there; what takes long while planning asks: each step of parsing,
each pass, and the loops over the nodes of a tree whose work for one node is more than a look.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token


def _never_cancelled() -> None:
    """Outside of statements nothing is cancelled."""


_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=_never_cancelled)


def check_cancelled() -> None:
    """A place where planning can stop.

    Raises Error: the check of the statement did.
    """
    _CHECK.get()()


def cancelled_by(check: Callable[[], None]) -> AbstractContextManager[None]:
    """A block in which `check_cancelled` calls `check`, which raises an Error to stop it."""
    return _Checked(check)


class _Checked(AbstractContextManager[None]):
    """As a class, since a generator takes five times as long to enter and leave."""

    __slots__ = ("_check", "_token")

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._token: Token[Callable[[], None]] | None = None

    def __enter__(self) -> None:
        self._token = _CHECK.set(self._check)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _CHECK.reset(self._token)
