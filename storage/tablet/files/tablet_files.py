"""The files of one tablet: numbers, paths, identities, and how a file is opened.

A file is written under `tmp/`, fsynced, renamed to its place, and exists once the manifest names
it. Numbers are never reused, so neither is a cache key. A file that no edit of the manifest may
name yet can be discarded wherever it lies; what a crash leaves of such files the next opening
removes (see `recovery.orphans`).
"""

import threading
from collections.abc import Iterable, Mapping, Sequence

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.container import FileIdentity
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.delta.deltafile import DeltaFile
from pykudu_sql.storage.tablet.delta.deltamemstore import DeltaMemStore
from pykudu_sql.storage.tablet.files.file_reaper import FileReaper
from pykudu_sql.storage.tablet.rowset.cfile_set import CFileSet, OverlayFile
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
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
        """Files of a tablet. None can be published before its folder exists."""
        self.env = env
        self.root = root
        self.tablet_id = tablet_id
        self.cache = cache
        self._database_id = database_id
        self._reaper = reaper
        self.files_written = 0
        self._next_number = 1
        self._unnamed: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def make_folder(self) -> None:
        """Make the place of published files, durably. Raises DiskError: the disk refused."""
        self.env.make_dir(layout.tablet_directory(self.root, self.tablet_id))

    def remove_folder(self) -> None:
        """Remove the folder after a failed creation. Raises DiskError: the disk refused."""
        folder = layout.tablet_directory(self.root, self.tablet_id)
        self.env.remove_tree(folder, point="tablet.remove_folder")

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

        `files`: kinds and numbers, those that were published before among them; `point`: the fault
        point's prefix.
        """
        fresh = [file for file in files if file not in self._unnamed]
        for kind, number in fresh:
            source, target = self.staging_path(kind, number), self.path(kind, number)
            self.env.rename(source, target, point=f"{point}.rename")
            with self._lock:
                self._unnamed.add((kind, number))
                self.files_written += 1
        if fresh:
            folder = layout.tablet_directory(self.root, self.tablet_id)
            self.env.sync_dir(folder, point=f"{point}.sync_dir")

    def note_named(self, files: Iterable[tuple[str, int]]) -> None:
        """Keep published files from being discarded: from now on the manifest may name them."""
        with self._lock:
            self._unnamed.difference_update(files)

    def discard(self, kind: str, number: int) -> None:
        """Remove a file that was written, unless the manifest may name it."""
        path = self.path(kind, number)
        with self._lock:
            published = (kind, number) in self._unnamed
            self._unnamed.discard((kind, number))
        if not published:
            path = self.staging_path(kind, number)
        if published or self.env.exists(path):
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
