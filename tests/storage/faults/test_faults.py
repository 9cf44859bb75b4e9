"""The disk refuses, at every single call in turn: nothing acknowledged is lost, nothing is torn.

A fixed workload runs over an environment that fails its k-th mutation, for every k, once and from
then on. Afterwards the database is opened again on a healthy disk and must hold what was
acknowledged, or that and the one statement that failed, and must take writes.
"""

import contextlib
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
    Mutation,
    ShortWrite,
)
from tests.storage.model import Key, Row, apply, operations, read, visible
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
BULK = 300
Step = tuple[str, Callable[[Store], None]]


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


@dataclass
class Progress:
    """What the workload was told to be done.

    Attributes:
        rows: acknowledged.
        attempted: what the rows would be with the statement that was running last.
    """

    rows: dict[Key, Row] = field(default_factory=dict)
    attempted: dict[Key, Row] = field(default_factory=dict)


def write(store: Store, progress: Progress, kind: RowOpKind, rows: list[Row]) -> None:
    table = store.catalog.table("t")
    progress.attempted = apply(progress.rows, table, kind, rows)
    txn = store.begin()
    txn.write(table, operations(table, kind, rows))
    txn.commit(durable=True)
    progress.rows = progress.attempted


def bulk(store: Store) -> None:
    """A large insert into a second table, which commits by the manifest alone."""
    txn = store.begin()
    txn.write(store.catalog.table("big"), many_rows())
    txn.commit(durable=True)


def many_rows() -> RowOperations:
    """Rows for the second table, enough to go past the log."""
    numbers = cells_to_array(list(range(BULK)), DataType(Kind.INT32))
    return RowOperations(RowOpKind.INSERT, {0: numbers}, BULK)


def workload(env: Env, progress: Progress) -> None:
    """Everything that touches the disk: create, write, flush, alter, insert much, reopen, drop."""
    store = Store(env, ROOT, StoreOptions(threads=1, maintenance=False))
    try:
        columns = [
            ColumnSchema(0, "id", DataType(Kind.INT32)),
            ColumnSchema(0, "n", DataType(Kind.INT32)),
        ]
        partitions = PartitionSchema((HashDimension((0,), 2),))
        store.create_table("t", create_schema(columns, ["id"]), partitions)
        store.create_table("big", create_schema(columns[:1], ["id"]), partitions)
        write(store, progress, RowOpKind.INSERT, [{0: i, 1: i} for i in range(6)])
        store.flush()
        write(store, progress, RowOpKind.UPDATE, [{0: i, 1: -i} for i in range(3)])
        write(store, progress, RowOpKind.DELETE, [{0: 5}])
        store.alter_table("t", [AddColumn(ColumnSchema(0, "m", DataType(Kind.INT32)))])
        store.flush()
        bulk(store)
        write(store, progress, RowOpKind.UPSERT, [{0: i, 1: 9} for i in range(4, 8)])
        store.drop_table("big")
        store.flush()
        write(store, progress, RowOpKind.INSERT, [{0: 100, 1: 1}])
    finally:
        store.close()


def count_calls() -> int:
    calls: list[FaultPoint] = []

    def note(point: FaultPoint) -> FaultAction:
        calls.append(point)
        return None

    workload(FaultEnv(MemoryEnv(), note), Progress())
    return len(calls)


FAULTS: dict[str, FaultAction] = {
    "EIO": Fail(errno.EIO),
    "ENOSPC": Fail(errno.ENOSPC),
    "short write": ShortWrite(7, errno.ENOSPC),
}


@pytest.mark.parametrize("once", [True, False], ids=["once", "from then on"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_failing_call_loses_or_tears_a_commit(fault: str, once: bool) -> None:
    # A third of the calls each way, for time; `make torture` fails every call every way.
    calls = count_calls()
    fired = 0
    third = range(list(FAULTS).index(fault), calls, len(FAULTS))
    for failing in third:
        disk, progress = MemoryEnv(), Progress()
        seen = 0

        def hook(point: FaultPoint, failing: int = failing) -> FaultAction:
            nonlocal seen, fired
            seen += 1
            if seen - 1 == failing or (seen - 1 > failing and not once):
                fired += 1
                action = FAULTS[fault]
                shortened = point.operation is Mutation.WRITE
                return action if shortened or isinstance(action, Fail) else Fail(errno.ENOSPC)
            return None

        with contextlib.suppress(Error):
            workload(FaultEnv(disk, hook), progress)
        check(disk, progress, f"{fault} at call {failing} of {calls}")
    assert fired >= len(third)


def check(disk: MemoryEnv, progress: Progress, what: str) -> None:
    """Open on a healthy disk: the rows are those acknowledged or attempted, and writing works."""
    store = Store(disk, ROOT, StoreOptions(threads=1, maintenance=False))
    try:
        if "t" not in store.catalog.tables:
            assert not progress.rows, what
            return
        table = store.catalog.table("t")
        found = read(store.begin(), table)
        allowed = [visible(rows, table) for rows in (progress.rows, progress.attempted)]
        assert found in allowed, what
        if "big" in store.catalog.tables:
            rows = read(store.begin(), store.catalog.table("big"))
            assert len(rows) in (0, BULK), what
        store.write_row(table, RowOpKind.UPSERT, {0: 50, 1: 50})
    finally:
        store.close()
