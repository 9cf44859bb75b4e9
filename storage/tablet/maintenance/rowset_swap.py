"""Swapping DiskRowSets for others with the same rows and other files.

What delta compactions and the collection of history end with: files are published, and then, under
the commit lock, one manifest edit names them and forgets the old, and the tablet's components are
swapped. The DeltaMemStores go over to the new rowset as they are, so writers notice nothing;
readers that hold the old rowset go on with its files, which are unlinked once nobody reads them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import rowset_of
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta, TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices


def record_edit(tablet: Tablet, edit: TabletEdit, services: TabletServices) -> None:
    """Let the manifest name rowsets, whose files are published. The caller holds the commit lock.

    Raises InterfaceError, ReadOnlyError: nothing may be written any more, and the files are not
    named; DiskError: the disk refused; it may be that they are, and the next opening judges that.
    """
    services.check_writable()
    tablet.files.note_named(edit.files)
    services.record(edit)


def current_rowset(tablet: Tablet, rowset_id: int) -> DiskRowSet | None:
    """The DiskRowSet of an id as the tablet has it now, or None."""
    return rowset_of(rowset_id, tablet.components.tree.rowsets)


def swap_rowsets(
    tablet: Tablet,
    changes: Sequence[tuple[DiskRowSet, RowSetMeta | None]],
    staged: StagedFiles,
    services: TabletServices,
    point: str,
) -> None:
    """Swap rowsets for those that their new metadata describe.

    The log needs no sync before: everything in the new files was in published files already.

    Args:
        tablet: theirs; the caller holds its maintenance lock.
        changes: rowsets of its components, and what each becomes; None for one that goes.
        staged: files that the metadata name and that are not published yet.
        point: prefix of the fault points.

    Raises DiskError, ReadOnlyError: the disk refused; the tablet is as before.
    """
    if staged:
        tablet.files.publish(staged, point)
    with services.commit_lock:
        new_metas = [meta for _, meta in changes if meta is not None]
        dropped = [rowset.id for rowset, meta in changes if meta is None]
        record_edit(tablet, TabletEdit(tablet.id, rowsets=new_metas, dropped=dropped), services)
        fresh = [_reopen(tablet, rowset, meta) for rowset, meta in changes if meta is not None]
        tablet.replace_rowsets([rowset for rowset, _ in changes], fresh)
    for rowset, meta in changes:
        retire_files(tablet.files, rowset, () if meta is None else meta.files)


def _reopen(tablet: Tablet, rowset: DiskRowSet, meta: RowSetMeta) -> DiskRowSet:
    """The rowset with other files; files that stay are shared, and so are the DeltaMemStores."""
    open_files = {file.meta.number: file for file in rowset.tracker.files}
    tracker = replace(
        rowset.tracker,
        undo=_open_deltas(tablet.files, meta, meta.undo, open_files),
        redo=_open_deltas(tablet.files, meta, meta.redo, open_files),
    )
    if meta.overlays == rowset.meta.overlays:
        return rowset.with_deltas(tracker, meta)
    path = tablet.files.path("base", meta.base)
    base = tablet.files.open_base(meta, tablet.schema.key_columns, path)
    return DiskRowSet.of(meta, base, tracker)


def _open_deltas(
    files: TabletFiles,
    meta: RowSetMeta,
    undo_files: Sequence[DeltaFileMeta],
    open_files: Mapping[int, DeltaFile],
) -> tuple[DeltaFile, ...]:
    return tuple(open_files.get(m.number) or files.open_delta(m, meta.rows) for m in undo_files)


def retire_files(
    files: TabletFiles, rowset: DiskRowSet, live_files: Collection[tuple[str, int]]
) -> None:
    """Let go of a rowset's files, which the manifest does not name any more.

    `rowset`: as its readers hold it; `live_files`: kind and number of those that stay.
    """
    tracker: DeltaTracker = rowset.tracker
    users: dict[int, object] = {file.meta.number: file for file in tracker.files}
    for kind, number in rowset.meta.files:
        if (kind, number) not in live_files:
            files.retire(kind, number, users.get(number, rowset.base))
