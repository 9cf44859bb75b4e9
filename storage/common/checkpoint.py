"""Checkpoints: functions that long work calls between its steps, and that may cancel it.

A checkpoint returns, or raises the error that ends the work. Nothing has been swapped then, and the
files that were written for it are removed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Checkpoint = Callable[[], None]


def go_on() -> None:
    """The checkpoint of work that cannot be stopped."""


def checked(items: Iterable[T], checkpoint: Checkpoint) -> Iterator[T]:
    """The same items, with a checkpoint before each."""
    for item in items:
        checkpoint()
        yield item
