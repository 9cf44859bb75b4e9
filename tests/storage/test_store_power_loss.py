"""Power loss before every single call of a whole store: what was acknowledged is there.

The disk is the one that forgets whatever nobody synced (see `log/test_power_loss.py`). A missing
sync anywhere between a commit and its files, or a file named before it is whole, fails here.
"""

import contextlib
import itertools
import threading
from collections.abc import Iterator

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
from tests.storage.fault_env import FaultAction, FaultEnv, FaultPoint
from tests.storage.log.test_power_loss import ModelDisk, PowerLoss
from tests.storage.model import apply, operations, read, visible
from tests.storage.small_bulks import bulk_inserts_from
from tests.storage.test_faults import BULK, ROOT, Progress, many_rows, workload, write


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


def open_store(env: Env) -> Store:
    return Store(env, ROOT, StoreOptions(threads=1, maintenance=False))


def second_session(env: Env, progress: Progress) -> None:
    """Change and flush rows that are on disk, and commit a large INSERT into one table together
    with small changes of another, which makes a conditional record."""
    with contextlib.closing(open_store(env)) as store:
        write(store, progress, RowOpKind.UPDATE, [{0: 0, 1: 70}, {0: 100, 1: 71}])
        store.flush()
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


@pytest.mark.parametrize("torn", [False, True])
def test_a_store_survives_power_loss_at_any_moment(torn: bool) -> None:
    # Half of the moments each way, for time.
    for moment in itertools.count(1 + torn, 2):
        disk, progress = ModelDisk(moment), Progress()
        lost_power = False
        try:
            workload(disk.env, progress)
            second_session(disk.env, progress)
        except PowerLoss:
            lost_power = True
        check(disk.after_restart(torn=torn), progress, moment)
        if not lost_power:
            break
    assert moment > 200


def test_a_recovery_that_loses_power_at_each_of_its_calls_in_turn_ends_in_the_same_rows() -> None:
    disk, progress = ModelDisk(1 << 30), Progress()
    workload(disk.env, progress)
    store = open_store(disk.env)
    write(store, progress, RowOpKind.UPSERT, [{0: 0, 1: 60}, {0: 300, 1: 61}])
    left = disk.after_restart(torn=True)
    store.close()
    for moment in itertools.count(1):
        disk = ModelDisk(moment, left)
        try:
            store = open_store(disk.env)
        except PowerLoss:
            left = disk.after_restart(torn=True)
            continue
        table = store.catalog.table("t")
        assert read(store.begin(), table) == visible(progress.rows, table)
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
    threads = threading.active_count()
    for moment in itertools.count(1):
        countdown = Countdown()
        store = open_store(FaultEnv(MemoryEnv(), countdown.hook))
        columns = [ColumnSchema(0, "k", DataType(Kind.INT32))]
        store.create_table("t", create_schema(columns, ["k"]), PartitionSchema())
        assert threading.active_count() == threads + 1
        countdown.calls_left = moment - 1
        try:
            store.close()
        except PowerLoss:
            assert threading.active_count() == threads
        else:
            break
    assert moment > 2
