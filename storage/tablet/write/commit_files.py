"""The files that the commit of a transaction brings to one tablet, and what they do to its rowsets.

Rowsets of a bulk insert are new. Delta files of a very large UPDATE or DELETE make their rowset
another one of the same id. They are newer than all that the tablet has of this rowset in memory,
which therefore becomes files before them, and so does what the transaction itself changed there
before. Nothing of it is part of the tablet before `swap_in`.

The files get their names before the commit lock is taken (`publish_ahead`). Under it only that is
still written which other commits changed in the same rowsets since.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING, NOTHING, Timestamp
from pykudu_sql.storage.tablet.delta.delta_collapse import collapse
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta, DeltaStats
from pykudu_sql.storage.tablet.delta.delta_store import merge_redo
from pykudu_sql.storage.tablet.delta.deltafile import REDO, DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.files.delta_flush import begin_flush, finish_flush, write_stores
from pykudu_sql.storage.tablet.files.staged_files import (
    StagedFiles,
    discard_files,
    open_staged_deltas,
    write_deltas,
)
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta, TabletEdit
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.write.own_mutations import OwnMutations
from pykudu_sql.storage.tablet.write.staged_changes import StagedPart


class CommitFiles:
    """Files of one transaction for one tablet. Used by one thread at a time.

    Attributes:
        staged: rowsets written for the transaction; their keys are known to be new.
        changed: what becomes of rowsets of the tablet; none before `publish`.
        changes: statistics of the delta files; none before `publish`.
        deltas: the delta files, and those that became superfluous.
    """

    def __init__(self, tablet: Tablet, own: OwnMutations) -> None:
        """No files. `own`: the transaction's changes, some in files."""
        self.staged: list[DiskRowSet] = []
        self.changed: list[DiskRowSet] = []
        self.changes: list[DeltaStats] = []
        self.deltas: StagedFiles = []
        self._replaced_rowsets: list[DiskRowSet] = []
        self._from_memory: StagedFiles = []
        self._tablet = tablet
        self._own = own

    def __bool__(self) -> bool:
        return bool(self.staged) or self.changes_rowsets

    @property
    def changes_rowsets(self) -> bool:
        """Whether there are files of changes."""
        return any(own.filed for own in self._own.deltas.values())

    @property
    def changed_ids(self) -> Collection[int]:
        """The ids of the rowsets that the files of changes are for."""
        return [rowset_id for rowset_id, own in self._own.deltas.items() if own.filed]

    def publish_ahead(self, rowsets: Sequence[DiskRowSet]) -> None:
        """Give the files their names, durably; nothing names what is in them yet.

        `rowsets`: the tablet's; the caller holds the maintenance lock where there are files of
        changes. Raises DiskError: the disk refused.
        """
        files = self._tablet.files
        metas = [rowset.meta for rowset in self.staged]
        deltas = [file for rowset in (*self.staged, *rowsets) for file in self._filed(rowset)]
        names = [("base", meta.base) for meta in metas]
        files.publish([*names, *((REDO, file.meta.number) for file in deltas)], "bulk")
        for file in deltas:
            file.move_to(files.path(REDO, file.meta.number))
        self.staged = list(self._tablet.open_rowsets(metas))

    def publish(self, rowsets: Sequence[DiskRowSet], timestamp: Timestamp) -> TabletEdit:
        """Publish what is not published yet, and describe all of it as of the commit of a time.

        Args:
            rowsets: the tablet's; the caller holds the commit lock and, where there are files of
                changes, the maintenance lock.
            timestamp: of the commit.

        Returns what the manifest must record before they exist. Raises DiskError: the disk refused.
        """
        tablet, files = self._tablet, self._tablet.files
        new = [
            replace(rowset.meta, inserted_at=timestamp, redo=self._own_files(rowset, timestamp))
            for rowset in self.staged
        ]
        names = [name for meta in new for name in meta.files]
        replaced_rowsets = [rowset for rowset in rowsets if self._own.filed(rowset.id)]
        flushing = [begin_flush(rowset, tablet.types) for rowset in replaced_rowsets]
        metas = [self._with_changes(rowset, timestamp) for rowset in flushing]
        for rowset, meta in zip(flushing, metas, strict=True):
            names += [(REDO, file.number) for file in meta.redo[len(rowset.meta.redo) :]]
        files.publish(names, "bulk")
        self.staged = list(tablet.open_rowsets(new))
        self.changed = [finish_flush(files, *pair) for pair in zip(flushing, metas, strict=True)]
        self._replaced_rowsets = replaced_rowsets
        edit = TabletEdit(tablet.id, rowsets=[*new, *metas])
        files.note_named(edit.files)
        return edit

    def _with_changes(self, rowset: DiskRowSet, timestamp: Timestamp) -> RowSetMeta:
        """The metadata of a rowset with what memory has of it in files, and then the changes."""
        tablet = self._tablet
        meta = write_stores(tablet.files, rowset, tablet.types, NOTHING, self.deltas)
        return replace(meta, redo=(*meta.redo, *self._own_files(rowset, timestamp)))

    def _own_files(self, rowset: DiskRowSet, timestamp: Timestamp) -> tuple[DeltaFileMeta, ...]:
        metas = tuple(file.meta.committed(timestamp) for file in self._filed(rowset))
        self.changes += [meta.stats for meta in metas]
        return metas

    def _filed(self, rowset: DiskRowSet) -> Sequence[DeltaFile]:
        """The files of changes of a rowset; what was in memory before one of them becomes one."""
        tablet = self._tablet
        for index, layer in enumerate(self._own.filed(rowset.id)):
            if isinstance(layer, DeltaMemStore):
                merged = merge_redo([run.deltas for run in layer.current()])
                deltas = collapse(merged, EVERYTHING)
                flushing = len(self.deltas)
                for meta in write_deltas(tablet.files, self.deltas, REDO, deltas, tablet.types):
                    file = open_staged_deltas(tablet.files, meta, rowset.meta.rows)
                    self._own.deltas[rowset.id].layers[index] = file
                self._from_memory += self.deltas[flushing:]
        return [file for file in self._own.filed(rowset.id) if isinstance(file, DeltaFile)]

    def swap_in(self) -> None:
        """Make what was published part of the tablet. The caller holds the commit lock."""
        self._tablet.replace_rowsets(self._replaced_rowsets, (*self.staged, *self.changed))

    def discard_all(self) -> None:
        """Remove all files, as a rollback does, but for those that the manifest may name."""
        for rowset in self.staged:
            self.discard(rowset)
        self.staged = []
        discard_files(self._tablet.files, self.deltas)

    def discard_from_memory(self) -> None:
        """Remove the files of what was in memory, which is written anew."""
        discard_files(self._tablet.files, self._from_memory)

    def discard(self, rowset: DiskRowSet) -> None:
        """Remove the files of a rowset that was written for the transaction and is not to stay."""
        rowset.base.close()
        self._tablet.files.discard("base", rowset.meta.base)

    def discard_changes(self, parts: Sequence[StagedPart]) -> None:
        """Remove the files of changes that are not to stay."""
        numbers = [number for part in parts for number in part.file_numbers]
        discard_files(self._tablet.files, [(REDO, number) for number in numbers])
