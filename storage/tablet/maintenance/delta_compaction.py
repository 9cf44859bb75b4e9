"""Delta compactions: fewer REDO files, and REDO deltas brought into the base image.

Kudu's `tablet/delta_compaction.cc`, explained in `docs/design-docs/compaction.md` there. Row ids
stay, so nothing that addresses rows notices. Only REDO files take part; the DeltaMemStores remain
as they are, and writers go on meanwhile.

- A *minor* compaction merges a rowset's REDO files into one.
- A *major* compaction brings the updates of some columns into new CFiles of these columns, laid
  over the base file, and writes UNDO deltas that lead back. DELETEs and the updates of other
  columns stay behind as REDO:

      base   REDO files                  base + overlay    UNDO            REDO
      a b c  @5 a=2, @6 b=9, @7 DELETE   a=2 (b) (c)       @5 a was 1      @6 b=9, @7 DELETE

For each column by itself time runs on through UNDO files, base image, REDO files and memory, so a
snapshot at any time is read as before. Updates that no snapshot at or above the ancient history
mark can distinguish from later ones are left out on the way, and so are those of columns that are
gone.

Both hold what they merge in memory. Where texts are more than a piece (`TabletServices`), a merging
compaction of the one rowset takes their place: it reads a slice at a time, and leaves rowsets of
which each is small enough.

Each major compaction makes one more UNDO file. When there are a few, it takes the newest ones in
while they are small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.container import ContainerWriter
from pykudu_sql.storage.common.cancellation import CancelCheck, never_cancelled
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.tablet.delta.delta_applier import apply_patch
from pykudu_sql.storage.tablet.delta.delta_collapse import collapse
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_store import (
    Deltas,
    merge_redo,
    merge_undo,
    select,
    winners,
    without_columns,
)
from pykudu_sql.storage.tablet.delta.deltafile import REDO, UNDO, DeltaFile
from pykudu_sql.storage.tablet.files.staged_files import StagedFiles, staging, write_deltas
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.history.undo_builder import undo_of_updates
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.diskrowset_writer import write_columns
from pykudu_sql.storage.tablet.maintenance.rowset_swap import (
    current_rowset,
    swap_rowsets,
)
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import Overlay
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices

MIN_UNDO_FILES = 4
# About 10 MB of narrow rows; a compaction holds as many in memory a few times.
MOST_UNDO_RECORDS = 1 << 19


def compact_redo(
    tablet: Tablet,
    rowset: DiskRowSet,
    services: TabletServices,
    cancel_check: CancelCheck = never_cancelled,
) -> int:
    """Merge a rowset's REDO files into one (minor delta compaction).

    Args:
        tablet: the rowset's; the caller holds its maintenance lock.
        rowset: as of now or of before, it is found by its id.
        cancel_check: called between steps; what it raises leaves the tablet as before.

    Returns how many files the one stands for; 0 when there was nothing to merge. Raises DiskError,
    ReadOnlyError: the disk refused; the tablet is as before; CorruptionError: a file is not what
    was written.
    """
    current = current_rowset(tablet, rowset.id)
    if current is None or len(current.tracker.redo) < 2:
        return 0
    if _text_bytes(current.tracker.redo) > services.piece_bytes:
        compact_rowsets(tablet, [current], services, cancel_check=cancel_check)
        return len(current.tracker.redo)
    merged = _merged(tablet, current.tracker.redo, services.history_mark(tablet.id))
    cancel_check()
    with staging(tablet.files) as staged:
        redo = write_deltas(tablet.files, staged, REDO, merged, tablet.types)
        meta = replace(current.meta, redo=redo)
        cancel_check()
        swap_rowsets(tablet, [(current, meta)], staged, services, "minor")
    return len(current.tracker.redo)


def compact_major(
    tablet: Tablet,
    rowset: DiskRowSet,
    column_ids: Sequence[int],
    services: TabletServices,
    cancel_check: CancelCheck = never_cancelled,
) -> int:
    """Bring the updates that REDO files hold for some columns into the base image.

    Args:
        tablet: the rowset's; the caller holds its maintenance lock.
        rowset: as of now or of before, it is found by its id.
        column_ids: the columns; those without updates on disk are passed over.
        cancel_check: called between steps; what it raises leaves the tablet as before.

    Returns how many columns were written anew; 0 when none of them had updates on disk. Raises
    DiskError, ReadOnlyError: the disk refused; the tablet is as before; CorruptionError: a file is
    not what was written.
    """
    current = current_rowset(tablet, rowset.id)
    columns = [] if current is None else _updated(tablet, current, column_ids)
    if current is None or not columns:
        return 0
    texts = [column for column in columns if column.type.is_variable]
    rewritten = sum(map(current.base.decoded_bytes, texts)) + _text_bytes(current.tracker.redo)
    if rewritten > 2 * services.piece_bytes:
        compact_rowsets(tablet, [current], services, cancel_check=cancel_check)
        return len(columns)
    ids = tuple(column.id for column in columns)
    mark = services.history_mark(tablet.id)
    merged = _merged(tablet, current.tracker.redo, mark)
    cancel_check()
    moved = _move_forward(current, columns, merged, mark)
    old = current.meta
    with staging(tablet.files) as staged:
        overlay = _write_overlay(tablet.files, staged, columns, moved.columns, cancel_check)
        absorbed = undo_to_absorb(old.undo, len(moved.undo))
        way_back = _with_older(tablet, moved.undo, current.tracker.undo[:absorbed], mark)
        undo = write_deltas(tablet.files, staged, UNDO, way_back, tablet.types)
        cancel_check()
        left = without_columns(merged, ids)
        redo = write_deltas(tablet.files, staged, REDO, left, tablet.types)
        meta = replace(
            old,
            overlays=(*_uncovered(old.overlays, ids), overlay),
            undo=(*undo, *old.undo[absorbed:]),
            redo=redo,
        )
        cancel_check()
        swap_rowsets(tablet, [(current, meta)], staged, services, "major")
    return len(ids)


@dataclass(frozen=True, slots=True)
class _Moved:
    """Columns after their updates, and the way back in UNDO order."""

    columns: Mapping[int, pa.Array]
    undo: Deltas


def _text_bytes(files: Sequence[DeltaFile]) -> int:
    """What the texts of all deltas take in memory."""
    return sum(file.cell_bytes(i) for file in files for i in file.meta.stats.updates)


def _updated(
    tablet: Tablet, rowset: DiskRowSet, column_ids: Sequence[int]
) -> Sequence[ColumnSchema]:
    """Those of some columns that REDO files update, each once."""
    changed = {i for file in rowset.meta.redo for i in file.stats.updates if i in column_ids}
    return [column for column in tablet.retained_columns() if column.id in changed]


def _merged(tablet: Tablet, redo: Sequence[DeltaFile], mark: SnapshotBound) -> Deltas:
    """All of a rowset's REDO deltas on disk that still mean something."""
    return collapse(_retained(tablet, merge_redo([file.deltas() for file in redo])), mark)


def _move_forward(
    rowset: DiskRowSet, columns: Sequence[ColumnSchema], redo: Deltas, mark: SnapshotBound
) -> _Moved:
    before = {c.id: rowset.base.column(c, 0, rowset.meta.rows) for c in columns}
    after = {c.id: apply_patch(before[c.id], 0, winners(redo, c.id), c.type) for c in columns}
    return _Moved(after, undo_of_updates(redo, before, mark))


def undo_to_absorb(files: Sequence[DeltaFileMeta], records: int) -> int:
    """How many of a rowset's UNDO files the next one takes in, those of the newest.

    Once there are a few, those are taken in that are not much larger, so their number grows with
    the logarithm of the records, and each record is written anew so often. Files that would come to
    more than `MOST_UNDO_RECORDS` stay: what they lead back to becomes ancient file by file.
    `files`: newest first; `records`: of the next one.
    """
    absorbed = 0
    if not records or len(files) < MIN_UNDO_FILES:
        return absorbed
    for file in files:
        if file.stats.records > 2 * records or records + file.stats.records > MOST_UNDO_RECORDS:
            break
        records += file.stats.records
        absorbed += 1
    return absorbed


def _with_older(tablet: Tablet, undo: Deltas, older: Sequence[DeltaFile], mark: int) -> Deltas:
    """UNDO deltas with those of older files, as far back as a mark."""
    if not older:
        return undo
    merged = merge_undo([undo, *(file.deltas() for file in older)])
    recent = select(merged, merged.timestamps >= np.uint64(mark))
    return _retained(tablet, recent)


def _retained(tablet: Tablet, deltas: Deltas) -> Deltas:
    """Deltas of the columns that some snapshot may still read."""
    retained = {column.id for column in tablet.retained_columns()}
    return without_columns(deltas, set(deltas.cells) - retained)


def _uncovered(overlays: Sequence[Overlay], column_ids: Sequence[int]) -> Sequence[Overlay]:
    """Overlays with just the columns that are not among those written anew."""
    narrowed = [
        replace(overlay, column_ids=tuple(i for i in overlay.column_ids if i not in column_ids))
        for overlay in overlays
    ]
    return [overlay for overlay in narrowed if overlay.column_ids]


def _write_overlay(
    files: TabletFiles,
    staged: StagedFiles,
    columns: Sequence[ColumnSchema],
    values: Mapping[int, pa.Array],
    cancel_check: CancelCheck,
) -> Overlay:
    """Write and fsync a file of newer CFiles in the staging folder."""
    number = files.new_number()
    staged.append(("base", number))
    path, identity = files.staging_path("base", number), files.identity("base", number)
    with ContainerWriter(files.env, path, identity, "overlay.write") as writer:
        write_columns(writer, columns, values, cancel_check)
        size = writer.finish({"rows": len(values[columns[0].id])})
    return Overlay(number, tuple(column.id for column in columns), size)
