"""Letting go of tables, range partitions and columns that no readable snapshot sees any more.

A dropped table stays readable AS OF earlier moments, and so do dropped range partitions and
columns. Once the ancient history mark has passed, one edit of the manifest forgets the states of
the table that ended before it. Tablets that are in no state left are purged: their files go like
those of a compaction's inputs, when nobody reads them any more, and the log's records of them are
passed over by replay. Columns that are in no state left are written no more, so the next
compactions get rid of them.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.commit.history import History
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.tablet.maintenance.rowset_swap import retire_files
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_host import TabletHost


@dataclass(frozen=True, slots=True)
class PurgeHost:
    """What purging needs of the store.

    Attributes:
        env: the disk.
        root: the database directory.
        host: commit lock and log.
        history: hands out marks.
        state: what the manifest says.
        record: appends an edit to the manifest.
        last_sequence: of the write-ahead log.
        tablets: by UUID; purged ones are taken out.
    """

    env: Env
    root: str
    host: TabletHost
    history: History
    state: Callable[[], StoreState]
    record: Callable[[dict[str, Any]], None]
    last_sequence: Callable[[], int]
    tablets: dict[str, Tablet]


class HistoryPurge:
    """Forgets what is ancient in the catalog. Safe for threads."""

    def __init__(self, host: PurgeHost) -> None:
        """Nothing was purged yet."""
        self._host = host
        self._folders: list[str] = []
        self._running = threading.Lock()

    def run(self) -> int:
        """Forget states of tables that ended before the mark.

        Returns:
            How many tablets were purged.

        Raises:
            DiskError, ReadOnlyError: the disk refused.
        """
        with self._running:
            purged = 0
            due = self._due()
            if due:
                with self._tablets_at_rest(due), self._host.host.commit_lock:
                    purged = self._forget(due)
            return purged

    def remove_folders(self) -> None:
        """Remove the folders of purged tablets whose files are gone.

        Raises:
            DiskError: the disk refused.
        """
        env = self._host.env
        with self._running:
            for folder in list(self._folders):
                if not env.list_dir(folder):
                    env.remove_tree(folder, point="purge.remove_tablet")
                    self._folders.remove(folder)

    def _due(self) -> dict[str, SnapshotBound]:
        """The tables that have a state to forget, and their marks."""
        ends = self._host.state().history.first_ends
        marks = {table_id: self._host.history.mark(table_id) for table_id in ends}
        return {table_id: mark for table_id, mark in marks.items() if ends[table_id] < mark}

    @contextmanager
    def _tablets_at_rest(self, due: Mapping[str, SnapshotBound]) -> Iterator[None]:
        """A block in which no maintenance of the tablets that are to go is under way."""
        history = self._host.state().history
        going = history.owners.keys() - history.forget(due).owners.keys()
        with ExitStack() as locks:
            for tablet_id in sorted(going):
                locks.enter_context(self._host.tablets[tablet_id].maintenance_lock)
            yield

    def _forget(self, due: Mapping[str, SnapshotBound]) -> int:
        """Record what goes, and let go of it. The caller holds the commit lock."""
        host = self._host
        sequence = host.last_sequence()
        # A table that was brought back meanwhile is not ancient any more.
        ends = host.state().history.first_ends
        marks = {i: mark for i, mark in due.items() if ends.get(i, mark) < mark}
        host.host.sync_log()
        host.record({"op": "forget", "marks": marks, "sequence": sequence})
        history = host.state().history
        purged = [tablet_id for tablet_id in host.tablets if tablet_id not in history.owners]
        for tablet_id in purged:
            self._retire(host.tablets.pop(tablet_id))
        versions = history.versions()
        for table_id in marks.keys() & versions.keys():
            schemas = [version.schema for version in versions[table_id]]
            for tablet_id in {info.id for v in versions[table_id] for info in v.tablets}:
                host.tablets[tablet_id].retain_columns(schemas)
        return len(purged)

    def _retire(self, tablet: Tablet) -> None:
        for rowset in tablet.components.tree.rowsets:
            retire_files(tablet.files, rowset, ())
        self._folders.append(layout.tablet_directory(self._host.root, tablet.id))
