"""The result of each row of a batch in the mode COLLECT (Kudu's `client/write_op.h`).

Kudu does a batch row by row: rows that fit go in, each other row is reported with its key and a
status. A statement in that mode ends in a `RowResults`.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    Error,
    ImmutableColumnError,
    RowNotFoundError,
    UncoveredRangeError,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_ROW_ERRORS = 10_000

_STATUSES: tuple[tuple[type[Error], str], ...] = (
    (AlreadyPresentError, "AlreadyPresent"),
    (RowNotFoundError, "NotFound"),
    (UncoveredRangeError, "NotFound"),
    (ImmutableColumnError, "Immutable"),
)


class RowErrorMode(StrEnum):
    """What becomes of a batch with a row that does not fit; the values of setting `row_errors`.

    FAIL does all rows or none, and ends with the first row's error. COLLECT does the rows that fit
    and reports the others.
    """

    FAIL = "fail"
    COLLECT = "collect"


@dataclass(frozen=True, slots=True)
class RowError:
    """A row that was not done.

    Attributes:
        position: of the row in its statement, from 0.
        key: `(id) = (5)`.
        status: Kudu's name: AlreadyPresent, NotFound, Immutable or InvalidArgument.
        sqlstate: five characters of ISO 9075.
        message: one sentence.
    """

    position: int
    key: str
    status: str
    sqlstate: str
    message: str


def _no_positions() -> "npt.NDArray[np.int64]":
    import numpy as np

    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class RowResults:
    """What became of a batch; the three numbers add up to its rows.

    Attributes:
        applied: rows done, perhaps without the cells of immutable columns (*_IGNORE).
        ignored: rows that an *_IGNORE operation skipped.
        failed: rows not done.
        errors: the first `MAX_ROW_ERRORS` of them, by position.
        refused: positions of all of them in the batch, in any order.
    """

    applied: int
    ignored: int
    failed: int
    errors: tuple[RowError, ...]
    refused: "npt.NDArray[np.int64]" = field(default_factory=_no_positions, compare=False)


def joined(parts: Sequence[RowResults]) -> RowResults:
    """What became of batches that one statement wrote one after the other."""
    errors: list[RowError] = []
    before = 0
    for part in parts:
        room = MAX_ROW_ERRORS - len(errors)
        errors += [replace(e, position=e.position + before) for e in part.errors[:room]]
        before += part.applied + part.ignored + part.failed
    return RowResults(
        sum(part.applied for part in parts),
        sum(part.ignored for part in parts),
        sum(part.failed for part in parts),
        tuple(errors),
    )


class RowErrorCollector:
    """Notes rows that were not done. `failed`: how many."""

    def __init__(self) -> None:
        """None so far."""
        self.failed = 0
        self._positions: list[npt.NDArray[np.int64]] = []
        self._errors: list[RowError] = []

    def add(
        self, positions: "npt.NDArray[np.int64]", describe: Callable[[int], tuple[str, Error]]
    ) -> None:
        """Note rows.

        Args:
            positions: of the rows in the statement, int64[n].
            describe: the key's text and the error of the n-th of them; not called for rows beyond
                `MAX_ROW_ERRORS`.
        """
        self.failed += len(positions)
        self._positions.append(positions)
        room = MAX_ROW_ERRORS - len(self._errors)
        for index, position in enumerate(positions[:room].tolist()):
            key, error = describe(index)
            self._errors.append(
                RowError(position, key, status_of(error), error.sqlstate, error.message)
            )

    def positions(self) -> "npt.NDArray[np.int64]":
        """The positions of all rows noted."""
        import numpy as np

        return np.concatenate([_no_positions(), *self._positions])

    def errors(self) -> tuple[RowError, ...]:
        """The errors noted, by position."""
        return tuple(sorted(self._errors, key=lambda error: error.position))


def status_of(error: Error) -> str:
    """Kudu's name for the status of a row with an error."""
    return next((name for kind, name in _STATUSES if isinstance(error, kind)), "InvalidArgument")
