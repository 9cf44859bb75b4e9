"""Merging compaction: several DiskRowSets of overlapping key ranges become few that do not overlap.

Kudu's `CompactRowSetsOp` (`tablet/compaction.cc`, `docs/design-docs/compaction.md`). A k-way merge,
streamed: the key space is cut into slices of about `_SLICE_ROWS` rows, or of a piece of memory
where rows are wide, at keys that the key indexes name; the rows of all inputs in a slice are merged
at once, ghosts of one key spliced into one history, and appended to the output, which rolls at its
target size. What memory holds is the keys of a slice and of an unfinished rowset, one column of it,
and the inputs' deltas, but for large texts. The block cache is left to readers.

Readers and writers go on meanwhile, in phases as at a flush:

1. A bound is fixed under the commit lock. What was committed below it is merged outside the lock.
2. Changes that reached the inputs meanwhile go to the rows' new ordinals as one more REDO file of
   each output, the log is fsynced and the files are published (see `publication`).
3. Under the lock again, one manifest edit names the outputs instead of the inputs, and the
   components are swapped.

Log records that name an input are passed over by a replay from then on: the outputs hold them.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.cancellation import CancelCheck, cancellable, never_cancelled
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles, staging
from pykudu_sql.storage.tablet.history.history_splice import splice
from pykudu_sql.storage.tablet.maintenance.compaction_input import CompactionInput
from pykudu_sql.storage.tablet.maintenance.key_slices import key_slices
from pykudu_sql.storage.tablet.maintenance.publication import LateChanges, MovedRows, published
from pykudu_sql.storage.tablet.maintenance.rowset_output import RollingRowSetWriter
from pykudu_sql.storage.tablet.maintenance.rowset_swap import (
    current_rowset,
    record_edit,
    retire_files,
)
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta, TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices

# A slice costs a few hundred calls of kernels, however few rows it has.
_SLICE_ROWS = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The result of a compaction.

    `rows_in`, `rows_out`: rows, ghosts included; `rowsets_in`, `rowsets_out`: rowsets.
    """

    rows_in: int = 0
    rows_out: int = 0
    rowsets_in: int = 0
    rowsets_out: int = 0


def compact_rowsets(
    tablet: Tablet,
    rowsets: Sequence[DiskRowSet],
    services: TabletServices,
    target_bytes: int | None = None,
    cancel_check: CancelCheck = never_cancelled,
) -> CompactionResult:
    """Merge DiskRowSets of a tablet.

    Args:
        tablet: theirs; the caller holds its maintenance lock.
        rowsets: as of now or of before, they are found by their ids.
        target_bytes: of an output rowset; the store's own when None.
        cancel_check: called between the steps; what it raises ends the compaction without effect.

    Raises DiskError, ReadOnlyError: the disk refused; the tablet is as before; CorruptionError: a
    file is not what was written.
    """
    mark = services.history_mark(tablet.id)
    columns = tablet.retained_columns()
    _merge_in_memory(tablet, rowsets)
    with services.commit_lock:
        bound = bound_at(tablet.newest)
        current = [current_rowset(tablet, rowset.id) for rowset in rowsets]
        inputs = [
            CompactionInput(
                rowset, rowset.base.column_once, columns, tablet.key_encoder, bound, mark
            )
            for rowset in current
            if rowset is not None
        ]
    if not inputs:
        return CompactionResult()

    for source in cancellable(inputs, cancel_check):
        source.load()
    piece = services.piece_bytes
    rows = _rows_per_rowset(inputs, target_bytes or services.rowset_bytes, 2 * piece)
    with staging(tablet.files) as staged:
        writer = RollingRowSetWriter(tablet, columns, staged, rows, cancel_check)
        slices = key_slices(inputs, _SLICE_ROWS, piece)
        ordinals = _merge(inputs, slices, tablet.schema.key_ids, mark, writer, cancel_check)
        moved = [
            MovedRows(store, new_ordinals)
            for source, new_ordinals in zip(inputs, ordinals, strict=True)
            for store in source.rowset.tracker.stores
        ]
        metas = _swap(LateChanges(tablet, writer, moved, bound), inputs, staged, services)
    rows_in = sum(source.rowset.meta.rows for source in inputs)
    return CompactionResult(rows_in, writer.rows, len(inputs), len(metas))


def _merge_in_memory(tablet: Tablet, rowsets: Sequence[DiskRowSet]) -> None:
    """Let stores merge the changes they have, so that little is left while commits wait."""
    for rowset in rowsets:
        current = current_rowset(tablet, rowset.id)
        for store in () if current is None else current.tracker.stores:
            store.deltas()


def _rows_per_rowset(
    inputs: Sequence[CompactionInput], target_bytes: int, most_decoded: int
) -> int:
    """Rows that make outputs of one size, none above the target, and no column of any too large."""
    rows = sum(source.rowset.meta.rows for source in inputs)
    size = sum(source.rowset.meta.total_size for source in inputs)
    columns = inputs[0].columns
    widest = max(sum(source.column_bytes(column) for source in inputs) for column in columns)
    outputs = max(1, -(-size // max(1, target_bytes)), -(-widest // most_decoded))
    return max(1, -(-rows // outputs))


def _merge(
    inputs: Sequence[CompactionInput],
    slices: Iterable[Sequence[tuple[int, int]]],
    key_ids: Sequence[int],
    mark: SnapshotBound,
    writer: RollingRowSetWriter,
    cancel_check: CancelCheck,
) -> Sequence[Ordinals]:
    """Merge everything into the writer; `slices`: see `key_slices`.

    Returns for each input, the place of each of its rows among all rows written, -1 for none.
    """
    ordinals = [np.full(source.rowset.meta.rows, -1, np.int64) for source in inputs]
    written = 0
    counter = progress.counter("compacting rowsets", sum(map(len, ordinals)))
    for ranges in cancellable(slices, cancel_check):
        inputs_left = [i for i, (start, stop) in enumerate(ranges) if start < stop]
        rows = [inputs[i].read(*ranges[i]) for i in cancellable(inputs_left, cancel_check)]
        spliced = splice(rows, key_ids, mark)
        for i, local in zip(inputs_left, spliced.ordinals, strict=True):
            start, stop = ranges[i]
            counter.add(stop - start)
            ordinals[i][start:stop] = np.where(local >= 0, local + written, -1)
        writer.append(spliced.rows)
        written += len(spliced.rows.keys)
    writer.finish()
    return ordinals


def _swap(
    late: LateChanges,
    inputs: Sequence[CompactionInput],
    staged: StagedFiles,
    services: TabletServices,
) -> Sequence[RowSetMeta]:
    """Let the outputs take the inputs' place."""
    tablet, input_rowsets = late.tablet, [source.rowset for source in inputs]
    with published(late, staged, services, "compaction") as metas:
        edit = TabletEdit(tablet.id, rowsets=metas, dropped=[rowset.id for rowset in input_rowsets])
        record_edit(tablet, edit, services)
        tablet.replace_rowsets(input_rowsets, tablet.open_rowsets(metas))
    for rowset in input_rowsets:
        retire_files(tablet.files, rowset, ())
    return metas
