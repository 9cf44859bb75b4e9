"""A table that a transaction makes is there with its rows or not at all, whatever comes between."""

import contextlib
import errno
import itertools
import threading
from collections.abc import Iterator
from unittest import mock

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DiskError,
    DuplicateObjectError,
    Error,
    TransactionResolutionUnknownError,
)
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint
from tests.storage.model_disk import Left, ModelDisk, PowerLoss
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
BULK = 60
SIZES = [0, BULK // 2, BULK, 3 * BULK]
IN_LOG_AND_IN_FILES = [BULK // 2, 3 * BULK]
INT = DataType(Kind.INT64)


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


def open_store(env: Env) -> Store:
    return Store(env, ROOT, StoreOptions(threads=1, maintenance=False))


def described(*, counted: bool = False) -> TableInfo:
    columns = [ColumnSchema(0, "id", INT), ColumnSchema(0, "n", INT)]
    schema = create_schema(columns, ["id"], unique=not counted)
    partitions = PartitionSchema((HashDimension((schema.key_ids[0],), 2),))
    return new_table("made", schema, partitions, "", {})


def inserts(keys: range) -> RowOperations:
    values = pa.array(keys, pa.int64())
    return RowOperations(RowOpKind.INSERT, {0: values, 1: values}, len(values))


def fill(transaction: Transaction, rows: int, table: TableInfo | None = None) -> TableInfo:
    """Make the table with so many rows, in several batches where they are very many."""
    made = transaction.create_table(described() if table is None else table)
    if rows > BULK:
        transaction.insert(made, (inserts(range(i, rows, 3)) for i in range(3)))
    elif rows:
        transaction.write(made, inserts(range(rows)))
    return made


def keys(store: Store) -> list[int]:
    scan = store.begin().table_scan(store.catalog.table("made"), ScanSpec((0,)))
    return sorted(scan.column("id").to_pylist())


def tablet_folders(env: Env) -> list[str]:
    return env.list_dir(f"{ROOT}/tablets") if env.exists(f"{ROOT}/tablets") else []


@pytest.mark.parametrize("rows", SIZES)
def test_others_see_the_table_with_all_its_rows_from_the_commit_on(rows: int) -> None:
    env = MemoryEnv()
    with contextlib.closing(open_store(env)) as store:
        transaction = store.begin()
        made = fill(transaction, rows)
        assert transaction.table_scan(made, ScanSpec((0,))).num_rows == rows
        assert transaction.has_writes
        assert not store.catalog.tables
        assert not tablet_folders(env)
        moment = transaction.commit(durable=True)
        assert moment is not None
        assert keys(store) == list(range(rows))
        assert not store.catalog_at(moment).tables
        assert set(store.catalog_at(moment + 1).tables) == {"made"}
        store.write_row(store.catalog.table("made"), RowOpKind.INSERT, {0: -1, 1: 0})
        store.flush()
        assert keys(store) == [-1, *range(rows)]
    with contextlib.closing(open_store(env)) as store:
        assert keys(store) == [-1, *range(rows)]
        store.drop_table("made")
    assert list(DatabaseCheck(env, ROOT, quick=False).run()) == []


@pytest.mark.parametrize("rows", SIZES)
def test_a_transaction_that_is_rolled_back_leaves_no_table_and_no_file(rows: int) -> None:
    env = MemoryEnv()
    with contextlib.closing(open_store(env)) as store:
        transaction = store.begin()
        fill(transaction, rows)
        transaction.rollback()
        assert not store.catalog.tables
        assert not store.tablets
        assert not tablet_folders(env)
        assert not env.list_dir(f"{ROOT}/tmp")


@pytest.mark.parametrize("rows", SIZES)
def test_of_two_that_make_one_name_the_first_to_commit_wins(rows: int) -> None:
    env = MemoryEnv()
    with contextlib.closing(open_store(env)) as store:
        first, second = store.begin(), store.begin()
        fill(first, rows)
        fill(second, rows)
        first.commit(durable=True)
        with pytest.raises(DuplicateObjectError, match="'made' exists already"):
            second.commit(durable=True)
        with pytest.raises(DuplicateObjectError, match="'made' exists already"):
            fill(store.begin(), rows)
        assert keys(store) == list(range(rows))
        assert len(store.tablets) == len(tablet_folders(env)) == 2
        assert not env.list_dir(f"{ROOT}/tmp")


def test_a_hidden_counter_counts_from_one_and_goes_on_after_the_commit() -> None:
    with contextlib.closing(open_store(MemoryEnv())) as store:
        transaction = store.begin()
        made = transaction.create_table(described(counted=True))
        ids = [column.id for column in made.schema.visible_columns]
        for _ in range(2):
            columns = {column_id: pa.array([5, 6], pa.int64()) for column_id in ids}
            transaction.write(made, RowOperations(RowOpKind.INSERT, columns, 2))
        transaction.commit(durable=True)
        made = store.catalog.table("made")
        store.write_row(made, RowOpKind.INSERT, dict.fromkeys(ids, 7))
        counter = made.schema.key_columns[-1]
        scan = store.begin().table_scan(made, ScanSpec((counter.id,)))
        assert sorted(scan.column(0).to_pylist()) == [1, 2, 3, 4, 5]


def check_all_or_nothing(env: Env, rows: int, *, acknowledged: bool, what: str) -> None:
    """The table is whole or not there, and nothing lies about that it does not need."""
    with contextlib.closing(open_store(env)) as store:
        if acknowledged or store.catalog.tables:
            assert keys(store) == list(range(rows)), what
        store.create_table(
            "next", described().schema, PartitionSchema((HashDimension((0,), 2),)), "", {}
        )
        assert len(tablet_folders(env)) == len(store.tablets), what
        assert not env.list_dir(f"{ROOT}/tmp"), what
    assert list(DatabaseCheck(env, ROOT, quick=False).run()) == [], what


@pytest.mark.parametrize("rows", IN_LOG_AND_IN_FILES)
@pytest.mark.parametrize("left", Left)
def test_power_loss_at_any_moment_leaves_the_table_whole_or_none(rows: int, left: Left) -> None:
    for moment in itertools.count(1):
        disk, acknowledged = ModelDisk(moment), False
        try:
            with contextlib.closing(open_store(disk.env)) as store:
                transaction = store.begin()
                fill(transaction, rows)
                transaction.commit(durable=True)
                acknowledged = True
        except PowerLoss:
            env, what = disk.after_restart(left), f"call {moment}"
            check_all_or_nothing(env, rows, acknowledged=acknowledged, what=what)
        else:
            break
    assert moment > 10


@pytest.mark.parametrize("rows", IN_LOG_AND_IN_FILES)
@pytest.mark.parametrize("once", [True, False], ids=["once", "from then on"])
def test_a_disk_that_refuses_any_call_leaves_the_table_whole_or_none(rows: int, once: bool) -> None:
    for failing in itertools.count():
        disk, acknowledged, fired, calls = MemoryEnv(), False, False, itertools.count()

        def hook(point: FaultPoint, first: int = failing) -> FaultAction:
            nonlocal fired
            number = next(calls)  # noqa: B023
            if number == first or (number > first and not once):
                fired = True
                return Fail(errno.ENOSPC)
            return None

        with contextlib.suppress(Error), contextlib.closing(open_store(FaultEnv(disk, hook))) as s:
            transaction = s.begin()
            fill(transaction, rows)
            try:
                transaction.commit(durable=True)
                acknowledged = True
            except TransactionResolutionUnknownError:
                pass
            except DiskError:
                assert not s.catalog.tables, failing
                assert not s.tablets, failing
                if once:
                    assert not tablet_folders(disk), failing
        check_all_or_nothing(disk, rows, acknowledged=acknowledged, what=f"call {failing}")
        if not fired:
            break
    assert failing > 10


def test_whoever_sees_the_table_in_the_catalog_reads_its_rows() -> None:
    with contextlib.closing(open_store(MemoryEnv())) as store:
        seen: list[int] = []
        publish = store.committer.mvcc.publish

        def late(timestamp: Timestamp) -> None:
            reader = threading.Thread(target=lambda: seen.append(len(keys(store))))
            reader.start()
            reader.join(0.05)
            publish(timestamp)
            reader.join()

        transaction = store.begin()
        fill(transaction, BULK)
        with mock.patch.object(store.committer.mvcc, "publish", late):
            transaction.commit(durable=True)
        assert seen == [BULK]
