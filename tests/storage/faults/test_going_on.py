"""A call to the disk fails and the program goes on: nothing it does later contradicts the failure.

Whether an edit or a record is on disk when writing it failed is not known before the next opening.
So the test keeps every set of rows that may be true: a failed statement leaves both what was and
what it would have made; an acknowledged one must hold in each. Reopened, the database must show one
of them.
"""

import contextlib
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error, IntegrityError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
    Mutation,
    ShortWrite,
)
from tests.storage.model import Key, Refused, Row, apply, operations, visible
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
BULK = 300
FAULTS: dict[str, FaultAction] = {
    "refused": Fail(errno.EIO),
    "written whole and called a failure": ShortWrite(1 << 30, errno.EIO),
}


@dataclass
class Outcomes:
    """All the rows that may be true.

    Attributes:
        states: sets of rows, without those of the large INSERT's keys.
        bulk: whether the large INSERT's rows may be there, and may be absent.
    """

    states: list[dict[Key, Row]] = field(default_factory=lambda: [{}])
    bulk: set[bool] = field(default_factory=lambda: {False})


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


def write(store: Store, outcomes: Outcomes, kind: RowOpKind, rows: list[Row]) -> None:
    """Do a statement; whatever comes of it, note what may be true now."""
    table = store.catalog.table("t")
    after = []
    for state in outcomes.states:
        with contextlib.suppress(Refused):
            after.append(apply(state, table, kind, rows))
    txn = store.begin()
    try:
        txn.write(table, operations(table, kind, rows))
        txn.commit(durable=True)
    except IntegrityError:
        return
    except Error:
        outcomes.states += after
    else:
        outcomes.states = after


def write_bulk(store: Store, outcomes: Outcomes) -> None:
    """Insert the keys from 1000 on at once."""
    keys = pa.array(np.arange(1000, 1000 + BULK, dtype=np.int32))
    columns = {0: keys, 1: keys}
    txn: Transaction = store.begin()
    try:
        txn.write(store.catalog.table("t"), RowOperations(RowOpKind.INSERT, columns, BULK))
        txn.commit(durable=True)
    except IntegrityError:
        return
    except Error:
        outcomes.bulk.add(True)
    else:
        outcomes.bulk = {True}


def attempt(work: Callable[[], object]) -> None:
    with contextlib.suppress(Error):
        work()


def workload(store: Store, outcomes: Outcomes) -> None:
    """Statements and flushes, each begun although the one before may have failed."""
    write(store, outcomes, RowOpKind.INSERT, [{0: i, 1: i} for i in range(6)])
    attempt(store.flush)
    write(store, outcomes, RowOpKind.UPDATE, [{0: i, 1: -i} for i in range(4)])
    write_bulk(store, outcomes)
    write(store, outcomes, RowOpKind.UPSERT, [{0: 10, 1: 1}, {0: 3, 1: 33}])
    write_bulk(store, outcomes)
    attempt(store.flush)
    attempt(lambda: store.alter_table("t", [AddColumn(ColumnSchema(0, "m", DataType(Kind.INT32)))]))
    write(store, outcomes, RowOpKind.UPSERT, [{0: 11, 1: 2}, {0: 2, 1: 22}])
    write(store, outcomes, RowOpKind.DELETE, [{0: 5}])
    attempt(store.flush)


def run(disk: MemoryEnv, hook: Callable[[FaultPoint], FaultAction]) -> Outcomes:
    """The workload on a disk; opening and creating the table are spared."""
    outcomes = Outcomes()
    spared = True
    env = FaultEnv(disk, lambda point: None if spared else hook(point))
    store = Store(env, ROOT, StoreOptions(threads=1, maintenance=False))
    columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "n")]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("t", create_schema(columns, ["id"]), partitions)
    spared = False
    workload(store, outcomes)
    attempt(store.close)
    return outcomes


def rows_of(store: Store, table: TableInfo) -> tuple[dict[Key, Row], int]:
    """The rows that small statements wrote, and how many there are besides."""
    txn = store.begin()
    keys = txn.table_scan(table, ScanSpec((0,))).column("id").to_numpy()
    assert len(np.unique(keys)) == len(keys), "a key is alive twice"
    ids = [column.id for column in table.schema.columns]
    rows: dict[Key, Row] = {}
    for key in keys[keys < 1000].tolist():
        cells = txn.lookup(table, (key,), ids)
        assert cells is not None
        rows[key,] = dict(zip(ids, cells, strict=True))
    return rows, int(np.count_nonzero(keys >= 1000))


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_acknowledged_after_a_failing_call_holds_when_reopened(fault: str) -> None:
    action = FAULTS[fault]
    calls: list[Mutation] = []

    def count(point: FaultPoint) -> None:
        calls.append(point.operation)

    run(MemoryEnv(), count)
    for failing, operation in enumerate(calls):
        if isinstance(action, ShortWrite) and operation is not Mutation.WRITE:
            continue
        disk = MemoryEnv()
        turns = iter(range(len(calls) * 2))

        def hook(
            point: FaultPoint, failing: int = failing, turns: Iterator[int] = turns
        ) -> FaultAction:
            return action if next(turns) == failing else None

        outcomes = run(disk, hook)
        with contextlib.closing(
            Store(disk, ROOT, StoreOptions(threads=1, maintenance=False))
        ) as store:
            table = store.catalog.table("t")
            small, large = rows_of(store, table)
            assert small in [visible(state, table) for state in outcomes.states], failing
            assert large in [BULK * there for there in outcomes.bulk], failing
