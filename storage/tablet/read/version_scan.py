"""Reading a tablet's history: key range by key range, every version or change of its rows.

What a merging compaction does to write the histories of many rowsets as one (`compaction`), a
history scan does to read them: rows of all rowsets in memory and on disk come as `RowSlice`s, the
instances that one key has in several are spliced (`history_splice`), and `row_versions` makes
versions or changes of them. So a commit that deletes a key on disk and inserts it again in memory
shows as the update that it is.

The scan needs no lock. It takes the tablet's components and each rowset's deltas once; what flush
and compaction put in their place meanwhile holds the same rows. The caller sees to it that history
back to `low` is kept while the scan lasts.

A scan for changes leaves rowsets out whose newest commit lies below it, unread, and takes of each
slice the rows of each rowset that have any; slices with few of them are read together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.row_allowance import rows_within
from pykudu_sql.storage.common.types.hybrid_time import (
    UNCOMMITTED,
    SnapshotBound,
    Timestamp,
    bound_at,
    bound_before,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.delta.delta_store import (
    Ordinals,
    select,
    within,
    without_columns,
)
from pykudu_sql.storage.tablet.delta.delta_tracker import visible_redo
from pykudu_sql.storage.tablet.history.history_splice import splice
from pykudu_sql.storage.tablet.history.row_slice import (
    ColumnGather,
    ColumnsInMemory,
    RowSlice,
    choose_rows,
    part_of,
)
from pykudu_sql.storage.tablet.history.row_versions import (
    RowChanges,
    RowVersions,
    changes_of,
    versions_of,
)
from pykudu_sql.storage.tablet.history.undo_builder import build_history, remap
from pykudu_sql.storage.tablet.maintenance.compaction_input import CompactionInput
from pykudu_sql.storage.tablet.maintenance.key_slices import key_slices
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet

RowMask = npt.NDArray[np.bool_]
# Of each input, the rows start <= ordinal < stop.
Ranges = Sequence[tuple[int, int]]
T = TypeVar("T", RowVersions, RowChanges)

_SLICE_ROWS = 128 * 1024
MOST_SLICE_BYTES = 32 << 20
"""That a caller has any use for."""


@dataclass(frozen=True, slots=True)
class HistoryRange:
    """What a history scan looks at.

    Attributes:
        low, high: changes by commits at times low <= t < high, or versions that began below `high`
            and did not end below `low`.
        until: commits at or above this bound are not seen; none below it is on its way.
        since: the ancient history mark, at most `low`: nothing below it is returned.
        dropped: when the tablet was, not below `low`: which ends every row of it; None where it
            was not.
    """

    low: SnapshotBound
    high: SnapshotBound
    until: SnapshotBound
    since: SnapshotBound
    dropped: Timestamp | None = None

    def up_to(self, drop: Timestamp | None) -> "HistoryRange":
        """The same of a tablet that was dropped at a time, if it was."""
        if drop is None:
            return self
        end = bound_before(drop)
        return HistoryRange(self.low, min(self.high, end), end, self.since, drop)


def scan_tablet_versions(
    tablet: Tablet,
    columns: Sequence[ColumnSchema],
    column_ids: Sequence[int],
    reach: HistoryRange,
    slice_bytes: int = MOST_SLICE_BYTES,
) -> Iterator[RowVersions]:
    """The versions of a tablet's rows, in key order.

    Args:
        columns: of the table: a commit that touched none of them made no version.
        column_ids: wanted, in order.
        reach: which versions.
        slice_bytes: that the rows of a slice and their changes may take once they are decoded.

    Raises CorruptionError: a file is not what was written; DiskError: the disk refused.
    """
    return _scan(
        tablet,
        columns,
        reach,
        slice_bytes,
        lambda rows: versions_of(rows, column_ids, reach.low, reach.high, reach.until).ended_by(
            reach.dropped
        ),
        only_changed=None,
    )


def scan_tablet_changes(
    tablet: Tablet,
    columns: Sequence[ColumnSchema],
    column_ids: Sequence[int],
    reach: HistoryRange,
    slice_bytes: int = MOST_SLICE_BYTES,
) -> Iterator[RowChanges]:
    """The changes of a tablet's rows, in key order; see `scan_tablet_versions`.

    The drop of a tablet changes every row that it has by then: they are deleted.
    """
    return _scan(
        tablet,
        columns,
        reach,
        slice_bytes,
        lambda rows: changes_of(rows, column_ids, reach.low, reach.high, reach.dropped),
        only_changed=(reach.low, reach.high) if reach.dropped is None else None,
    )


def _scan(
    tablet: Tablet,
    columns: Sequence[ColumnSchema],
    reach: HistoryRange,
    slice_bytes: int,
    make: Callable[[RowSlice], T],
    only_changed: tuple[SnapshotBound, SnapshotBound] | None,
) -> Iterator[T]:
    since = UNCOMMITTED if only_changed is None else only_changed[0]
    inputs = _inputs(tablet, columns, reach, since)
    if not inputs:
        return
    marks = None if only_changed is None else [one.changed(*only_changed) for one in inputs]
    cuts = key_slices(inputs, _SLICE_ROWS, slice_bytes)
    if marks is not None:
        cuts = _joined(cuts, marks, _rows_at_once(inputs, marks, slice_bytes))
    for ranges in cuts:
        slices: list[RowSlice] = []
        for number, (start, stop) in enumerate(ranges):
            if marks is None:
                if start < stop:
                    slices.append(inputs[number].read(start, stop))
                continue
            changed_rows = start + np.flatnonzero(marks[number][start:stop])
            if len(changed_rows):
                slices.append(inputs[number].read_rows(changed_rows))
        if slices:
            batch = make(splice(slices, tablet.schema.key_ids, reach.since).rows)
            if len(batch):
                yield batch


def _joined(slices: Iterable[Ranges], marks: Sequence[RowMask], most: int) -> Iterator[Ranges]:
    """Slices of which only marked rows are read, with neighbours that have few of these.

    Where changed rows lie far apart every block has some, and who reads them for each slice decodes
    the block for each. `marks`: rows of each input; `most`: of them in a slice, unless it came so.
    """
    joined: Ranges = ()
    rows_read = 0
    for ranges in slices:
        rows = zip(marks, ranges, strict=True)
        marked = sum(int(np.count_nonzero(mark[start:stop])) for mark, (start, stop) in rows)
        if joined and rows_read + marked <= most:
            joined = [(one[0], other[1]) for one, other in zip(joined, ranges, strict=True)]
            rows_read += marked
            continue
        if joined:
            yield joined
        joined, rows_read = ranges, marked
    if joined:
        yield joined


def _rows_at_once(
    inputs: Sequence["CompactionInput | MemoryInput"], marks: Sequence[RowMask], slice_bytes: int
) -> int:
    """How many marked rows, with all changes, take so many bytes. `marks`: see `_joined`."""
    rows = max(1, sum(one.rows for one in inputs))
    marked = max(1, sum(map(np.count_nonzero, marks)))
    changes = sum(one.change_bytes for one in inputs)
    base = sum(one.decoded_bytes for one in inputs) - changes
    return rows_within(slice_bytes, base / rows + changes / marked, _SLICE_ROWS)


def _inputs(
    tablet: Tablet, columns: Sequence[ColumnSchema], reach: HistoryRange, since: int
) -> list["CompactionInput | MemoryInput"]:
    """The rowsets that hold anything a commit below `until`, and at or above `since`, put there."""
    components = tablet.components
    inputs: list[CompactionInput | MemoryInput] = []
    for memrowset in (components.memrowset, *components.flushing):
        if memrowset.row_count(reach.until):
            inputs.append(MemoryInput(tablet, memrowset, columns, reach.until, reach.since))
    for rowset in components.tree.rowsets:
        tracker = rowset.tracker
        if tracker.is_visible(reach.until) and tracker.newest >= since:
            source = CompactionInput(
                rowset, rowset.base.column, columns, tablet.key_encoder, reach.until, reach.since
            )
            source.load()
            inputs.append(source)
    return inputs


class MemoryInput:
    """The rows of a MemRowSet in the order of their keys, with their history.

    `stored_bytes`, `decoded_bytes`, `change_bytes`: of the MemRowSet, about.
    """

    def __init__(
        self,
        tablet: Tablet,
        memrowset: MemRowSet,
        columns: Sequence[ColumnSchema],
        bound: SnapshotBound,
        mark: SnapshotBound,
    ) -> None:
        """Sort the rows and reverse their changes.

        Args:
            tablet: of the MemRowSet.
            memrowset: with rows below the bound.
            columns: wanted; changes that touched none of them are left out.
            bound: commits at or above it are left out.
            mark: the ancient history mark.
        """
        count = memrowset.row_count(bound)
        by_key = memrowset.by_key(bound)
        order = by_key.ordinals
        new_ordinals = np.empty(count, np.int64)
        new_ordinals[order] = np.arange(count, dtype=np.int64)
        images = memrowset.inserted(columns, order)
        deltas = remap(visible_redo(memrowset.deltas.deltas(), bound), new_ordinals)
        history = build_history(
            images,
            tablet.schema.key_ids,
            memrowset.insertion_times(count)[order],
            without_columns(deltas, set(deltas.cells) - set(images)),
            tablet.types,
        )
        died = np.zeros(count, np.uint64)
        died[history.redo.ordinals] = history.redo.timestamps
        undo = select(history.undo, history.undo.timestamps >= np.uint64(mark))
        image = ColumnGather([ColumnsInMemory(history.columns)], None)
        self.stored_bytes = self.decoded_bytes = self.change_bytes = memrowset.memory
        self._rows = RowSlice(by_key.keys, image, undo, died, np.zeros_like(died))

    @property
    def rows(self) -> int:
        """Of the MemRowSet, those below the bound."""
        return len(self._rows.keys)

    def sample(self, rows: int) -> list[bytes]:
        return [self._rows.keys.at(index) for index in range(0, self.rows, rows)]

    def lower_bound(self, key: bytes) -> int:
        return self._rows.keys.lower_bound(key)

    def changed(self, low: SnapshotBound, high: SnapshotBound) -> npt.NDArray[np.bool_]:
        """Rows that a commit at a time low <= t < high touched, bool[rows]."""
        mask: npt.NDArray[np.bool_] = within(
            self._rows.deleted_at, max(low, bound_at(UNCOMMITTED)), high
        )
        mask[self._rows.undo.ordinals[within(self._rows.undo.timestamps, low, high)]] = True
        return mask

    def read(self, start: int, stop: int) -> RowSlice:
        """The rows start <= ordinal < stop."""
        return part_of(self._rows, start, stop)

    def read_rows(self, ordinals: Ordinals) -> RowSlice:
        """Some rows, in the order of their keys."""
        return choose_rows(self._rows, ordinals)
