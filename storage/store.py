"""The store: a directory of tables, opened by one process at a time for writing.

Opening takes the lock, folds the manifest into catalog and tablets, replays the write-ahead
log, and removes files that nothing names. From then on `begin` gives transactions and the methods
here change the catalog; each change of the catalog is one manifest edit with a hybrid time of its
own, so it is atomic, durable, and seen AS OF later times only.
"""

import os
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from pykudu_sql.storage.alter import AlterStep, apply_steps
from pykudu_sql.storage.auto_increment import AutoIncrement
from pykudu_sql.storage.catalog import Catalog, TableInfo, TabletInfo
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.committer import Committer
from pykudu_sql.storage.common.hybrid_time import HybridClock, from_micros, to_micros
from pykudu_sql.storage.common.partition import PartitionSchema
from pykudu_sql.storage.common.row_operation import RowOpKind
from pykudu_sql.storage.common.schema import Schema, check_identifier
from pykudu_sql.storage.common.types import Cell
from pykudu_sql.storage.errors import InterfaceError, SnapshotInFutureError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env, FileLock
from pykudu_sql.storage.introspection import (
    ColumnFileInfo,
    RowSetInfo,
    column_file_infos,
    rowset_infos,
)
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from pykudu_sql.storage.maintenance import MaintenanceHost, MaintenanceManager
from pykudu_sql.storage.row_writer import RowWriter
from pykudu_sql.storage.store_state import StoreState
from pykudu_sql.storage.tablet.bootstrap import replay
from pykudu_sql.storage.tablet.file_reaper import FileReaper
from pykudu_sql.storage.tablet.flush import flush_tablet
from pykudu_sql.storage.tablet.mvcc import MvccManager
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_files import TabletFiles
from pykudu_sql.storage.tablet.tablet_metadata import TabletMetadata
from pykudu_sql.storage.transaction import Transaction
from pykudu_sql.storage.transaction_host import TransactionHost

MANIFEST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a store is opened.

    Attributes:
        read_only: refuse every write.
        block_cache_bytes: limit of decoded data kept in memory.
        threads: that scans and large inserts use.
        flush_bytes: a tablet holding more than this in memory is flushed in the background.
        durability: "full": a commit returns once it is durable; "normal": it becomes durable
            within a second; "off": when the operating system likes.
    """

    read_only: bool = False
    block_cache_bytes: int = 1 << 30
    threads: int = 0
    flush_bytes: int = 128 << 20
    durability: str = "full"


class Store:
    """An open database directory. Safe for threads.

    Attributes:
        path: of the directory.
        options: as opened.
        cache: decoded blocks.
    """

    def __init__(self, env: Env, path: str, options: StoreOptions) -> None:
        """Open a store, or make it where there is none.

        Args:
            env: the disk.
            path: of its directory.
            options: see there.

        Raises:
            LockedError: another process has it open for writing.
            FormatVersionError: a newer version wrote it.
            CorruptionError: a file is not what was written.
        """
        self.path = path = env.resolve(path)
        self.options = options
        self.cache = BlockCache(options.block_cache_bytes)
        self._env = env
        self._closed = False
        self._condensed = 0
        env.make_dir(path)
        self._file_lock: FileLock = env.lock(layout.lock_path(path))
        try:
            self._recover()
        except BaseException:
            self._file_lock.release()
            raise

    def _recover(self) -> None:
        env, path = self._env, self.path
        env.remove_tree(layout.temporary_directory(path), point="open.empty_tmp")
        env.make_dir(layout.temporary_directory(path))
        if env.exists(layout.current_path(path)):
            self._manifest = Manifest.open(env, path)
        else:
            self._manifest = Manifest.create(env, path, uuid.uuid4().bytes, [])
        self._database_id = self._manifest.database_id
        self._reaper = FileReaper(env, lambda path: True)
        self._state = StoreState()
        for edit in self._manifest.edits:
            self._state.fold(edit)
        self._tablets: dict[str, Tablet] = {}
        for versions in self._state.history.versions().values():
            self._open_tablets(versions)
        self._log = WriteAheadLog.open(
            env, layout.wal_directory(path), self._database_id, after=self._state.log_after
        )
        records = self._log.replay(self._state.log_after)
        newest = replay(self._tablets, records, self._state.commits)
        # Only now that log and manifest have been found to agree is anything thrown away.
        self._remove_orphans()
        newest = max([newest, self._state.newest, *(t.newest for t in self._tablets.values())])
        clock = HybridClock()
        clock.update(newest)
        self._committer = Committer(
            clock,
            MvccManager(clock.now()),
            self._log,
            self._record,
            self._manifest.check_writable,
            self.options.read_only,
            self.history_mark,
        )
        threads = self.options.threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="pykudu-scan")
        self._auto_increment = AutoIncrement(self._tablets)
        self._host = TransactionHost(
            self._tablets,
            self._committer,
            self._pool,
            self._table_now,
            self._auto_increment.reserve,
        )
        self._row_writer = RowWriter(self._host)
        self._maintenance = MaintenanceManager(
            MaintenanceHost(
                self._tablets,
                self._committer.host,
                self.options.flush_bytes,
                self.options.durability == "normal",
                self.collect_log,
                lambda: self._log.segment_count,
            )
        )
        self._maintenance.start()

    def _open_tablets(self, versions: Sequence[TableInfo]) -> None:
        schemas = [version.schema for version in versions]
        for version in versions:
            for tablet in version.tablets:
                self._open_tablet(tablet, schemas)

    def _open_tablet(self, info: TabletInfo, schemas: Sequence[Schema]) -> None:
        if info.id in self._tablets:
            return
        self._env.make_dir(layout.tablet_directory(self.path, info.id))
        files = TabletFiles(
            self._env, self.path, self._database_id, info.id, self.cache, self._reaper
        )
        metadata = self._state.tablets.get(info.id, TabletMetadata())
        self._tablets[info.id] = Tablet(files, schemas, metadata)

    def _remove_orphans(self) -> None:
        """Remove what a crash left that the manifest does not name."""
        root = layout.tablets_directory(self.path)
        if not self._env.exists(root):
            return
        for tablet_id in self._env.list_dir(root):
            folder = layout.tablet_directory(self.path, tablet_id)
            if tablet_id not in self._tablets:
                self._env.remove_tree(folder, point="open.remove_tablet")
                continue
            metadata = self._state.tablets.get(tablet_id, TabletMetadata())
            rowsets = metadata.rowsets.values()
            named = {f"{number}.{kind}" for meta in rowsets for kind, number in meta.files}
            for name in self._env.list_dir(folder):
                if name not in named:
                    self._env.unlink(f"{folder}/{name}", point="open.remove_orphan")

    def _record(self, edit: dict[str, Any]) -> None:
        """Append an edit to the manifest. The caller holds the commit lock."""
        with self._committer.lock:
            self._committer.check_writable()
            self._manifest.append(edit)
            self._state.fold(edit)
            if self._manifest.size > MANIFEST_BYTES and self._manifest.size > 4 * self._condensed:
                edits = list(self._state.condensed())
                self._manifest.rewrite(edits)
                self._condensed = self._manifest.size

    def _table_now(self, table_id: str) -> TableInfo | None:
        return self.catalog.by_id.get(table_id)

    @property
    def catalog(self) -> Catalog:
        """The tables now."""
        return self._state.history.latest

    def catalog_at(self, bound: int) -> Catalog:
        """The tables that a snapshot of a bound sees."""
        return self._state.history.at(bound)

    @property
    def tablets(self) -> dict[str, Tablet]:
        """All tablets by UUID, for introspection and maintenance."""
        return self._tablets

    @property
    def committer(self) -> Committer:
        """The committer, for maintenance."""
        return self._committer

    def now(self) -> int:
        """A hybrid time after every commit that is visible, and before every later one."""
        return self._committer.clock.now()

    def begin(self) -> Transaction:
        """A transaction at the newest snapshot."""
        if self._closed:
            raise InterfaceError(f"database '{self.path}' is closed")
        return Transaction(self._host, self._committer.mvcc.bound)

    def write_row(self, table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell]) -> int:
        """Do one operation on one row as a commit of its own; see `RowWriter.write`."""
        return self._row_writer.write(table, kind, cells, self.options.durability == "full")

    def settle(self, bound: int) -> None:
        """Make a bound in the past readable: no commit below it is on its way any more.

        Raises:
            SnapshotInFutureError: the moment has not come yet.
        """
        clock = self._committer.clock
        if bound > from_micros(to_micros(clock.now()) + 1):
            raise SnapshotInFutureError(
                "the moment asked for lies in the future", hint="AS OF takes a moment in the past"
            )
        if bound <= self._committer.mvcc.bound:
            return
        clock.update(bound)
        with self._committer.lock:
            pass  # a commit that had its time already is now known to MVCC; later ones lie behind
        self._committer.mvcc.wait_for(bound)

    def create_table(
        self, name: str, schema: Schema, partition_schema: PartitionSchema, comment: str = ""
    ) -> TableInfo:
        """Create a table.

        Raises:
            DuplicateObjectError: the name is taken.
            InvalidSchemaError: the partition schema does not fit.
        """
        check_identifier(name, "table")
        partition_schema.validate(schema)
        tablets = tuple(TabletInfo(str(uuid.uuid4()), p) for p in partition_schema.partitions())
        table = TableInfo(str(uuid.uuid4()), name, schema, partition_schema, tablets, comment)
        with self._committer.lock:
            self._committer.check_writable()
            timestamp = self._committer.clock.now()
            self.catalog.with_table(table, timestamp)
            self._change_catalog({"op": "table", "ts": timestamp, "table": table.to_json()})
        return self.catalog.table(name)

    def drop_table(self, name: str) -> None:
        """Drop a table; its rows stay readable AS OF earlier times.

        Raises:
            UndefinedTableError: no such table.
        """
        with self._committer.lock:
            self._committer.check_writable()
            table = self.catalog.table(name)
            timestamp = self._committer.clock.now()
            self._change_catalog({"op": "drop", "ts": timestamp, "table": table.id})

    def alter_table(self, name: str, steps: Sequence[AlterStep]) -> TableInfo:
        """Change a table, all steps or none.

        Raises:
            UndefinedTableError: no such table.
            ProgrammingError: a step breaks a rule.
        """
        with self._committer.lock:
            self._committer.check_writable()
            table = apply_steps(self.catalog.table(name), steps)
            timestamp = self._committer.clock.now()
            self.catalog.with_table(table, timestamp)
            self._change_catalog({"op": "table", "ts": timestamp, "table": table.to_json()})
        return self.catalog.table(table.name)

    def _change_catalog(self, edit: dict[str, Any]) -> None:
        """Record a change of the catalog. The caller holds the commit lock."""
        if edit["op"] == "table":
            table = TableInfo.from_json(edit["table"])
            for info in table.tablets:
                self._open_tablet(info, [table.schema])
                self._tablets[info.id].change_schema(table.schema)
        self._committer.sync()
        self._record(edit)
        self._committer.mvcc.publish(edit["ts"])

    def flush(self, name: str | None = None) -> int:
        """Bring a table's memory to disk, or all tables'.

        Returns:
            The number of files written.

        Raises:
            UndefinedTableError: no such table.
            DiskError, ReadOnlyError: the disk refused.
        """
        self._committer.check_writable()
        tables = self.catalog.tables.values() if name is None else [self.catalog.table(name)]
        host = self._committer.host
        written = sum(
            flush_tablet(self._tablets[info.id], host) for table in tables for info in table.tablets
        )
        self.collect_log()
        return written

    def rowset_infos(self, table: TableInfo) -> list[RowSetInfo]:
        """The rowsets of a table."""
        return list(rowset_infos(table, self._tablets))

    def column_file_infos(self, table: TableInfo) -> list[ColumnFileInfo]:
        """The column files of a table."""
        return list(column_file_infos(table, self._tablets))

    def collect_log(self) -> None:
        """Drop segments of the write-ahead log that nothing in memory needs any more."""
        with self._committer.lock:
            anchors = [t.anchor for t in self._tablets.values()]
            held = [anchor for anchor in anchors if anchor is not None]
            after = min(held, default=self._log.last_sequence + 1) - 1
            if after > self._state.log_after:
                self._record({"op": "log", "after": after})
                self._log.drop_before(after + 1)

    def collect_files(self) -> int:
        """Unlink files that compactions replaced and nobody reads any more.

        Returns:
            How many.

        Raises:
            DiskError: the disk refused.
        """
        return self._reaper.collect()

    def history_mark(self, tablet_id: str) -> int:
        """The ancient history mark of a tablet: what only snapshots below it need may go."""
        return 0

    def close(self) -> None:
        """Make everything durable and give the directory back. Closing twice is allowed."""
        if self._closed:
            return
        self._closed = True
        self._committer.close()
        with ExitStack() as last_to_first:
            last_to_first.callback(self._file_lock.release)
            for tablet in self._tablets.values():
                last_to_first.callback(tablet.close)
            last_to_first.callback(self._manifest.close)
            last_to_first.callback(self._log.close)
            last_to_first.callback(self._pool.shutdown)
            last_to_first.callback(self._maintenance.stop)
