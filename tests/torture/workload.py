"""The workload that every fault is tried on: all that touches the disk, each thing by itself.

A step that fails is followed by the next one, as a user would go on; a store that has become
read-only refuses them, and the checks in between tell whether it still reads right.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.maintenance.history_gc import collect_deleted_rowsets, collect_undo
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices
from tests.torture.ledger import BULK_TABLE, TABLE, Ledger

ROOT = "/db"
_INT = DataType(Kind.INT32)


def open_store(env: Env, root: str = ROOT) -> Store:
    """The store under torture; nothing happens in it but what the workload does."""
    store = Store(env, root, StoreOptions(threads=1, maintenance=False))
    store.maintenance.pause()
    return store


def run(env: Env, ledger: Ledger, root: str = ROOT) -> None:
    """Do the whole workload; a step refused by the disk is passed over.

    Raises:
        LostCommit, WrongRead: the store shows other rows than it should, in the middle of it.
        Error: the store cannot be opened.
    """
    for session in (_first_session, _second_session):
        store = open_store(env, root)
        try:
            for step in session(store, ledger):
                with contextlib.suppress(Error):
                    step()
            with contextlib.suppress(Error):
                ledger.check(store)
        finally:
            store.close()


Step = Callable[[], object]


def _first_session(store: Store, ledger: Ledger) -> Iterator[Step]:
    yield lambda: _create(store)
    yield lambda: ledger.write(store, RowOpKind.INSERT, [{0: i, 1: i} for i in range(8)])
    yield store.flush
    yield lambda: ledger.write(store, RowOpKind.UPDATE, [{0: i, 1: -i} for i in range(4)])
    yield lambda: ledger.write(store, RowOpKind.DELETE, [{0: 7}])
    yield store.flush
    yield lambda: ledger.write(store, RowOpKind.UPDATE, [{0: i, 1: 100 + i} for i in (0, 5)])
    added = ColumnSchema(0, "m", _INT)
    yield lambda: store.alter_table(TABLE, [AddColumn(added)])
    yield lambda: ledger.write(store, RowOpKind.UPDATE, [{0: i, 2: i} for i in (1, 2)])
    yield store.flush
    yield lambda: _each_tablet(store, _compact_redo)
    yield lambda: ledger.write(store, RowOpKind.UPSERT, [{0: 7, 1: 70}, {0: 20, 1: 20}])
    yield lambda: _each_tablet(store, _compact_major)
    yield store.flush
    yield lambda: _each_tablet(store, _compact_rowsets)
    yield store.collect_files
    yield lambda: ledger.write_with_bulk(store, RowOpKind.UPDATE, [{0: 3, 1: 33}])
    yield lambda: ledger.write(store, RowOpKind.INSERT, [{0: 100, 1: 1}, {0: 101, 1: 1}])


def _second_session(store: Store, ledger: Ledger) -> Iterator[Step]:
    yield lambda: ledger.write(store, RowOpKind.UPDATE, [{0: 0, 1: 70}, {0: 100, 1: 71}])
    yield store.flush
    yield lambda: store.drop_table(BULK_TABLE)
    yield lambda: store.alter_table(TABLE, [DropColumn("m")])
    yield lambda: ledger.write(store, RowOpKind.DELETE, [{0: i} for i in (100, 101)])
    yield store.flush
    yield lambda: _collect(store, ledger)
    yield store.collect_files
    yield store.log_retention.collect
    yield lambda: ledger.write(store, RowOpKind.UPSERT, [{0: 1, 1: 80}, {0: 200, 1: 81}])


def _create(store: Store) -> None:
    columns = [ColumnSchema(0, "id", _INT), ColumnSchema(0, "n", _INT)]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table(TABLE, create_schema(columns, ["id"]), partitions)
    store.create_table(BULK_TABLE, create_schema(columns[:1], ["id"]), partitions)


def _each_tablet(store: Store, work: Callable[[Tablet, TabletServices], object]) -> None:
    for info in store.catalog.table(TABLE).tablets:
        tablet = store.tablets[info.id]
        with tablet.maintenance_lock:
            work(tablet, store.committer.tablet_services)


def _compact_redo(tablet: Tablet, services: TabletServices) -> None:
    for rowset in tablet.components.tree.rowsets:
        compact_redo(tablet, rowset, services)


def _compact_major(tablet: Tablet, services: TabletServices) -> None:
    for rowset in tablet.components.tree.rowsets:
        compact_major(tablet, rowset, [1], services)


def _compact_rowsets(tablet: Tablet, services: TabletServices) -> None:
    compact_rowsets(tablet, tablet.components.tree.rowsets, services)


def _collect(store: Store, ledger: Ledger) -> None:
    """Let go of all history."""
    mark = store.begin().bound
    ledger.forget_before(mark)

    def collect(tablet: Tablet, services: TabletServices) -> None:
        bounded = replace(services, history_mark=lambda _: mark)
        collect_undo(tablet, bounded)
        collect_deleted_rowsets(tablet, bounded)
        for rowset in tablet.components.tree.rowsets:
            compact_redo(tablet, rowset, bounded)
        compact_rowsets(tablet, tablet.components.tree.rowsets, bounded)

    _each_tablet(store, collect)
