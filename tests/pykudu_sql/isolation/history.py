"""What transactions did, as a checker can judge it: lists that are only ever appended to.

Every element appended is unique in the whole history, so a list that was read tells which
transactions it comes from, and in which order they wrote (the idea of Elle, Kingsbury and Alvaro,
VLDB 2020). A key that was not there reads as an empty list, so a scan of a group of keys reads all
of them, and a phantom is nothing else than a newer version of one of them.
"""

from dataclasses import dataclass
from enum import Enum, auto

Key = int
Element = int


class Fate(Enum):
    """How a transaction ended."""

    COMMITTED = auto()
    ABORTED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Append:
    """An element put at the end of a key's list."""

    key: Key
    element: Element


@dataclass(frozen=True, slots=True)
class Read:
    """A key's list as it was read."""

    key: Key
    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One transaction.

    Attributes:
        name: for messages.
        events: what it did, in order; what it took back with a savepoint is a record of its own
            that was aborted.
        fate: how it ended.
    """

    name: str
    events: tuple[Append | Read, ...]
    fate: Fate = Fate.COMMITTED

    def appended(self, key: Key) -> tuple[Element, ...]:
        """What it appended to a key, in order."""
        return tuple(e.element for e in self.events if isinstance(e, Append) and e.key == key)
