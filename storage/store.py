"""The store: a directory of tables, opened by one process at a time for writing.

Opening takes the lock, folds the manifest into catalog and tablets, replays the write-ahead
log, and removes files that nothing names. From then on `begin` gives transactions and the methods
here change the catalog; each change of the catalog is one manifest edit with a hybrid time of its
own, so it is atomic, durable, and seen AS OF later times only.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pykudu_sql.storage.catalog.alter import AlterStep
from pykudu_sql.storage.catalog.catalog import Catalog, TableInfo, new_table
from pykudu_sql.storage.catalog.snapshots import SnapshotRegistry
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.commit.committer import Committer
from pykudu_sql.storage.commit.definitions import Definitions
from pykudu_sql.storage.commit.history import History
from pykudu_sql.storage.commit.history_purge import HistoryPurge, PurgeHost
from pykudu_sql.storage.commit.log_retention import LogRetention
from pykudu_sql.storage.common.checkpoint import Checkpoint, go_on
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import (
    HybridClock,
    SnapshotBound,
    Timestamp,
    bound_at,
    last_before,
)
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.table_properties import Properties
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.errors import DiskError, InterfaceError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.directory_check import check_directories
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.lease import Lease
from pykudu_sql.storage.fs.process import current_process
from pykudu_sql.storage.ingest.auto_increment import AutoIncrement
from pykudu_sql.storage.log.read_only_log import ReadOnlyLog
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from pykudu_sql.storage.maintenance.host import MaintenanceHost
from pykudu_sql.storage.maintenance.manager import MaintenanceManager
from pykudu_sql.storage.recovery.database_reader import DatabaseReader, TabletOpener, open_tablets
from pykudu_sql.storage.recovery.logs import open_logs
from pykudu_sql.storage.recovery.manifest_log import ManifestLog
from pykudu_sql.storage.recovery.orphans import remove_orphans
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.tablet.bootstrap import replay
from pykudu_sql.storage.tablet.rowset.file_reaper import FileReaper
from pykudu_sql.storage.tablet.rowset.mvcc import MvccManager
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.transaction.row_writer import RowWriter
from pykudu_sql.storage.transaction.transaction_host import TransactionHost

if TYPE_CHECKING:
    from pykudu_sql.storage.transaction.transaction import Transaction
    from pykudu_sql.storage.upkeep.introspection import ColumnFileInfo, RowSetInfo
    from pykudu_sql.storage.upkeep.on_demand import OptimizeReport, VacuumReport

__all__ = ["Store", "StoreOptions"]


class Store:
    """An open database directory. Safe for threads.

    Attributes:
        path: of the directory.
        options: as opened.
        cache: decoded blocks.
        history: how far back tables can be read.
        definitions: changes the catalog.
        auto_increment: the hidden counters of tables.
        maintenance: flushes, compacts and collects.
        log_retention: which part of the log is needed.
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
        self._process = current_process()
        self._closed = False
        self._tablets: dict[str, Tablet] = {}
        self._reader: DatabaseReader | None = None
        self._refreshing = threading.Lock()
        self._workers = options.threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._workers, "pykudu-scan")
        with ExitStack() as resources:
            if options.read_only:
                self._open_for_reading(resources)
            else:
                self._recover(resources)
            self._resources = resources.pop_all()

    def _open_for_reading(self, resources: ExitStack) -> None:
        self._reader = DatabaseReader(self._env, self.path, self.cache)
        resources.callback(self._reader.close)
        self._show(self._reader)
        resources.callback(self._close_tablets)
        resources.callback(self._pool.shutdown)

    def _show(self, reader: DatabaseReader) -> None:
        """Serve what a reader sees from here on; transactions that are open keep theirs."""
        self._database_id = reader.view.database_id
        self._state = reader.view.state
        self._tablets = dict(reader.view.tablets)
        self._serve(ReadOnlyLog(), None, reader.bound)

    def _recover(self, resources: ExitStack) -> None:
        env, path = self._env, self.path
        check_directories(env, path)
        env.make_dir(path)
        lock = env.lock(layout.lock_path(path))
        resources.callback(lock.release)
        env.remove_tree(layout.temporary_directory(path), point="open.empty_tmp")
        env.make_dir(layout.temporary_directory(path))
        logs = open_logs(env, path, self.options.log_segment_bytes)
        self._manifest, self._state, log = logs.manifest, logs.state, logs.log
        self._database_id = self._manifest.database_id
        self._reaper = FileReaper(env, path, lambda: self._manifest.position, self.cache.forget)
        self._opener = TabletOpener(env, path, self._database_id, self.cache, self._reaper)
        self._tablets = open_tablets(self._opener, self._state)
        for tablet_id in self._tablets:
            env.make_dir(layout.tablet_directory(path, tablet_id))
        state = self._state
        records = log.replay(state.log_after)
        newest = replay(self._tablets, records, state.commits, log.path_of, state.purged)
        # Only now that log and manifest have been found to agree is anything thrown away.
        remove_orphans(env, path, self._tablets, self._state.tablets)
        newest = max([newest, self._state.newest, *(t.newest for t in self._tablets.values())])
        logs.start_mark()
        lock.announce()  # readers heed DURABLE from here on: before, it was an earlier writer's
        self._serve(log, ManifestLog(self._manifest, self._state), bound_at(newest))
        resources.callback(self._close_tablets)
        resources.callback(logs.mark.close)
        resources.callback(self._manifest.close)
        resources.callback(self._committer.note_end)
        resources.callback(self._collect_last_files)
        resources.callback(log.close)
        resources.callback(self._pool.shutdown)
        resources.callback(self.maintenance.stop)
        self.maintenance.start()

    def _serve(
        self,
        log: WriteAheadLog | ReadOnlyLog,
        manifest: ManifestLog | None,
        bound: SnapshotBound,
    ) -> None:
        """Set up what transactions need over the tablets, all commits below a bound visible."""
        clock = HybridClock(self.options.wall)
        # A reader's "now" is not to be ahead: what it reads of the future could still change.
        clock.update(
            last_before(bound if self.options.read_only else max(bound, self._state.reserved))
        )
        mvcc = MvccManager(bound)
        self.history = History(clock, SnapshotRegistry(lambda: mvcc.bound), lambda: self._state)
        mark, rowset_bytes = self.history.mark_of_tablet, self.options.rowset_bytes
        self._committer = Committer(clock, mvcc, log, manifest, mark, rowset_bytes)
        self.auto_increment = AutoIncrement(self._tablets)
        self._host = TransactionHost(
            self._tablets,
            self._committer,
            self._pool,
            self._workers,
            lambda table_id: self.catalog.by_id.get(table_id),
            self.auto_increment,
            self.history,
        )
        self._row_writer = RowWriter(self._host)
        note = self._committer.note
        self.definitions = Definitions(
            self._committer,
            self.history,
            lambda: self._state,
            self._tablets,
            lambda info, schema: self._opener.make(info, schema),
        )
        self.log_retention = LogRetention(
            log, self._tablets, self._committer.lock, lambda: self._state.log_after, note
        )
        self._purge = HistoryPurge(
            PurgeHost(
                self._env,
                self.path,
                self._committer.host,
                self.history,
                lambda: self._state,
                note,
                lambda: log.last_sequence,
                self._tablets,
            )
        )
        self.maintenance = MaintenanceManager(
            MaintenanceHost(
                self._tablets,
                self._committer.host,
                lambda: self.catalog,
                self.log_retention,
                self.collect_files,
                self._purge.run,
                log.renew_mark,
                self.options,
            )
        )

    def refresh(self) -> None:
        """Show what other processes have committed since, to transactions that begin from now on.

        A store that writes sees every commit anyhow.

        Raises:
            CorruptionError: a file is not what was written.
            DiskError: the disk refused.
        """
        reader = self._reader
        if reader is None:
            return
        with self._refreshing:
            if not reader.has_changed():
                return
            view = reader.view
            reader.refresh()
            if reader.view is view:
                self._committer.clock.update(last_before(reader.bound))
                self._committer.mvcc.publish(last_before(reader.bound))
            else:
                self._show(reader)

    @property
    def catalog(self) -> Catalog:
        """The tables now."""
        return self._state.history.latest

    def catalog_at(self, bound: SnapshotBound) -> Catalog:
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

    @property
    def database_id(self) -> bytes:
        """The 16 bytes of the database's UUID."""
        return self._database_id

    def last_batch(self, writer: str) -> int:
        """The number of the last batch that a writer committed, -1 for none."""
        return self._state.writers.get(writer, -1)

    def take_lease(self) -> Lease | None:
        """A lease on the files of all rowsets from now on, None where it cannot be written down."""
        lease = Lease.take_if_possible(self._env, self.path)
        if lease is not None:
            lease.move_to((self._reader.view if self._reader else self._manifest).position)
        return lease

    def now(self) -> Timestamp:
        """A hybrid time after every commit that is visible, and before every later one."""
        return self._committer.clock.now()

    def pin(self) -> Timestamp:
        """The same to be kept by somebody: see `Committer.tell`."""
        return self._committer.pin()

    def begin(self) -> "Transaction":
        """A transaction at the newest snapshot.

        Raises:
            InterfaceError: the store is closed.
            DiskError: what the newest snapshot has is not known, since the
                disk refused a commit and refused to take it back. Transactions that began before go
                on reading.
        """
        # Reading and writing rows is much code, which `SELECT 1` and SHOW do without.
        from pykudu_sql.storage.transaction.transaction import Transaction

        self._process.check()
        if self._closed:
            raise InterfaceError(f"database '{self.path}' is closed")
        self._committer.check_readable()
        return Transaction(self._host, self.history.snapshots.hold_newest())

    def write_row(self, table: TableInfo, kind: RowOpKind, cells: Mapping[int, Cell]) -> int:
        """Do one operation on one row as a commit of its own; see `RowWriter.write`."""
        return self._row_writer.write(table, kind, cells, self.options.durability == "full")

    def wait_until_readable(self, bound: SnapshotBound) -> None:
        """Make a bound in the past readable: no commit below it is on its way any more.

        Raises:
            SnapshotInFutureError: the moment has not come yet.
        """
        self._committer.wait_until_readable(bound)

    def create_table(
        self,
        name: str,
        schema: Schema,
        partition_schema: PartitionSchema,
        comment: str = "",
        properties: Properties = MappingProxyType({}),
    ) -> TableInfo:
        """Create a table.

        Raises:
            DuplicateObjectError: the name is taken.
            InvalidSchemaError: the partition schema or a property does not fit.
        """
        table = new_table(name, schema, partition_schema, comment, properties)
        return self.definitions.create_table(table)

    def drop_table(self, name: str) -> None:
        """Drop a table; see `Definitions.drop_table`."""
        self.definitions.drop_table(name)

    def alter_table(self, name: str, steps: Sequence[AlterStep]) -> TableInfo:
        """Change a table, all steps or none; see `Definitions.alter_table`."""
        return self.definitions.alter_table(name, steps)

    def flush(self, name: str | None = None, checkpoint: Checkpoint = go_on) -> int:
        """Bring a table's memory to disk, or all tables'; for the checkpoint see `on_demand`.

        Returns:
            The number of files written.

        Raises:
            UndefinedTableError: no such table.
            DiskError, ReadOnlyError: the disk refused.
        """
        from pykudu_sql.storage.upkeep.on_demand import flush_tables

        self._committer.check_writable()
        tables = self.catalog.tables.values() if name is None else [self.catalog.table(name)]
        return flush_tables(self.maintenance, list(tables), self._tablets, checkpoint)

    def optimize(
        self, name: str, full: bool = False, checkpoint: Checkpoint = go_on
    ) -> "OptimizeReport":
        """Flush a table and compact what gains something, or if `full` everything; see `flush`.

        Raises:
            UndefinedTableError: no such table.
            DiskError, ReadOnlyError: the disk refused.
        """
        from pykudu_sql.storage.upkeep.on_demand import optimize_table, rewrite_table

        self._committer.check_writable()
        do = rewrite_table if full else optimize_table
        return do(self.maintenance, self.catalog.table(name), self._tablets, checkpoint)

    def vacuum(self, name: str | None = None, checkpoint: Checkpoint = go_on) -> "VacuumReport":
        """Drop what only moments before the history mark need, of a table or of all; see `flush`.

        Raises:
            UndefinedTableError: no such table.
            DiskError, ReadOnlyError: the disk refused.
        """
        from pykudu_sql.storage.upkeep.on_demand import vacuum_tablets

        self._committer.check_writable()
        infos = None if name is None else self.catalog.table(name).tablets
        purged = self._purge.run()
        chosen = self._tablets.values() if infos is None else [self._tablets[i.id] for i in infos]
        return replace(vacuum_tablets(self.maintenance, list(chosen), checkpoint), tablets=purged)

    def rowset_infos(self, table: TableInfo) -> "list[RowSetInfo]":
        """The rowsets of a table."""
        from pykudu_sql.storage.upkeep.introspection import rowset_infos

        return list(rowset_infos(table, self._tablets))

    def column_file_infos(self, table: TableInfo) -> "list[ColumnFileInfo]":
        """The column files of a table."""
        from pykudu_sql.storage.upkeep.introspection import column_file_infos

        return list(column_file_infos(table, self._tablets))

    def collect_files(self) -> int:
        """Unlink files that compactions replaced and nobody reads any more.

        Returns:
            How many.

        Raises:
            DiskError: the disk refused.
        """
        unlinked = self._reaper.collect()
        self._purge.remove_folders()
        return unlinked

    def _collect_last_files(self) -> None:
        """Unlink what compactions replaced; what the disk refuses to, the next opening does."""
        with suppress(DiskError):
            self._reaper.collect_last()
            self._purge.remove_folders()

    def close(self) -> None:
        """Make everything durable and give the directory back. Closing twice is allowed.

        In a child forked from the process that opened it nothing happens.
        """
        if self._closed or not self._process.is_current:
            return
        self._closed = True
        # Threads and files go whatever ends the work before it, Ctrl-C included.
        with self._resources:
            self._committer.close()

    def _close_tablets(self) -> None:
        with ExitStack() as all_of_them:
            for tablet in self._tablets.values():
                all_of_them.callback(tablet.close)
