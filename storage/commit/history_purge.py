"""Purging of tables, range partitions and columns that no readable snapshot sees any more.

A dropped table stays readable AS OF earlier moments, and so do dropped range partitions and
columns. Once the ancient history mark has passed, one edit of the manifest forgets the states of
the table that ended before it. Tablets that are in no state left are purged: their files go like
those of a compaction's inputs, when nobody reads them any more, and the log's records of them are
passed over by replay. Columns that are in no state left are written no more, so the next
compactions get rid of them.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from pykudu_sql.storage.common.cancellation import never_cancelled
from pykudu_sql.storage.common.ctrl_c import acquire_lock
from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs import layout

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.store_state import StoreState
    from pykudu_sql.storage.commit.committer import Committer
    from pykudu_sql.storage.commit.history import History
    from pykudu_sql.storage.common.cancellation import CancelCheck
    from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
    from pykudu_sql.storage.fs.env import Env
    from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
    from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
    from pykudu_sql.storage.tablet.files.file_reaper import FileReaper
    from pykudu_sql.storage.tablet.tablet import Tablet


class HistoryPurge:
    """Removes what is below the ancient history mark from the catalog. Safe for threads."""

    def __init__(
        self,
        env: "Env",
        root: str,
        reaper: "FileReaper",
        committer: "Committer",
        history: "History",
        state: "StoreState",
        log: "WriteAheadLog | ReadOnlyLog",
        tablets: dict[str, "Tablet"],
    ) -> None:
        """Nothing was purged yet.

        Args:
            reaper: has the files that the manifest names no more.
            committer: commit lock, log and manifest.
            tablets: by UUID; purged ones are taken out.
        """
        self._env = env
        self._root = root
        self._reaper = reaper
        self._committer = committer
        self._history = history
        self._state = state
        self._log = log
        self._tablets = tablets
        self._folders: list[str] = []
        self._running = threading.Lock()

    def run(self, cancel_check: "CancelCheck" = never_cancelled) -> int:
        """Forget states of tables that ended before the mark.

        `cancel_check`: called during the wait for maintenance of tablets that are to go; what it
        raises ends that. Returns how many tablets were purged. Raises DiskError, ReadOnlyError: the
        disk refused.
        """
        with self._running:
            purged = 0
            due = self._due()
            if due:
                with self._tablets_at_rest(due, cancel_check), self._committer.lock:
                    purged = self._forget(due)
            return purged

    def collect_files(self) -> int:
        """Unlink files that compactions replaced, or purged tablets had, and nobody reads any more.

        Returns how many. Raises DiskError: the disk refused.
        """
        unlinked = self._reaper.collect()
        self._remove_folders()
        return unlinked

    def collect_last_files(self) -> None:
        """Unlink all of them when nothing is read any more.

        What the disk refuses to unlink, the next opening does.
        """
        with suppress(DiskError):
            self._reaper.collect_last()
            self._remove_folders()

    def _remove_folders(self) -> None:
        """Remove the folders of purged tablets whose files are gone.

        Raises DiskError: the disk refused.
        """
        env = self._env
        with self._running:
            for folder in list(self._folders):
                if not env.list_dir(folder):
                    env.remove_tree(folder, point="purge.remove_tablet")
                    self._folders.remove(folder)

    def _due(self) -> dict[str, "SnapshotBound"]:
        """The tables that have a state to forget, and their marks."""
        ends = self._state.history.first_ends
        marks = {table_id: self._history.mark(table_id) for table_id in ends}
        return {table_id: mark for table_id, mark in marks.items() if ends[table_id] < mark}

    @contextmanager
    def _tablets_at_rest(
        self, due: Mapping[str, "SnapshotBound"], cancel_check: "CancelCheck"
    ) -> Iterator[None]:
        """A block in which no maintenance of the tablets that are to go is under way."""
        history = self._state.history
        going = history.owners.keys() - history.forget(due).owners.keys()
        with ExitStack() as locks:
            for tablet_id in sorted(going):
                lock = self._tablets[tablet_id].maintenance_lock
                locks.enter_context(acquire_lock(lock, cancel_check))
            yield

    def _forget(self, due: Mapping[str, "SnapshotBound"]) -> int:
        """Record the purge in the manifest, then remove the tablets.

        The caller holds the commit lock. The log needs no sync before: its records of purged
        tablets were durable when these were dropped, and a power loss may undo any other commit
        beside this edit.
        """
        sequence = self._log.last_sequence
        # A table that was brought back meanwhile is not ancient any more.
        ends = self._state.history.first_ends
        marks = {i: mark for i, mark in due.items() if ends.get(i, mark) < mark}
        self._committer.note({"op": "forget", "marks": marks, "sequence": sequence})
        history = self._state.history
        purged = [tablet_id for tablet_id in self._tablets if tablet_id not in history.owners]
        for tablet_id in purged:
            self._retire(self._tablets.pop(tablet_id))
        versions = history.versions()
        for table_id in marks.keys() & versions.keys():
            schemas = [version.schema for version in versions[table_id]]
            for tablet_id in {info.id for v in versions[table_id] for info in v.tablets}:
                self._tablets[tablet_id].retain_columns(schemas)
        return len(purged)

    def _retire(self, tablet: "Tablet") -> None:
        from pykudu_sql.storage.tablet.maintenance.rowset_swap import retire_files

        for rowset in tablet.components.tree.rowsets:
            retire_files(tablet.files, rowset, ())
        self._folders.append(layout.tablet_directory(self._root, tablet.id))
