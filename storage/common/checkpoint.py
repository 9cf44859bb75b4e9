"""Checkpoints: places where long work can stop without harm.

Whoever asks for work may hand a function down with it. The work calls it between its steps; it
returns, or it raises what the work then ends with. Nothing that was to be exchanged has been
exchanged then, and files that were written for it are removed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Checkpoint = Callable[[], None]


def go_on() -> None:
    """The checkpoint of work that nobody asks to stop."""


def checked(items: Iterable[T], checkpoint: Checkpoint) -> Iterator[T]:
    """The same items, with a checkpoint before each."""
    for item in items:
        checkpoint()
        yield item
