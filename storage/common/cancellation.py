"""Cancellation of long work: a function that is called between its steps, and that may raise.

A check returns, or raises the error that ends the work. Nothing has been swapped then, and the
files that were written for it are removed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

CancelCheck = Callable[[], None]


def never_cancelled() -> None:
    """The check of work that cannot be cancelled."""


def cancellable(items: Iterable[T], cancel_check: CancelCheck) -> Iterator[T]:
    """The same items, with a check before each."""
    for item in items:
        cancel_check()
        yield item
