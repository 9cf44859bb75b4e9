"""The files of one tablet: numbers, paths, identities, and how a file is opened.

A file is written under `tmp/`, fsynced, renamed to its place, and exists once the manifest names
it. Numbers are never reused, so neither is a cache key.
"""

import threading
from collections.abc import Mapping, Sequence

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.container import FileIdentity
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile, DeltaFileMeta
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet, OverlayFile
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.file_reaper import FileReaper
from pykudu_sql.storage.tablet.rowset.tablet_metadata import RowSetMeta


class TabletFiles:
    """Names and opens the files of one tablet. Safe for threads.

    Attributes:
        root: the database's folder.
        tablet_id: a UUID.
        cache: the database's block cache.
        files_written: how many files were published since the start.
    """

    def __init__(
        self,
        env: Env,
        root: str,
        database_id: bytes,
        tablet_id: str,
        cache: BlockCache,
        reaper: FileReaper,
    ) -> None:
        """Files of a tablet whose folder exists."""
        self.env = env
        self.root = root
        self.tablet_id = tablet_id
        self.cache = cache
        self._database_id = database_id
        self._reaper = reaper
        self.files_written = 0
        self._next_number = 1
        self._lock = threading.Lock()

    def reserve(self, number: int) -> None:
        """Never hand out a number up to and including this one."""
        with self._lock:
            self._next_number = max(self._next_number, number + 1)

    def new_number(self) -> int:
        """A file number not used before."""
        with self._lock:
            number = self._next_number
            self._next_number += 1
            return number

    def identity(self, kind: str, number: int) -> FileIdentity:
        """What the checksums of a file cover besides its bytes."""
        return FileIdentity(self._database_id, self.tablet_id, kind, number)

    def path(self, kind: str, number: int) -> str:
        """Where a published file lies."""
        return layout.tablet_file_path(
            self.root, self.tablet_id, number, layout.TabletFileKind(kind)
        )

    def staging_path(self, kind: str, number: int) -> str:
        """Where a file is written before it is published."""
        return layout.temporary_path(self.root, f"{self.tablet_id}-{number}.{kind}")

    def publish(self, files: Sequence[tuple[str, int]], point: str) -> None:
        """Rename finished files to their places and make that durable.

        `files`: kinds and numbers; `point`: the fault point's prefix.
        """
        for kind, number in files:
            source, target = self.staging_path(kind, number), self.path(kind, number)
            self.env.rename(source, target, point=f"{point}.rename")
        with self._lock:
            self.files_written += len(files)
        folder = layout.tablet_directory(self.root, self.tablet_id)
        self.env.sync_dir(folder, point=f"{point}.sync_dir")

    def discard(self, kind: str, number: int) -> None:
        """Remove a file that was written, if it was never published."""
        path = self.staging_path(kind, number)
        if self.env.exists(path):
            self.env.unlink(path, point="tablet.discard")

    def retire(self, kind: str, number: int, user: object) -> None:
        """Remove a published file that the manifest does not name any more, once `user`, the
        CFileSet or DeltaFile that reads it, is gone."""
        self._reaper.retire(self.path(kind, number), user)

    def open_base(
        self, meta: RowSetMeta, key_columns: Sequence[ColumnSchema], path: str
    ) -> CFileSet:
        """The base image of a rowset."""
        identity = self.identity("base", meta.base)
        overlays = [
            OverlayFile(
                self.path("base", overlay.base),
                self.identity("base", overlay.base),
                frozenset(overlay.column_ids),
            )
            for overlay in meta.overlays
        ]
        return CFileSet(self.env, path, identity, key_columns, meta.rows, self.cache, overlays)

    def open_delta(self, meta: DeltaFileMeta, rows: int) -> DeltaFile:
        """A published delta file of a rowset of so many rows."""
        path = self.path(meta.kind, meta.number)
        identity = self.identity(meta.kind, meta.number)
        return DeltaFile(self.env, path, identity, meta, rows, self.cache)

    def open_rowset(
        self,
        meta: RowSetMeta,
        key_columns: Sequence[ColumnSchema],
        types: Mapping[int, DataType],
        path: str | None = None,
    ) -> DiskRowSet:
        """A rowset as the manifest describes it.

        Args:
            meta: the description.
            key_columns: of the table.
            types: of all columns, grown by ALTER TABLE.
            path: of the base file, when it is not published yet.
        """
        base = self.open_base(meta, key_columns, path or self.path("base", meta.base))
        tracker = DeltaTracker(
            undo=tuple(self.open_delta(m, meta.rows) for m in meta.undo),
            redo=tuple(self.open_delta(m, meta.rows) for m in meta.redo),
            flushing=(),
            memory=DeltaMemStore(meta.durable_delta_store + 1, types),
            inserted_at=meta.inserted_at,
        )
        return DiskRowSet.of(meta, base, tracker)
