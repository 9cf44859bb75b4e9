"""Flushing the DeltaMemStores of one rowset: what is in memory becomes REDO files, in three steps.

A fresh store takes over, the old ones are written, and a rowset with these files takes the place of
the one that had the stores. A flush does that for all rowsets of a tablet; a commit that brings
delta files of its own does it for the rowsets that these are for, since what memory has of them is
older.
"""

from collections.abc import Mapping
from dataclasses import replace

from pykudu_sql.storage.common.cancellation import CancelCheck, cancellable, never_cancelled
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.tablet.delta.delta_collapse import collapse
from pykudu_sql.storage.tablet.delta.deltafile import REDO
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles, write_deltas
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta


def begin_flush(rowset: DiskRowSet, types: Mapping[int, DataType]) -> DiskRowSet:
    """A rowset whose changes go to a fresh store, the old one on its way to disk.

    One whose store is empty stays as it is.
    """
    memory = rowset.tracker.memory
    if not len(memory):
        return rowset
    return rowset.with_deltas(rowset.tracker.begin_flush(DeltaMemStore(memory.id + 1, types)))


def write_stores(
    files: TabletFiles,
    rowset: DiskRowSet,
    types: Mapping[int, DataType],
    mark: SnapshotBound,
    staged: StagedFiles,
    cancel_check: CancelCheck = never_cancelled,
) -> RowSetMeta:
    """Write a rowset's stores that are on their way to disk.

    Args:
        files: of the tablet.
        rowset: of `begin_flush`.
        types: of all columns.
        mark: what only snapshots below it see is left out.
        staged: takes the files.
        cancel_check: called between them; what it raises ends the flush.

    Returns the metadata that name the files. Raises DiskError: the disk refused.
    """
    meta = rowset.meta
    for store in cancellable(rowset.tracker.flushing, cancel_check):
        redo = write_deltas(files, staged, REDO, collapse(store.deltas(), mark), types)
        meta = replace(meta, redo=(*meta.redo, *redo), durable_delta_store=store.id)
    return meta


def finish_flush(files: TabletFiles, rowset: DiskRowSet, meta: RowSetMeta) -> DiskRowSet:
    """A rowset whose stores that were on their way to disk are files, the newest that `meta` names.

    `files`: of the tablet.
    """
    fresh = meta.redo[len(rowset.meta.redo) :]
    opened = tuple(files.open_delta(file, meta.rows) for file in fresh)
    return rowset.with_deltas(rowset.tracker.finish_flush(opened), meta)
