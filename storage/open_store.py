"""What a store that writes and a store that reads have in common: an open database directory.

`begin` gives transactions, and the methods here change the catalog and bring memory to disk. In a
store that only reads, what would change the database raises ReadOnlyError.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from pykudu_sql.storage.catalog.table_info import new_table
from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.common.cancellation import never_cancelled
from pykudu_sql.storage.common.memory_budget import Holder, MemoryBudget, shares_of
from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.errors import InterfaceError, TableChangedError
from pykudu_sql.storage.fs.lease import Lease
from pykudu_sql.storage.fs.machine_memory import usable_memory
from pykudu_sql.storage.fs.process import current_process
from pykudu_sql.storage.store_services import StoreResources
from pykudu_sql.storage.upkeep.statement_log import StatementLog

if TYPE_CHECKING:
    from pykudu_sql.storage.catalog.alter import AlterStep
    from pykudu_sql.storage.catalog.catalog import Catalog
    from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
    from pykudu_sql.storage.catalog.table_info import TableInfo
    from pykudu_sql.storage.catalog.tablet_spans import TabletSpan
    from pykudu_sql.storage.commit.committer import Committer
    from pykudu_sql.storage.commit.definitions import Definitions
    from pykudu_sql.storage.commit.history import History
    from pykudu_sql.storage.commit.log_retention import LogRetention
    from pykudu_sql.storage.common.cancellation import CancelCheck
    from pykudu_sql.storage.common.partition.partition import PartitionSchema
    from pykudu_sql.storage.common.rows.row_operation import RowOpKind
    from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, StatementTime, Timestamp
    from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
    from pykudu_sql.storage.common.types.table_properties import Properties
    from pykudu_sql.storage.common.types.types import Cell
    from pykudu_sql.storage.fs.env import Env
    from pykudu_sql.storage.fs.lease import Position
    from pykudu_sql.storage.ingest.auto_increment import AutoIncrement
    from pykudu_sql.storage.maintenance.manager import MaintenanceManager
    from pykudu_sql.storage.store_options import StoreOptions
    from pykudu_sql.storage.store_services import StoreServices
    from pykudu_sql.storage.tablet.tablet import Tablet
    from pykudu_sql.storage.transaction.row_writer import Choose, RowWriter
    from pykudu_sql.storage.transaction.transaction import Transaction
    from pykudu_sql.storage.upkeep.introspection import ColumnFileInfo, RowSetInfo
    from pykudu_sql.storage.upkeep.key_trace import KeyTrace
    from pykudu_sql.storage.upkeep.on_demand import OptimizeReport, VacuumReport


def store_resources(env: "Env", path: str, options: "StoreOptions") -> StoreResources:
    """What a store of a directory begins with."""
    pool = ThreadPool(options.threads or os.cpu_count() or 1, "pykudu-scan")
    cache = BlockCache(options.block_cache_bytes)
    shares = shares_of(
        options.memory_limit or usable_memory(),
        options.block_cache_bytes,
        options.write_memory_bytes,
        options.engine_memory_bytes or None,
    )
    budget = MemoryBudget(shares)
    budget.measure_with(Holder.BLOCK_CACHE, lambda: cache.used)
    return StoreResources(env, env.resolve(path), options, cache, budget, pool)


@cache
def _transaction_class() -> "type[Transaction]":
    """Loaded late: reading and writing rows is much code, which `SELECT 1` and SHOW do without."""
    from pykudu_sql.storage.transaction.transaction import Transaction

    return Transaction


@cache
def _row_writer_class() -> "type[RowWriter]":
    """Loaded by the first row that is a commit of its own."""
    from pykudu_sql.storage.transaction.row_writer import RowWriter

    return RowWriter


@cache
def _lookup_row() -> Callable[..., "tuple[Cell, ...] | None"]:
    """Loaded by the first row that is read by itself."""
    from pykudu_sql.storage.transaction.row_reader import lookup_row

    return lookup_row


class OpenStore(ABC):
    """An open database directory. Safe for threads.

    `options`: as opened; `budget`: who holds how much memory; `statements`: what was asked.
    """

    def __init__(self, resources: StoreResources, services: "StoreServices") -> None:
        """Serve a view. What is to be closed is given to `_closing` afterwards."""
        self.path = resources.path
        self.options = resources.options
        self.cache = resources.cache
        self.budget = resources.budget
        self.statements = StatementLog()
        self._resources = resources
        self._services = services
        self._process = current_process()
        self._closed = False
        self._closing = ExitStack()

    @abstractmethod
    def refresh(self) -> None:
        """Show what other processes have committed since, to transactions that begin from now on.

        A store that writes sees every commit anyhow. Raises CorruptionError: a file is not what was
        written; DiskError: the disk refused.
        """

    @abstractmethod
    def _position(self) -> "Position":
        """Of the manifest, whose files are read."""

    @property
    def history(self) -> "History":
        """How far back tables can be read."""
        return self._services.history

    @property
    def definitions(self) -> "Definitions":
        """Changes the catalog."""
        return self._services.definitions

    @property
    def auto_increment(self) -> "AutoIncrement":
        """The hidden counters of tables."""
        return self._services.auto_increment

    @property
    def maintenance(self) -> "MaintenanceManager":
        """Flushes, compacts and collects."""
        return self._services.maintenance

    @property
    def log_retention(self) -> "LogRetention":
        """Which part of the log is needed."""
        return self._services.log_retention

    @property
    def catalog(self) -> "Catalog":
        """The tables now."""
        return self._services.state.history.latest

    def catalog_at(self, bound: "SnapshotBound") -> "Catalog":
        """The tables that a snapshot of a bound sees."""
        return self._services.state.history.at(bound)

    def tablet_spans(
        self, table_id: str, low: "SnapshotBound", high: "SnapshotBound"
    ) -> tuple["TabletSpan", ...]:
        """The tablets that a table had at bounds from `low` to `high`; see `tablet_spans`.

        The history of the table is held from `low` on.
        """
        from pykudu_sql.storage.catalog.tablet_spans import tablet_spans

        return tablet_spans(self._services.state.history.by_table.get(table_id, ()), low, high)

    @property
    def tablets(self) -> dict[str, "Tablet"]:
        """All tablets by UUID, for introspection and maintenance."""
        return self._services.tablets

    @property
    def committer(self) -> "Committer":
        """The committer, for maintenance."""
        return self._services.committer

    @property
    def database_id(self) -> bytes:
        """The 16 bytes of the database's UUID."""
        return self._services.database_id

    def last_batch(self, writer: str) -> int:
        """The number of the last batch that a writer committed, -1 for none."""
        return self._services.state.writers.get(writer, -1)

    def take_lease(self) -> Lease | None:
        """A lease on the files of all rowsets from now on, None where it cannot be written down."""
        lease = Lease.take_if_possible(self._resources.env, self.path)
        if lease is not None:
            lease.move_to(self._position())
        return lease

    def now(self) -> "Timestamp":
        """A hybrid time after every commit that is visible, and before every later one."""
        return self._services.committer.clock.now()

    def pin(self) -> "Timestamp":
        """A timestamp that no later commit gets, even after a crash: see `Committer.pin`."""
        return self._services.committer.timestamps.pin()

    def begin(self) -> "Transaction":
        """A transaction at the newest snapshot.

        Raises InterfaceError: the store is closed; DiskError: what the newest snapshot has is not
        known, since the disk refused a commit and refused to take it back. Transactions that began
        before go on reading.
        """
        self._check_open()
        services = self._services
        changed = bound_at(services.state.history.latest.timestamp)
        if services.committer.mvcc.bound < changed:
            # A table is in the catalog a moment before its rows are visible.
            services.committer.timestamps.wait_until_readable(changed)
        new_transaction = _transaction_class()
        return new_transaction(services.transactions, services.history.snapshots.hold_newest())

    def _check_open(self) -> None:
        """See that a snapshot can be taken; for what is raised see `begin`."""
        if not self._process.is_current:
            self._process.check()
        if self._closed:
            raise InterfaceError(f"database '{self.path}' is closed")
        self._services.committer.check_readable()

    def read_row(
        self,
        catalog: "Catalog",
        table: "TableInfo",
        key: "tuple[Cell, ...]",
        columns: "Sequence[ColumnSchema]",
    ) -> "tuple[Cell, ...] | None":
        """One row at the newest snapshot, without a transaction; see `TransactionReads.lookup`.

        Args:
            catalog: that the table is of.
            table, key: which row.
            columns: of its cells.

        Raises TableChangedError: the newest snapshot has another catalog; InterfaceError,
        DiskError: see `begin`.
        """
        self._check_open()
        services = self._services
        hold = services.history.snapshots.hold_newest()
        if services.state.history.latest is not catalog or hold.bound <= catalog.timestamp:
            raise TableChangedError("tables were changed by another session meanwhile")
        lookup_row = _lookup_row()
        return lookup_row(services.tablets, table, key, columns, hold.bound)

    def write_row(
        self,
        table: "TableInfo",
        kind: "RowOpKind",
        cells: Mapping[int, "Cell"],
        time: "StatementTime | None" = None,
    ) -> int:
        """Do one operation on one row as a commit of its own; see `RowWriter.write`."""
        durable = self.options.durability == "full"
        writer = _row_writer_class()(self._services.transactions)
        return writer.write(table, kind, cells, durable, time)

    def change_row(
        self,
        table: "TableInfo",
        key: "tuple[Cell, ...]",
        column_ids: "Sequence[int]",
        choose: "Choose",
    ) -> int:
        """Do one operation that depends on the row, as a commit of its own; see `RowWriter`."""
        durable = self.options.durability == "full"
        writer = _row_writer_class()(self._services.transactions)
        return writer.change(table, key, column_ids, choose, durable)

    def wait_until_readable(self, bound: "SnapshotBound") -> None:
        """Make a bound in the past readable: no commit below it is on its way any more.

        Raises SnapshotInFutureError: the moment has not come yet.
        """
        self._services.committer.timestamps.wait_until_readable(bound)

    def create_table(
        self,
        name: str,
        schema: "Schema",
        partition_schema: "PartitionSchema",
        comment: str = "",
        properties: "Properties" = MappingProxyType({}),
        checks: tuple["CheckConstraint", ...] = (),
    ) -> "TableInfo":
        """Create a table.

        Raises DuplicateObjectError: the name is taken; InvalidSchemaError: the partition schema or
        a property does not fit.
        """
        table = new_table(name, schema, partition_schema, comment, properties, checks)
        return self.definitions.create_table(table)

    def drop_table(self, name: str, views: Sequence[str] = ()) -> None:
        """Drop a table; see `Definitions.drop_tables`."""
        self.definitions.drop_tables((name,), views)

    def drop_tables(self, names: Sequence[str], views: Sequence[str] = ()) -> None:
        """Drop tables at one moment; see `Definitions.drop_tables`."""
        self.definitions.drop_tables(names, views)

    def alter_table(self, name: str, steps: Sequence["AlterStep"]) -> "TableInfo":
        """Change a table, all steps or none; see `Definitions.alter_table`."""
        return self.definitions.alter_table(name, steps)

    def flush(self, name: str | None = None, cancel_check: "CancelCheck" = never_cancelled) -> int:
        """Bring a table's memory to disk, or all tables'; for `cancel_check` see `on_demand`.

        Returns the number of files written. Raises UndefinedTableError: no such table; DiskError,
        ReadOnlyError: the disk refused.
        """
        tables = self.catalog.tables.values() if name is None else [self.catalog.table(name)]
        return self.flush_tables(list(tables), cancel_check)

    def flush_tables(
        self, tables: Sequence["TableInfo"], cancel_check: "CancelCheck" = never_cancelled
    ) -> int:
        """The same for tables as a transaction sees them, whatever their names are now."""
        from pykudu_sql.storage.upkeep.on_demand import flush_tables

        self._services.committer.check_writable()
        return flush_tables(self.maintenance, tables, self._services.tablets, cancel_check)

    def optimize(
        self, name: str, full: bool = False, cancel_check: "CancelCheck" = never_cancelled
    ) -> "OptimizeReport":
        """Flush a table and compact what gains something, or if `full` everything; see `flush`.

        Raises UndefinedTableError: no such table; DiskError, ReadOnlyError: the disk refused.
        """
        from pykudu_sql.storage.upkeep.on_demand import optimize_table, rewrite_table

        self._services.committer.check_writable()
        do = rewrite_table if full else optimize_table
        return do(self.maintenance, self.catalog.table(name), self._services.tablets, cancel_check)

    def vacuum(
        self, name: str | None = None, cancel_check: "CancelCheck" = never_cancelled
    ) -> "VacuumReport":
        """Drop what only moments before the history mark need, of a table or of all; see `flush`.

        Raises UndefinedTableError: no such table; DiskError, ReadOnlyError: the disk refused.
        """
        from pykudu_sql.storage.upkeep.on_demand import vacuum_tablets

        self._services.committer.check_writable()
        infos = None if name is None else self.catalog.table(name).tablets
        purged = self._services.purge.run(cancel_check)
        tablets = self._services.tablets
        selected = tablets.values() if infos is None else [tablets[info.id] for info in infos]
        return replace(
            vacuum_tablets(self.maintenance, list(selected), cancel_check), tablets=purged
        )

    def rowset_infos(self, table: "TableInfo") -> "list[RowSetInfo]":
        """The rowsets of a table."""
        from pykudu_sql.storage.upkeep.introspection import rowset_infos

        return list(rowset_infos(table, self._services.tablets))

    def column_file_infos(self, table: "TableInfo") -> "list[ColumnFileInfo]":
        """The column files of a table."""
        from pykudu_sql.storage.upkeep.introspection import column_file_infos

        return list(column_file_infos(table, self._services.tablets))

    def trace_key(self, table: "TableInfo", key: tuple["Cell", ...]) -> "KeyTrace":
        """Where the row of a key lies. `key`: cells in key order."""
        from pykudu_sql.storage.upkeep.key_trace import trace_key

        return trace_key(table, self._services.tablets, key)

    def collect_files(self) -> int:
        """Unlink files that compactions replaced and nobody reads any more.

        Returns how many. Raises DiskError: the disk refused.
        """
        return self._services.purge.collect_files()

    def close(self) -> None:
        """Make everything durable and give the directory back. Closing twice is allowed.

        In a child forked from the process that opened it nothing happens.
        """
        if self._closed or not self._process.is_current:
            return
        self._closed = True
        # Threads and files go whatever ends the work before it, Ctrl-C included.
        with self._closing:
            self._services.committer.close()

    def _close_tablets(self) -> None:
        with ExitStack() as all_of_them:
            for tablet in self._services.tablets.values():
                all_of_them.callback(tablet.close)
