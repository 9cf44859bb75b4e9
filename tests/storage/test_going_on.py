"""A call to the disk fails and the program goes on: nothing it does later contradicts the failure.

Whether an edit or a record is on disk when writing it failed is not known before the next opening.
So the test keeps every set of rows that may be true: a failed statement leaves both what was and
what it would have made; an acknowledged one must hold in each. Reopened, the database must show one
of them.
"""

import contextlib
import errno
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from pykudu_sql.storage.alter import AddColumn
from pykudu_sql.storage.common.arrays import cells_to_array
from pykudu_sql.storage.common.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types import DataType, Kind
from pykudu_sql.storage.errors import Error, IntegrityError
from pykudu_sql.storage.fs.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
    Mutation,
    ShortWrite,
)
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction import Transaction
from tests.storage.model import Key, Refused, Row, apply, operations, read, visible

ROOT = "/db"
BULK = 50_000
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
    columns = {
        0: cells_to_array(list(range(1000, 1000 + BULK)), DataType(Kind.INT32)),
        1: cells_to_array([7] * BULK, DataType(Kind.INT32)),
    }
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
    attempt(
        lambda: store.alter_table("t", [AddColumn(ColumnSchema(0, "m", DataType(Kind.INT32)))])
    )
    write(store, outcomes, RowOpKind.UPSERT, [{0: 11, 1: 2}, {0: 2, 1: 22}])
    write(store, outcomes, RowOpKind.DELETE, [{0: 5}])
    attempt(store.flush)


def run(disk: MemoryEnv, hook: Callable[[FaultPoint], FaultAction]) -> Outcomes:
    """The workload on a disk; opening and creating the table are spared."""
    outcomes = Outcomes()
    spared = True
    env = FaultEnv(disk, lambda point: None if spared else hook(point))
    store = Store(env, ROOT, StoreOptions(threads=1))
    columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "n")]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("t", create_schema(columns, ["id"]), partitions)
    spared = False
    workload(store, outcomes)
    attempt(store.close)
    return outcomes


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_acknowledged_after_a_failing_call_holds_when_reopened(fault: str) -> None:
    calls = 0

    def count(point: FaultPoint) -> None:
        nonlocal calls
        calls += 1

    run(MemoryEnv(), count)
    for failing in range(1, calls + 1):
        disk = MemoryEnv()
        seen = 0

        def hook(point: FaultPoint, failing: int = failing) -> FaultAction:
            nonlocal seen
            seen += 1
            if seen != failing:
                return None
            return FAULTS[fault] if point.operation is Mutation.WRITE else Fail(errno.EIO)

        outcomes = run(disk, hook)
        with contextlib.closing(Store(disk, ROOT, StoreOptions(threads=1))) as store:
            table = store.catalog.table("t")
            found = read(store.begin(), table)
            small = {key: row for key, row in found.items() if key[0] < 1000}
            assert small in [visible(state, table) for state in outcomes.states], failing
            assert len(found) - len(small) in [BULK * there for there in outcomes.bulk], failing
