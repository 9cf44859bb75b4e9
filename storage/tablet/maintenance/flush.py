"""Flush: bringing a MemRowSet or a DeltaMemStore to disk.

In phases, as Kudu does it (`docs/design-docs/tablet.md`, "Handling concurrent updates"), so
that writers go on meanwhile:

1. Under the commit lock a fresh store takes over. Outside it, what was committed up to that moment
   is written: rows by key in their latest image, UNDO deltas that lead back, a REDO delta for each
   row deleted last; a slice of the keys at a time.
2. Mutations that reached the old MemRowSet meanwhile are written as one more REDO file, and the
   files are published (see `publication`).
3. Under the lock again, one manifest edit makes them exist, and the components are swapped.

The log is fsynced before the manifest edit: a file must never show a commit that a crash can still
undo.
"""

from collections.abc import Container

import numpy as np
import numpy.typing as npt

from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.cancellation import CancelCheck, cancellable, never_cancelled
from pykudu_sql.storage.common.row_allowance import rows_within
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.tablet.delta.delta_store import between, select
from pykudu_sql.storage.tablet.delta.delta_tracker import visible_redo
from pykudu_sql.storage.tablet.files.delta_flush import (
    begin_flush,
    finish_flush,
    write_stores,
)
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles, staging
from pykudu_sql.storage.tablet.history.row_slice import ColumnGather, ColumnsInMemory, RowSlice
from pykudu_sql.storage.tablet.history.undo_builder import build_history, remap
from pykudu_sql.storage.tablet.maintenance.publication import LateChanges, MovedRows, published
from pykudu_sql.storage.tablet.maintenance.rowset_output import RollingRowSetWriter
from pykudu_sql.storage.tablet.maintenance.rowset_swap import record_edit
from pykudu_sql.storage.tablet.rowset.locator import TabletComponents
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices

# How many times smaller a rowset usually is on disk than in memory.
_USUAL_RATIO = 4
_SLICE_ROWS = 1 << 19


def flush_memrowset(
    tablet: Tablet, services: TabletServices, cancel_check: CancelCheck = never_cancelled
) -> None:
    """Flush the MemRowSet, and any that an earlier flush left. The caller holds the
    tablet's maintenance lock.

    A flush that is cancelled leaves the MemRowSet to be flushed by the next one.
    """
    with services.commit_lock:
        old = tablet.components
        if len(old.memrowset):
            flushing = (*old.flushing, old.memrowset)
            tablet.components = TabletComponents(tablet.new_memrowset(), flushing, old.tree)
    for memrowset in tablet.components.flushing:
        _flush_one(tablet, memrowset, services, cancel_check)


def _flush_one(
    tablet: Tablet, memrowset: MemRowSet, services: TabletServices, cancel_check: CancelCheck
) -> None:
    with services.commit_lock:
        bound = bound_at(memrowset.newest)
    with staging(tablet.files) as staged:
        writer, new_ordinals = _write_rowsets(
            tablet, memrowset, bound, staged, services, cancel_check
        )
        late = LateChanges(tablet, writer, [MovedRows(memrowset.deltas, new_ordinals)], bound)
        with published(late, staged, services, "flush") as metas:
            edit = TabletEdit(tablet.id, rowsets=metas, durable_memrowset=memrowset.id)
            record_edit(tablet, edit, services)
            old = tablet.components
            tablet.components = TabletComponents(
                old.memrowset,
                tuple(m for m in old.flushing if m is not memrowset),
                old.tree.replace((), tablet.open_rowsets(metas)),
            )
            tablet.durable_memrowset = max(tablet.durable_memrowset, memrowset.id)


def _write_rowsets(
    tablet: Tablet,
    memrowset: MemRowSet,
    bound: SnapshotBound,
    staged: StagedFiles,
    services: TabletServices,
    cancel_check: CancelCheck,
) -> tuple[RollingRowSetWriter, npt.NDArray[np.int64]]:
    """Write the rows committed below a bound, at least one, and their history, a slice at a time.

    Returns:
        The writer of the new rowsets, and for each ordinal in the MemRowSet its place among all
        rows written.
    """
    mark = services.history_mark(tablet.id)
    schema = tablet.retained_columns()
    rows = memrowset.by_key(bound)
    count = len(rows)
    new_ordinals = np.empty(count, np.int64)
    new_ordinals[rows.ordinals] = np.arange(count, dtype=np.int64)
    times = memrowset.insertion_times(count)[rows.ordinals]
    deltas = remap(visible_redo(memrowset.deltas.deltas(), bound), new_ordinals)
    writer: RollingRowSetWriter | None = None
    counter = progress.counter("flushing memory", count)
    step = rows_within(services.piece_bytes, memrowset.memory / count, _SLICE_ROWS)
    for start in cancellable(range(0, count, step), cancel_check):
        stop = min(start + step, count)
        part = rows.part(start, stop)
        history = build_history(
            memrowset.inserted(cancellable(schema, cancel_check), part.ordinals),
            tablet.schema.key_ids,
            times[start:stop],
            between(deltas, start, stop),
            tablet.types,
        )
        died = np.zeros(stop - start, np.uint64)
        died[history.redo.ordinals] = history.redo.timestamps
        undo = select(history.undo, history.undo.timestamps >= np.uint64(mark))
        if writer is None:
            in_memory = sum(values.nbytes for values in history.columns.values()) * count // stop
            most = min(_USUAL_RATIO * services.rowset_bytes, 2 * services.piece_bytes)
            outputs = max(1, -(-in_memory // most))
            writer = RollingRowSetWriter(tablet, schema, staged, -(-count // outputs), cancel_check)
        image = ColumnGather([ColumnsInMemory(history.columns)], None)
        writer.append(RowSlice(part.keys, image, undo, died, np.zeros_like(died)))
        counter.add(stop - start)
    assert writer is not None
    writer.finish()
    return writer, new_ordinals


def flush_delta_stores(
    tablet: Tablet, services: TabletServices, cancel_check: CancelCheck = never_cancelled
) -> None:
    """Flush the DeltaMemStore of every rowset as a REDO file, and those that an earlier flush left.

    The caller holds the tablet's maintenance lock. The files are published together, by one edit.
    A flush that fails or is cancelled leaves the stores to be flushed by the next one.
    """
    flush_stores_of({r.id for r in tablet.components.tree.rowsets}, tablet, services, cancel_check)


def flush_stores_of(
    rowset_ids: Container[int],
    tablet: Tablet,
    services: TabletServices,
    cancel_check: CancelCheck = never_cancelled,
) -> bool:
    """The same for some rowsets; whether there was anything to flush."""
    with services.commit_lock:
        selected = [r for r in tablet.components.tree.rowsets if r.id in rowset_ids]
        changed = [r for r in selected if len(r.tracker.memory)]
        flushing = [begin_flush(rowset, tablet.types) for rowset in changed]
        tablet.replace_rowsets(changed, flushing)
    rowsets = tablet.components.tree.rowsets
    waiting = [r for r in rowsets if r.id in rowset_ids and r.tracker.flushing]
    with staging(tablet.files) as staged:
        mark = services.history_mark(tablet.id)
        written = [
            (rowset, write_stores(tablet.files, rowset, tablet.types, mark, staged, cancel_check))
            for rowset in cancellable(waiting, cancel_check)
        ]
        cancel_check()
        if not written:
            return False
        # Everything in the files was committed before they were begun, so none of this need hold
        # up the commits that come now.
        services.sync_log()
        tablet.files.publish(staged, "flush_deltas")
        with services.commit_lock:
            edit = TabletEdit(tablet.id, rowsets=[meta for _, meta in written])
            record_edit(tablet, edit, services)
            flushed = [finish_flush(tablet.files, rowset, meta) for rowset, meta in written]
            tablet.replace_rowsets([rowset for rowset, _ in written], flushed)
    return True
