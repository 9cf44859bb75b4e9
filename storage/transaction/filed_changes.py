"""What one statement changes of rows on disk, in delta files from the beginning.

Each share of changes is written to a file at once; at the end the files of each rowset become one,
in which a row is once, and the last change counts. Large ones with no row in common stay apart; of
others that take more than a piece of memory files of some rows each are made. They become part of
the transaction then: until then neither the statement nor a query that feeds it sees them. Changes
of rows that are themselves in memory stay there.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from dataclasses import field
from functools import partial
from typing import TypeVar

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.memory_budget import MOST_PIECE
from pykudu_sql.storage.common.rows.distinct_integers import are_distinct
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles, discard_files
from pykudu_sql.storage.tablet.write.addressed_operations import AddressedOperations
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.tablet.write.staged_changes import (
    StagedDeltas,
    StagedPart,
    merge_parts,
    stage,
)
from pykudu_sql.storage.transaction.transaction_services import TransactionServices

_MERGED_ROWS = 1 << 16
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _TabletChanges:
    """What a statement changes of one tablet.

    Attributes:
        pending: the transaction's writes there.
        staged: the files that were written.
        parts: by rowset id, in the order of their making.
    """

    pending: PendingWrites
    staged: StagedFiles = field(default_factory=list)
    parts: dict[int, list[StagedPart]] = field(default_factory=dict)


def _cell_bytes(parts: Sequence[StagedPart]) -> int:
    """What the texts of changes on disk take in memory."""
    return sum(part.cell_bytes for part in parts if isinstance(part, StagedDeltas))


def _stay_apart(parts: Sequence[StagedPart], most_bytes: int) -> bool:
    """Whether changes of one rowset are many or large, and have no row in common."""
    if len(parts) == 1:
        return False
    if sum(part.rows for part in parts) <= _MERGED_ROWS and _cell_bytes(parts) <= most_bytes:
        return False
    ordinals = np.concatenate([part.ordinals for part in parts])
    return are_distinct(ordinals)


class FiledChanges:
    """The changes of one statement. Used by one thread at a time."""

    def __init__(self, services: TransactionServices) -> None:
        """No changes yet. `services`: of the transaction, whose threads write."""
        self._pool = services.pool
        self._piece_bytes = services.budget.piece(MOST_PIECE)
        self._cancel_check = services.cancel_check
        self._tablets: dict[str, _TabletChanges] = {}

    def add(self, shares: Iterable[tuple[PendingWrites, AddressedOperations]]) -> None:
        """Write what is changed of some rowsets; `shares`: with the writes to their tablets.

        Raises DiskError: the disk refused.
        """
        destinations, tasks = [], []
        for pending, batch in shares:
            tablet = pending.tablet
            each = self._tablets.setdefault(tablet.id, _TabletChanges(pending))
            destinations.append(each.parts.setdefault(batch.rowset.id, []))
            tasks.append(partial(stage, tablet, batch, each.staged))
        for destination, part in zip(destinations, self._side_by_side(tasks), strict=True):
            destination.append(part)

    def stage(self, keep: Callable[[PendingWrites], PendingWrites]) -> int:
        """Make all changes part of the transaction.

        `keep`: counts writes to a tablet among the transaction's. Returns the number of rows.
        Raises DiskError: the disk refused; CorruptionError: a file is not what was written.
        """
        merged = [self._merged(each) for each in self._tablets.values()]
        for each, parts in zip(self._tablets.values(), merged, strict=True):
            keep(each.pending).stage_changes(parts, each.staged)
        return sum(part.rows for parts in merged for part in parts)

    def discard(self) -> None:
        """Remove all files, of a statement that failed."""
        for each in self._tablets.values():
            discard_files(each.pending.tablet.files, each.staged)

    def _merged(self, changes: _TabletChanges) -> Sequence[StagedPart]:
        """The changes of each rowset as one part, or as several that change other rows each."""
        tablet = changes.pending.tablet
        piece = self._piece_bytes
        by_rowset = [parts for parts in changes.parts.values() if not _stay_apart(parts, piece)]
        merged = self._side_by_side(
            [partial(merge_parts, tablet, parts, changes.staged, piece) for parts in by_rowset]
        )
        for parts, new in zip(by_rowset, merged, strict=True):
            if new is not parts:
                changes.pending.files.discard_changes(parts)
                parts[:] = new
        return [part for parts in changes.parts.values() for part in parts]

    def _side_by_side(self, tasks: Sequence[Callable[[], _Result]]) -> Sequence[_Result]:
        """What tasks return. Raises what one raised, once all have ended."""
        running = [self._pool.submit(self._unless_cancelled, task) for task in tasks]
        wait(running)
        return [task.result() for task in running]

    def _unless_cancelled(self, task: Callable[[], _Result]) -> _Result:
        self._cancel_check()
        return task()
