"""What commits have to wait for: under the commit lock the disk takes a record and an edit.

Rowsets, their names and the log are durable before the lock is taken, whatever is committed
meanwhile; and files that come to nothing are gone.
"""

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DiskError, InterfaceError, SerializationError
from pykudu_sql.storage.fs.layout import temporary_directory
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.recovery.orphans import find_orphans
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.tablet.maintenance.publication import ROUNDS
from pykudu_sql.storage.tablet.tablet import Tablet
from tests.storage.addressing import addresses, write_rows
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint
from tests.storage.model import operations, read
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
BULK = 8
KEYS = 20
NUMBER = DataType(Kind.INT32)
OPTIONS = StoreOptions(threads=1, maintenance=False)
# What a commit and an edit of the manifest ask of the disk.
RECORDS = {
    "wal.append",
    "wal.allocate",
    "manifest.allocate",
    "manifest.append",
    "manifest.sync",
    "durable.note",
}


@dataclass
class Watched:
    """A store, what it asks of its disk under the commit lock, and commits in the midst of things.

    Attributes:
        disk: below it.
        held: points that were passed under the lock.
        commits_at: points at each passing of which a commit comes, as if from another thread.
        refused: a point at which the disk refuses.
        at: what else happens at a point.
        values: of n, by id, as committed.
    """

    disk: MemoryEnv = field(default_factory=MemoryEnv)
    held: set[str] = field(default_factory=set)
    commits_at: Collection[str] = ()
    refused: str = ""
    at: dict[str, Callable[[], None]] = field(default_factory=dict)
    values: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = self.opened()
        columns = [ColumnSchema(0, "id", NUMBER), ColumnSchema(0, "n", NUMBER)]
        self.store.create_table("t", create_schema(columns, ["id"]), PartitionSchema(()))
        self.upsert({key: key for key in range(KEYS)})

    def opened(self) -> Store:
        return Store(FaultEnv(self.disk, self._before), ROOT, OPTIONS)

    def _before(self, point: FaultPoint) -> FaultAction:
        if point.point == self.refused:
            return Fail()
        self.at.get(point.point, lambda: None)()
        store = getattr(self, "store", None)
        if store is None:
            return None
        if store.committer.lock._lock._is_owned():
            self.held.add(point.point)
        elif point.point in self.commits_at:
            self.upsert({len(self.values) % KEYS: 1000 + len(self.held)})
        return None

    def upsert(self, rows: dict[int, int]) -> None:
        table = self.store.catalog.table("t")
        for key, value in rows.items():
            self.store.write_row(table, RowOpKind.UPSERT, {0: key, 1: value})
        self.values |= rows

    @property
    def tablet(self) -> Tablet:
        (info,) = self.store.catalog.table("t").tablets
        return self.store.tablets[info.id]

    def rows(self) -> dict[int, int]:
        found = read(self.store.begin(), self.store.catalog.table("t"))
        return {row[0]: row[1] for row in found.values()}  # type: ignore[misc]

    def insert(self, keys: range) -> None:
        """A large insert."""
        table = self.store.catalog.table("t")
        txn = self.store.begin()
        txn.write(table, operations(table, RowOpKind.INSERT, [{0: k, 1: k} for k in keys]))
        txn.commit(durable=True)
        self.values |= {key: key for key in keys}

    def update(self, n: int) -> None:
        """A large UPDATE of all rows, in two chunks."""
        table = self.store.catalog.table("t")
        txn = self.store.begin()
        txn.write_row(table, RowOpKind.UPDATE, {0: 0, 1: n + 1})
        known = addresses(txn, table)
        write_rows(txn, table, known, {key: {1: n} for key in known}, len(known) // 2)
        txn.commit(durable=True)
        self.values = dict.fromkeys(self.values, n)

    def delta_compaction(self, compact: Callable[..., int], *columns: object) -> None:
        tablet = self.tablet
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact(tablet, rowset, *columns, self.store.committer.tablet_services)

    def left_over(self) -> list[str]:
        """Files that nothing names."""
        services = self.store._services
        orphans = find_orphans(self.disk, ROOT, self.store.tablets, services.state.tablets)
        return [o.path for o in orphans] + self.disk.list_dir(temporary_directory(ROOT))


@pytest.fixture
def watched() -> Iterator[Watched]:
    with bulk_inserts_from(BULK):
        yield Watched()


def everything_that_publishes(watched: Watched) -> None:
    watched.store.flush()
    watched.upsert({1: 5, 2: 6})
    watched.store.flush()
    watched.upsert({1: 7})
    watched.store.flush()
    watched.delta_compaction(compact_redo)
    watched.upsert({1: 8})
    watched.store.flush()
    watched.delta_compaction(compact_major, [1])
    watched.upsert({2: 9})
    watched.store.optimize("t", full=True)
    start = max(watched.values) + 1
    watched.insert(range(start, start + BULK))
    watched.upsert({1: 10, 2: 11})
    watched.update(12)
    watched.store.log_retention.collect()


def see_that_all_is_there(watched: Watched) -> None:
    watched.commits_at = ()
    assert watched.rows() == watched.values
    watched.store.close()
    watched.store = watched.opened()
    assert watched.rows() == watched.values
    assert watched.left_over() == []


@pytest.mark.parametrize("point", ["", "base.write.sync", "undo.write.sync", "overlay.write.sync"])
def test_under_the_commit_lock_the_disk_takes_records_and_edits_only(
    watched: Watched, point: str
) -> None:
    watched.held.clear()
    watched.commits_at = {point}
    everything_that_publishes(watched)
    assert watched.held <= RECORDS
    see_that_all_is_there(watched)


def test_a_large_insert_makes_earlier_commits_durable_before_it_takes_the_commit_lock(
    watched: Watched,
) -> None:
    table = watched.store.catalog.table("t")
    txn = watched.store.begin()
    txn.write_row(table, RowOpKind.UPDATE, {0: 1, 1: 11})
    txn.commit(durable=False)
    watched.values[1] = 11
    watched.held.clear()
    watched.insert(range(KEYS, KEYS + BULK))
    assert "wal.sync" not in watched.held
    see_that_all_is_there(watched)


@pytest.mark.parametrize("way", ["flush", "optimize"])
def test_commits_faster_than_files_are_made_durable_do_not_keep_a_publication_up(
    watched: Watched, way: str
) -> None:
    if way == "optimize":
        watched.store.flush()
        watched.upsert({3: 30})
        watched.store.flush()
    watched.held.clear()
    watched.commits_at = {"base.write.sync", "redo.write.sync"}
    if way == "flush":
        watched.store.flush()
    else:
        watched.store.optimize("t", full=True)
    (rowset,) = watched.tablet.components.tree.rowsets
    assert len(rowset.meta.redo) > ROUNDS
    assert "redo.write.sync" in watched.held
    see_that_all_is_there(watched)


@pytest.mark.parametrize("point", ["flush.rename", "flush.sync_dir", "redo.write.sync"])
def test_a_flush_that_is_refused_half_way_leaves_no_files(watched: Watched, point: str) -> None:
    watched.commits_at = {"base.write.sync"}
    watched.refused = point
    with pytest.raises(DiskError):
        watched.store.flush()
    watched.refused = ""
    assert watched.left_over() == []
    watched.store.flush()
    see_that_all_is_there(watched)


@pytest.mark.parametrize("way", ["flush", "flush_deltas", "compaction", "minor", "major"])
def test_maintenance_that_meets_the_closing_of_the_store_leaves_no_files(
    watched: Watched, way: str
) -> None:
    store = watched.store
    if way != "flush":
        store.flush()
        watched.upsert({3: 30})
    if way in ("minor", "major"):
        store.flush()
        watched.upsert({3: 31})
        store.flush()
    watched.at[f"{way}.sync_dir"] = store.committer.close
    with pytest.raises(InterfaceError):
        if way in ("flush", "flush_deltas"):
            store.flush()
        elif way == "compaction":
            store.optimize("t", full=True)
        else:
            (rowset,) = watched.tablet.components.tree.rowsets
            compact = compact_redo if way == "minor" else partial(compact_major, column_ids=[1])
            compact(watched.tablet, rowset, services=store.committer.tablet_services)
    assert watched.left_over() == []
    store.close()
    watched.store = watched.opened()
    see_that_all_is_there(watched)


@pytest.mark.parametrize("point", ["redo.write.sync", "bulk.rename", "bulk.sync_dir"])
def test_commits_of_another_table_go_on_while_a_large_update_publishes_its_files(
    watched: Watched, point: str
) -> None:
    store = watched.store
    store.create_table("other", store.catalog.table("t").schema, PartitionSchema(()))
    store.flush()
    watched.upsert({1: 10})
    passed = []

    def commit_elsewhere() -> None:
        del watched.at[point]
        row = store.catalog.table("other"), RowOpKind.INSERT, {0: 1, 1: 1}
        commit = threading.Thread(target=store.write_row, args=row)
        commit.start()
        commit.join(60)
        passed.append(not commit.is_alive())

    watched.at[point] = commit_elsewhere
    watched.update(7)
    assert passed == [True]
    see_that_all_is_there(watched)


@pytest.mark.parametrize("point", ["bulk.rename", "bulk.sync_dir"])
def test_a_large_update_that_is_refused_half_way_leaves_no_files(
    watched: Watched, point: str
) -> None:
    watched.store.flush()
    watched.refused = point
    with pytest.raises(DiskError):
        watched.update(7)
    watched.refused = ""
    assert watched.left_over() == []
    see_that_all_is_there(watched)


def test_a_large_update_lays_its_files_over_what_others_change_meanwhile_in_its_rowsets(
    watched: Watched,
) -> None:
    watched.store.flush()
    table = watched.store.catalog.table("t")
    watched.values |= {0: 1}
    watched.upsert({0: 1})
    txn = watched.store.begin()
    txn.write_row(table, RowOpKind.UPDATE, {0: 2, 1: 5})
    known = addresses(txn, table)
    del known[1]
    write_rows(txn, table, known, {key: {1: 7} for key in known}, KEYS // 2)

    def change_another_row() -> None:
        if not watched.store.committer.lock._lock._is_owned():
            watched.upsert({1: watched.values[1] + 1000})

    watched.at["bulk.rename"] = watched.at["redo.write.sync"] = change_another_row
    txn.commit(durable=True)
    watched.at.clear()
    watched.values |= {key: 7 for key in range(KEYS) if key != 1}
    assert watched.values[1] > 1000
    see_that_all_is_there(watched)


def test_a_large_update_finds_its_rows_in_rowsets_that_were_made_while_it_published(
    watched: Watched,
) -> None:
    watched.store.flush()
    keys = range(KEYS, KEYS + BULK)

    def insert_much() -> None:
        del watched.at["bulk.sync_dir"]
        watched.store.committer._publishing.release()  # as if it had come before
        watched.insert(keys)
        watched.store.committer._publishing.acquire()

    watched.at["bulk.sync_dir"] = insert_much
    watched.update(7)
    watched.values |= {key: 7 for key in range(KEYS)} | {key: key for key in keys}
    assert watched.left_over() == []
    see_that_all_is_there(watched)


def test_a_large_insert_that_another_commit_comes_before_leaves_no_files(watched: Watched) -> None:
    watched.commits_at = {"bulk.sync_dir"}
    table = watched.store.catalog.table("t")
    txn = watched.store.begin()
    first = len(watched.values) % KEYS
    rows = [{0: key, 1: 1} for key in range(KEYS, KEYS + BULK)]
    txn.write(table, operations(table, RowOpKind.INSERT, rows))
    txn.write_row(table, RowOpKind.UPDATE, {0: first, 1: 1})
    with pytest.raises(SerializationError):
        txn.commit(durable=True)
    assert watched.left_over() == []
    see_that_all_is_there(watched)


@pytest.mark.parametrize("point", ["bulk.rename", "bulk.sync_dir", "wal.sync"])
def test_a_large_insert_that_is_refused_half_way_leaves_no_files(
    watched: Watched, point: str
) -> None:
    table = watched.store.catalog.table("t")
    txn = watched.store.begin()
    rows = [{0: key, 1: 1} for key in range(KEYS, KEYS + BULK)]
    txn.write(table, operations(table, RowOpKind.INSERT, rows))
    watched.refused = point
    if point == "wal.sync":
        txn.commit(durable=True)  # a new segment takes the log's place
        watched.values |= {key: 1 for key in range(KEYS, KEYS + BULK)}
    else:
        with pytest.raises(DiskError):
            txn.commit(durable=True)
    watched.refused = ""
    assert watched.left_over() == []
    see_that_all_is_there(watched)


def test_closing_waits_for_files_that_are_being_published(watched: Watched) -> None:
    closing = threading.Thread(target=watched.store.close)
    table = watched.store.catalog.table("t")
    txn = watched.store.begin()
    rows = [{0: key, 1: 1} for key in range(KEYS, KEYS + BULK)]
    txn.write(table, operations(table, RowOpKind.INSERT, rows))

    def close() -> None:
        closing.start()
        closing.join(0.2)
        assert closing.is_alive()

    watched.at["bulk.rename"] = close
    with contextlib.suppress(InterfaceError):
        txn.commit(durable=True)
        watched.values |= {key: 1 for key in range(KEYS, KEYS + BULK)}
    closing.join()
    watched.store = watched.opened()
    see_that_all_is_there(watched)
