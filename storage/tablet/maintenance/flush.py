"""Flush: bringing a MemRowSet or a DeltaMemStore to disk.

In two phases, as Kudu does it (`docs/design-docs/tablet.md`, "Handling concurrent updates"), so
that writers go on meanwhile:

1. Under the commit lock a fresh store takes over. Outside it, what was committed up to that moment
   is written: sorted rows in their latest image, UNDO deltas that lead back, a REDO delta for each
   row deleted last.
2. Under the lock again, mutations that reached the old MemRowSet meanwhile are written as one more
   REDO file, the files are published, one manifest edit makes them exist, and the components are
   swapped.

The log is fsynced before the manifest edit: a file must never show a commit that a crash can still
undo.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.common.checkpoint import Checkpoint, checked, go_on
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.tablet.delta.delta_store import collapse, select
from pykudu_sql.storage.tablet.delta.delta_tracker import visible_redo, visible_undo
from pykudu_sql.storage.tablet.delta.deltafile import REDO
from pykudu_sql.storage.tablet.history.row_slice import GatheredColumns, HeldColumns, RowSlice
from pykudu_sql.storage.tablet.history.undo_builder import build_history, remap
from pykudu_sql.storage.tablet.maintenance.rowset_output import RollingRowSetWriter, write_deltas
from pykudu_sql.storage.tablet.maintenance.rowset_swap import StagedFiles, staging
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import TabletComponents
from pykudu_sql.storage.tablet.rowset.memrowset import MemRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta, TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_host import TabletHost

# How many times smaller a rowset usually is on disk than in memory.
_USUAL_RATIO = 4


def flush_memrowset(tablet: Tablet, host: TabletHost, checkpoint: Checkpoint = go_on) -> None:
    """Flush the MemRowSet, and any that an earlier flush left. The caller holds the
    tablet's maintenance lock.

    A flush that ends at a checkpoint leaves the MemRowSet to be flushed by the next one.
    """
    with host.commit_lock:
        old = tablet.components
        if len(old.memrowset):
            flushing = (*old.flushing, old.memrowset)
            tablet.components = TabletComponents(tablet.new_memrowset(), flushing, old.tree)
    for memrowset in tablet.components.flushing:
        _flush_one(tablet, memrowset, host, checkpoint)


def _flush_one(
    tablet: Tablet, memrowset: MemRowSet, host: TabletHost, checkpoint: Checkpoint
) -> None:
    with host.commit_lock:
        bound = bound_at(memrowset.newest)
    with staging(tablet.files) as staged:
        writer, place = _write_rowsets(tablet, memrowset, bound, staged, host, checkpoint)
        host.sync_log()  # so that little is left to sync while commits wait
        with host.commit_lock:
            late = remap(visible_undo(memrowset.deltas.deltas(), bound), place)
            metas = writer.with_changes(late)
            host.sync_log()
            tablet.files.publish(staged, "flush")
            host.record(TabletEdit(tablet.id, rowsets=metas, durable_memrowset=memrowset.id))
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
    host: TabletHost,
    checkpoint: Checkpoint,
) -> tuple[RollingRowSetWriter, npt.NDArray[np.int64]]:
    """Write the rows committed below a bound, and their history.

    Returns:
        The writer of the new rowsets, and for each ordinal in the MemRowSet its place among all
        rows written.
    """
    mark = host.history_mark(tablet.id)
    count = memrowset.row_count(bound)
    schema = tablet.retained_columns()
    columns = {c.id: memrowset.column(c, count) for c in checked(schema, checkpoint)}
    keys = tablet.key_encoder.encode(columns)
    order = keys.argsort()
    place = np.empty(count, np.int64)
    place[order] = np.arange(count, dtype=np.int64)
    indices = pa.array(order)
    sorted_columns = {i: columns[i].take(indices) for i in checked(columns, checkpoint)}
    times = memrowset.insertion_times(count)[order]
    deltas = remap(visible_redo(memrowset.deltas.deltas(), bound), place)
    history = build_history(sorted_columns, tablet.schema.key_ids, times, deltas, tablet.types)
    died = np.zeros(count, np.uint64)
    died[history.redo.ordinals] = history.redo.timestamps
    undo = select(history.undo, history.undo.timestamps >= np.uint64(mark))
    in_memory = sum(values.nbytes for values in history.columns.values())
    outputs = max(1, -(-in_memory // (_USUAL_RATIO * host.rowset_bytes)))
    writer = RollingRowSetWriter(tablet, schema, staged, -(-count // outputs), checkpoint)
    image = GatheredColumns([HeldColumns(history.columns)], None)
    writer.append(RowSlice(keys.take(order), image, undo, died, np.zeros_like(died)))
    writer.finish()
    return writer, place


def flush_delta_stores(tablet: Tablet, host: TabletHost, checkpoint: Checkpoint = go_on) -> None:
    """Flush the DeltaMemStore of every rowset as a REDO file, and those that an earlier flush left.

    The caller holds the tablet's maintenance lock. The files are published together, by one edit.
    A flush that fails or ends at a checkpoint leaves the stores to be flushed by the next one.
    """
    with host.commit_lock:
        changed = [r for r in tablet.components.tree.rowsets if len(r.tracker.memory)]
        begun = [_with_fresh_store(tablet, rowset) for rowset in changed]
        tablet.replace_rowsets(changed, begun)
    waiting = [r for r in tablet.components.tree.rowsets if r.tracker.flushing]
    with staging(tablet.files) as staged:
        written = [
            (rowset, _write_stores(tablet, rowset, staged, host, checkpoint))
            for rowset in checked(waiting, checkpoint)
        ]
        checkpoint()
        if not written:
            return
        # Everything in the files was committed before they were begun, so none of this need hold
        # up the commits that come now.
        host.sync_log()
        tablet.files.publish(staged, "flush_deltas")
        with host.commit_lock:
            host.record(TabletEdit(tablet.id, rowsets=[meta for _, meta in written]))
            flushed = [_without_flushed(tablet, rowset, meta) for rowset, meta in written]
            tablet.replace_rowsets([rowset for rowset, _ in written], flushed)


def _with_fresh_store(tablet: Tablet, rowset: DiskRowSet) -> DiskRowSet:
    """A rowset whose changes go to a fresh store, the old one on its way to disk."""
    fresh = tablet.new_delta_store(rowset.tracker.memory.id + 1)
    return rowset.with_deltas(rowset.tracker.begin_flush(fresh))


def _write_stores(
    tablet: Tablet,
    rowset: DiskRowSet,
    staged: StagedFiles,
    host: TabletHost,
    checkpoint: Checkpoint,
) -> RowSetMeta:
    """Write a rowset's stores that are on their way to disk; the metadata that name the files."""
    meta, mark = rowset.meta, host.history_mark(tablet.id)
    for store in checked(rowset.tracker.flushing, checkpoint):
        files = write_deltas(tablet, staged, REDO, collapse(store.deltas(), mark))
        meta = replace(meta, redo=(*meta.redo, *files), durable_delta_store=store.id)
    return meta


def _without_flushed(tablet: Tablet, rowset: DiskRowSet, meta: RowSetMeta) -> DiskRowSet:
    """A rowset whose flushed stores are the files that its new metadata name."""
    fresh = meta.redo[len(rowset.meta.redo) :]
    opened = tuple(tablet.files.open_delta(file, meta.rows) for file in fresh)
    return rowset.with_deltas(rowset.tracker.finish_flush(opened), meta)
