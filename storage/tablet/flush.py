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

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.storage.tablet.delta_store import Deltas
from pykudu_sql.storage.tablet.delta_tracker import visible_redo, visible_undo
from pykudu_sql.storage.tablet.deltafile import DeltaFileMeta, write_delta_file
from pykudu_sql.storage.tablet.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.diskrowset_writer import write_base
from pykudu_sql.storage.tablet.locator import TabletComponents
from pykudu_sql.storage.tablet.memrowset import MemRowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_metadata import RowSetMeta, TabletEdit
from pykudu_sql.storage.tablet.undo_builder import build_history, remap


@dataclass(frozen=True, slots=True)
class TabletHost:
    """What maintenance needs of the store around a tablet.

    Attributes:
        commit_lock: held by whoever applies a commit or swaps components; re-entrant.
        sync_log: makes every commit applied so far durable.
        record: appends a tablet's edit to the manifest, durably.
        history_mark: the ancient history mark of a tablet, by its id: snapshots are read at this
            bound or above, and what only earlier ones need may go. 0 keeps everything.
    """

    commit_lock: AbstractContextManager[object]
    sync_log: Callable[[], None]
    record: Callable[[TabletEdit], None]
    history_mark: Callable[[str], int]


def flush_tablet(tablet: Tablet, host: TabletHost) -> int:
    """Flush everything a tablet holds in memory.

    Returns:
        The number of files written.

    Raises:
        DiskError, ReadOnlyError: the disk refused; the tablet goes on from memory.
    """
    with tablet.maintenance_lock:
        before = tablet.files.files_written
        flush_memrowset(tablet, host)
        for rowset in tablet.components.tree.rowsets:
            flush_delta_store(tablet, rowset, host)
        return tablet.files.files_written - before


def flush_memrowset(tablet: Tablet, host: TabletHost) -> None:
    """Flush the MemRowSet, and any that an earlier flush left. The caller holds the
    tablet's maintenance lock."""
    with host.commit_lock:
        old = tablet.components
        if len(old.memrowset):
            flushing = (*old.flushing, old.memrowset)
            tablet.components = TabletComponents(tablet.new_memrowset(), flushing, old.tree)
    for memrowset in tablet.components.flushing:
        _flush_one(tablet, memrowset, host)


def _flush_one(tablet: Tablet, memrowset: MemRowSet, host: TabletHost) -> None:
    with host.commit_lock:
        bound = memrowset.newest + 1
    meta, place = _write_rowset(tablet, memrowset, bound)
    published = [("base", meta.base), *((m.kind, m.number) for m in (*meta.undo, *meta.redo))]
    with host.commit_lock:
        late = visible_undo(memrowset.deltas.deltas(), bound)
        if len(late):
            redo = _write_deltas(tablet, "redo", remap(late, place))
            meta = replace(meta, redo=(*meta.redo, redo))
            published.append((redo.kind, redo.number))
        host.sync_log()
        tablet.files.publish(published, "flush")
        host.record(TabletEdit(tablet.id, rowsets=(meta,), durable_memrowset=memrowset.id))
        rowset = tablet.files.open_rowset(meta, tablet.schema.key_columns, tablet.types)
        old = tablet.components
        tablet.components = TabletComponents(
            old.memrowset,
            tuple(m for m in old.flushing if m is not memrowset),
            old.tree.replace((), (rowset,)),
        )
        tablet.durable_memrowset = max(tablet.durable_memrowset, memrowset.id)


def _write_rowset(
    tablet: Tablet, memrowset: MemRowSet, bound: int
) -> tuple[RowSetMeta, npt.NDArray[np.int64]]:
    """Write the rows committed below a bound, and their history.

    Returns:
        The new rowset, and for each ordinal in the MemRowSet that in the rowset.
    """
    count = memrowset.row_count(bound)
    schema = list(tablet.column_schemas.values())
    columns: Mapping[int, pa.Array] = {c.id: memrowset.column(c, count) for c in schema}
    keys = tablet.key_encoder.encode(columns)
    order = keys.argsort()
    place = np.empty(count, np.int64)
    place[order] = np.arange(count, dtype=np.int64)
    chosen = pa.array(order)
    sorted_columns = {i: values.take(chosen) for i, values in columns.items()}
    times = memrowset.insertion_times(count)[order]
    deltas = remap(visible_redo(memrowset.deltas.deltas(), bound), place)
    uniform = not len(deltas) and times[0] == times.max() == times.min()
    inserted_at = int(times[0]) if uniform else None
    rowset_id = tablet.new_rowset_id()
    if inserted_at is not None:
        return write_base(
            tablet.files, rowset_id, schema, sorted_columns, keys.take(order), inserted_at
        ), place
    history = build_history(sorted_columns, tablet.schema.key_ids, times, deltas, tablet.types)
    meta = write_base(tablet.files, rowset_id, schema, history.columns, keys.take(order), None)
    undo = (_write_deltas(tablet, "undo", history.undo),)
    redo = (_write_deltas(tablet, "redo", history.redo),) if len(history.redo) else ()
    return replace(meta, undo=undo, redo=redo), place


def _write_deltas(tablet: Tablet, kind: str, deltas: Deltas) -> DeltaFileMeta:
    files = tablet.files
    number = files.new_number()
    path = files.staging_path(kind, number)
    return write_delta_file(files.env, path, files.identity(kind, number), deltas, tablet.types)


def flush_delta_store(tablet: Tablet, rowset: DiskRowSet, host: TabletHost) -> None:
    """Flush a rowset's DeltaMemStore as a REDO file, and any that an earlier flush left. The
    caller holds the tablet's maintenance lock."""
    with host.commit_lock:
        store = rowset.tracker.memory
        if len(store):
            rowset.tracker = rowset.tracker.begin_flush(tablet.new_delta_store(store.id + 1))
    for store in rowset.tracker.flushing:
        file = _write_deltas(tablet, "redo", store.deltas())
        with host.commit_lock:
            host.sync_log()
            tablet.files.publish([(file.kind, file.number)], "flush_deltas")
            meta = replace(
                rowset.meta, redo=(*rowset.meta.redo, file), durable_delta_store=store.id
            )
            host.record(TabletEdit(tablet.id, rowsets=(meta,)))
            rowset.meta = meta
            rowset.tracker = rowset.tracker.finish_flush(store, tablet.files.open_delta(file))
