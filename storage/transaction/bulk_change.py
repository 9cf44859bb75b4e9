"""Large UPDATEs and DELETEs of rows that a scan has addressed, in memory for one batch at a time.

The rows come in batches that are not in memory together. What a batch changes of a rowset on disk
is written to a delta file at once; at the end the files of each rowset become one, in which a row
is once. They become part of the transaction then, and are removed if the statement fails. Changes
of rows that are themselves in memory stay there.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, wait
from dataclasses import dataclass, field
from functools import partial

from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.rows.row_operation import RowOperations
from pykudu_sql.storage.tablet.rowset.staged_files import StagedFiles, discard_files
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.tablet.write.staged_changes import StagedPart, merge_parts, stage
from pykudu_sql.storage.transaction.addressed_rows import AddressedRows


@dataclass(frozen=True, slots=True)
class _TabletChanges:
    """What a statement changes of one tablet.

    Attributes:
        pending: the transaction's writes there, as they were before.
        staged: the files that were written.
        parts: by rowset id, in the order of their making.
    """

    pending: PendingWrites
    staged: StagedFiles = field(default_factory=list)
    parts: dict[int, list[StagedPart]] = field(default_factory=dict)


def write_changes(
    pool: Executor, addressed: AddressedRows, batches: Iterable[RowOperations]
) -> int:
    """Stage the changes of a large UPDATE or DELETE.

    Args:
        pool: its threads write.
        addressed: the rows that a scan has found.
        batches: of addresses of these, each taken when the one before is written.

    Returns the number of rows changed. Raises NotNullError, ValueTooLargeError: a cell does not
    fit; InterfaceError: the tablets were written since the scan; DiskError: the disk refused; or
    what taking a batch raises; nothing was done.
    """
    changes: dict[str, _TabletChanges] = {}
    try:
        for operations in batches:
            _write(pool, addressed, operations, changes)
            del operations  # before the next one is taken
        merged = [_merged(pool, each) for each in changes.values()]
    except BaseException:
        for each in changes.values():
            discard_files(each.pending.tablet.files, each.staged)
        raise
    for each, parts in zip(changes.values(), merged, strict=True):
        addressed.keep(each.pending).stage_changes(parts, each.staged)
    return sum(part.rows for parts in merged for part in parts)


def _write(
    pool: Executor,
    addressed: AddressedRows,
    operations: RowOperations,
    changes: dict[str, _TabletChanges],
) -> None:
    """Write what a batch changes to a file for each rowset."""
    shares = [share for share in addressed.shares(operations) if not share[1].is_idle]
    destinations = []
    tasks = []
    counter = progress.counter("writing changes", operations.length)
    for pending, batch in shares:
        tablet = pending.tablet
        each = changes.setdefault(tablet.id, _TabletChanges(pending))
        destinations.append(each.parts.setdefault(batch.rowset.id, []))
        tasks.append(partial(stage, tablet, batch, each.staged))
    for destination, part in zip(destinations, _side_by_side(pool, tasks), strict=True):
        destination.append(part)
    counter.add(operations.length)


def _merged(pool: Executor, changes: _TabletChanges) -> Sequence[StagedPart]:
    """The changes of each rowset as one part."""
    tablet = changes.pending.tablet
    by_rowset = list(changes.parts.values())
    tasks = [partial(merge_parts, tablet, parts, changes.staged) for parts in by_rowset]
    merged = _side_by_side(pool, tasks)
    for parts, part in zip(by_rowset, merged, strict=True):
        changes.pending.files.discard_changes([each for each in parts if each is not part])
    return merged


def _side_by_side(
    pool: Executor, tasks: Sequence[Callable[[], StagedPart]]
) -> Sequence[StagedPart]:
    """What tasks return. Raises what one raised, once all have ended."""
    running = [pool.submit(task) for task in tasks]
    wait(running)
    return [task.result() for task in running]
