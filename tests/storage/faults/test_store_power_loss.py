"""Power loss before every single call of a whole store: what was acknowledged is there.

The disk is the one that forgets whatever nobody synced (see `model_disk`). A missing
sync anywhere between a commit and its files, or a file named before it is whole, fails here.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator

import pytest

from pykudu_sql.storage.catalog.alter import AddColumn, DropColumn
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_redo
from tests.storage.fault_env import FaultAction, FaultEnv, FaultPoint
from tests.storage.faults.test_faults import BULK, ROOT, Progress, many_rows, workload, write
from tests.storage.model import apply, operations, read, visible
from tests.storage.model_disk import Left, ModelDisk, PowerLoss
from tests.storage.small_bulks import bulk_inserts_from


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


def open_store(env: Env) -> Store:
    return Store(env, ROOT, StoreOptions(threads=1, maintenance=False))


def second_session(env: Env, progress: Progress) -> None:
    """Change and flush rows that are on disk, merge their REDO files, and commit a large INSERT
    into one table together with small changes of another, which makes a conditional record."""
    with contextlib.closing(open_store(env)) as store:
        write(store, progress, RowOpKind.UPDATE, [{0: 0, 1: 70}, {0: 100, 1: 71}])
        store.flush()
        write(store, progress, RowOpKind.UPSERT, [{0: 0, 1: 75}])
        store.flush()
        merge_redo_files(store)
        write(store, progress, RowOpKind.UPSERT, [{0: 0, 1: 80}, {0: 200, 1: 81}])
        table = store.catalog.table("t")
        big = store.create_table("bulk", table.schema, table.partition_schema)
        changes = [{0: 1, 1: 90}, {0: 2, 1: 91}]
        progress.attempted = apply(progress.rows, table, RowOpKind.UPDATE, changes)
        txn = store.begin()
        txn.write(table, operations(table, RowOpKind.UPDATE, changes))
        txn.write(big, many_rows())
        txn.commit(durable=True)
        progress.rows = progress.attempted
        store.alter_table("t", [DropColumn("m")])
        store.alter_table("t", [AddColumn(ColumnSchema(0, "m", DataType(Kind.INT64)))])
        store.flush("t")
        write(store, progress, RowOpKind.DELETE, [{0: 200}])


def merge_redo_files(store: Store) -> None:
    """A minor delta compaction of every rowset that has several."""
    merged = 0
    for tablet in store.tablets.values():
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                merged += compact_redo(tablet, rowset, store.committer.tablet_services)
    assert merged


def check(disk: MemoryEnv, progress: Progress, moment: int) -> None:
    """The rows are those acknowledged, or with the one statement then running; and a commit over
    two tables is in both or in none."""
    with contextlib.closing(open_store(disk)) as store:
        if "t" not in store.catalog.tables:
            assert not progress.rows, moment
            return
        table = store.catalog.table("t")
        found = read(store.begin(), table)
        allowed = [visible(rows, table) for rows in (progress.rows, progress.attempted)]
        assert found in allowed, moment
        if "bulk" in store.catalog.tables:
            other = store.catalog.table("bulk")
            rows = store.begin().table_scan(other, ScanSpec((0,))).num_rows
            assert rows == (BULK if found[1,][1] == 90 else 0), moment
        store.write_row(table, RowOpKind.UPSERT, {0: 50, 1: 50})


@pytest.mark.parametrize("left", Left)
def test_a_store_survives_power_loss_at_any_moment(left: Left) -> None:
    # A third of the moments each way, for time.
    for moment in itertools.count(1 + list(Left).index(left), 3):
        disk, progress = ModelDisk(moment), Progress()
        lost_power = False
        try:
            workload(disk.env, progress)
            second_session(disk.env, progress)
        except PowerLoss:
            lost_power = True
        check(disk.after_restart(left), progress, moment)
        if not lost_power:
            break
    assert moment > 200


def test_a_recovery_that_loses_power_at_each_of_its_calls_in_turn_ends_in_the_same_rows() -> None:
    disk, progress = ModelDisk(1 << 30), Progress()
    workload(disk.env, progress)
    store = open_store(disk.env)
    write(store, progress, RowOpKind.UPSERT, [{0: 0, 1: 60}, {0: 300, 1: 61}])
    left = disk.after_restart(Left.TORN)
    store.close()
    for moment in itertools.count(1):
        disk = ModelDisk(moment, left)
        try:
            store = open_store(disk.env)
        except PowerLoss:
            left = disk.after_restart(Left.TORN)
            continue
        table = store.catalog.table("t")
        assert read(store.begin(), table) == visible(progress.rows, table)
        store.maintenance.stop()
        break
    assert moment > 1


class Countdown:
    """The power goes once so many more calls were made; never while that is not set."""

    def __init__(self) -> None:
        self.calls_left: int | None = None

    def hook(self, point: FaultPoint) -> FaultAction:
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                raise PowerLoss
        return None


def test_a_crash_while_a_store_closes_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    for moment in itertools.count(1):
        countdown = Countdown()
        store = open_store(FaultEnv(MemoryEnv(), countdown.hook))
        columns = [ColumnSchema(0, "k", DataType(Kind.INT32))]
        store.create_table("t", create_schema(columns, ["k"]), PartitionSchema())
        assert len(set(threading.enumerate()) - before) == 1
        countdown.calls_left = moment - 1
        try:
            store.close()
        except PowerLoss:
            assert not set(threading.enumerate()) - before
        else:
            break
    assert moment > 2


class Interleaved(ModelDisk):
    """A disk at whose syncs of base files something else happens."""

    def __init__(self, lose_power_at: int) -> None:
        super().__init__(lose_power_at)
        self.meanwhile: list[Callable[[], None]] = []

    def _before(self, point: FaultPoint) -> FaultAction:
        if self.meanwhile and point.point == "base.write.sync":
            self.meanwhile.pop()()
        return super()._before(point)


def test_files_show_no_commit_that_the_log_may_still_lose() -> None:
    columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "n")]
    for moment in itertools.count(1):
        disk = Interleaved(moment)
        with contextlib.ExitStack() as threads, contextlib.suppress(PowerLoss):
            store = open_store(disk.env)
            threads.callback(store.maintenance.stop)  # nobody closes it, and it would run for ever
            for name in ("a", "b"):
                store.create_table(name, create_schema(columns, ["id"]), PartitionSchema(()))

            def write(store: Store = store) -> None:
                """One commit over both tables, on its way to the disk at some time."""
                txn = store.begin()
                for name in ("a", "b"):
                    table = store.catalog.table(name)
                    value = len(read(txn, table)) + 1
                    rows = [{0: 0, 1: value}, {0: value, 1: value}]
                    txn.write(table, operations(table, RowOpKind.UPSERT, rows))
                txn.commit(durable=False)

            for _ in range(3):
                write()
                disk.meanwhile = [write]
                store.flush("a")
            write()
            disk.meanwhile = [write]
            store.optimize("a", full=True)
            moment = 0
        with contextlib.closing(open_store(disk.after_restart(Left.NONE))) as restarted:
            tables = restarted.catalog.tables
            if "b" in tables:
                txn = restarted.begin()
                assert read(txn, tables["a"]) == read(txn, tables["b"])
        if not moment:
            break
