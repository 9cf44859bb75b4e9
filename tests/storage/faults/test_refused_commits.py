"""What an error of a commit says is so: here, elsewhere, after reopening, and after a kill.

Every statement that writes is run while the disk refuses the k-th of its calls, for every k, once
and from then on. However it ends, all who look afterwards must agree with what it said:

* no error: everybody sees the change;
* an error that says that nothing was changed: nobody sees it, not even a process that opens what is
  on disk at that moment, as after kill -9;
* an error that says that the outcome is unknown (SQLSTATE 08007): nothing is answered that would
  depend on it, and nothing written, until the disk lets it be settled; then all agree.

When the disk works again everything goes on without reopening.
"""

import contextlib
import errno
import itertools
from collections.abc import Callable, Iterator

import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DiskError, TransactionResolutionUnknownError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
    Mutation,
    ShortWrite,
)
from tests.storage.model import Row, operations, read
from tests.storage.model_disk import copy_of
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
BULK = 300
Seen = tuple[object, ...]
Statement = Callable[[Store], None]


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


class SickDisk:
    """A disk in memory that refuses calls on demand."""

    def __init__(self) -> None:
        """Healthy."""
        self.disk = MemoryEnv()
        self.env = FaultEnv(self.disk, self._before)
        self.refused: list[str] = []
        self.calls = 0
        self._first = self._last = 0
        self._action: FaultAction = None

    def refuse(self, first: int, last: int, action: FaultAction) -> None:
        """Refuse the calls first <= n < last from here on, counted from 0.

        A short write stands for a full disk, which refuses only what takes space.
        """
        self.refused = []
        self.calls, self._first, self._last, self._action = 0, first, last, action

    def heal(self) -> None:
        """Refuse nothing any more."""
        self._last = 0

    def _before(self, point: FaultPoint) -> FaultAction:
        self.calls += 1
        if not self._first <= self.calls - 1 < self._last:
            return None
        takes_space = point.operation in (Mutation.CREATE, Mutation.WRITE, Mutation.ALLOCATE)
        if isinstance(self._action, ShortWrite) and not takes_space:
            return None
        self.refused.append(point.point)
        if isinstance(self._action, ShortWrite) and point.operation is Mutation.CREATE:
            return Fail(errno.ENOSPC)
        return self._action

    def after_kill(self) -> MemoryEnv:
        """What a process finds that opens the directory after this one was killed."""
        return copy_of(self.disk)


def new_store(sick: SickDisk) -> Store:
    """A store with two tables and some rows, partly flushed."""
    store = Store(sick.env, ROOT, StoreOptions(threads=1, maintenance=False))
    number = DataType(Kind.INT32)
    columns = [ColumnSchema(0, "id", number), ColumnSchema(0, "n", number)]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("t", create_schema(columns, ["id"]), partitions)
    store.create_table("big", create_schema(columns[:1], ["id"]), partitions)
    commit(store, RowOpKind.INSERT, [{0: i, 1: i} for i in range(6)])
    store.flush()
    commit(store, RowOpKind.UPDATE, [{0: i, 1: -i} for i in range(3)])
    return store


def commit(store: Store, kind: RowOpKind, rows: list[Row]) -> None:
    txn = store.begin()
    table = store.catalog.table("t")
    txn.write(table, operations(table, kind, rows))
    txn.commit(durable=True)


def seen_by(store: Store) -> Seen:
    """Everything that a new transaction sees."""
    txn = store.begin()
    tables = store.catalog.tables
    rows = [(name, sorted(read(txn, tables[name]).items())) for name in sorted(tables)]
    schemas = [(name, tables[name].schema.columns) for name in sorted(tables)]
    return rows, schemas, sorted(store.definitions.snapshots)


def seen_on(disk: MemoryEnv) -> Seen:
    """What an opening of a disk sees."""
    store = Store(disk, ROOT, StoreOptions(threads=1, maintenance=False))
    try:
        return seen_by(store)
    finally:
        store.close()


def seen_beside(disk: MemoryEnv) -> Seen:
    """What a process sees that reads while the writer is there."""
    options = StoreOptions(threads=1, maintenance=False)
    store = ReaderStore(disk, ROOT, options)
    try:
        return seen_by(store)
    finally:
        store.close()


def insert_row(store: Store) -> None:
    store.write_row(store.catalog.table("t"), RowOpKind.INSERT, {0: 50, 1: 1})


def update_row(store: Store) -> None:
    store.write_row(store.catalog.table("t"), RowOpKind.UPDATE, {0: 1, 1: 77})


def change_many(store: Store) -> None:
    commit(store, RowOpKind.UPSERT, [{0: i, 1: 9} for i in range(4, 60)])


def bulk_insert(store: Store) -> None:
    txn = store.begin()
    numbers = cells_to_array(list(range(BULK)), DataType(Kind.INT32))
    txn.write(store.catalog.table("big"), RowOperations(RowOpKind.INSERT, {0: numbers}, BULK))
    table = store.catalog.table("t")
    txn.write(table, operations(table, RowOpKind.DELETE, [{0: 1}]))
    txn.commit(durable=True)


def create_table(store: Store) -> None:
    columns = [ColumnSchema(0, "k", DataType(Kind.INT32))]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("fresh", create_schema(columns, ["k"]), partitions)


def alter_table(store: Store) -> None:
    store.alter_table("t", [AddColumn(ColumnSchema(0, "m", DataType(Kind.INT32)))])


def drop_table(store: Store) -> None:
    store.drop_table("big")


def name_snapshot(store: Store) -> None:
    store.definitions.create_snapshot("s", None, "")


def flush(store: Store) -> None:
    store.flush()


STATEMENTS: list[Statement] = [
    insert_row,
    update_row,
    change_many,
    bulk_insert,
    create_table,
    alter_table,
    drop_table,
    name_snapshot,
    flush,
]
ACTIONS: dict[str, FaultAction] = {"EIO": Fail(errno.EIO), "full disk": ShortWrite(33)}
FOR_EVER = 1 << 30


@contextlib.contextmanager
def expecting_doubt() -> Iterator[None]:
    with pytest.raises(DiskError, match="an earlier commit") as caught:
        yield
    assert caught.value.sqlstate == "58030"


def wanted_after(statement: Statement) -> Seen:
    """What is seen where nothing is refused."""
    store = new_store(SickDisk())
    statement(store)
    try:
        return seen_by(store)
    finally:
        store.close()


def calls_of(statement: Statement) -> int:
    """How many calls a statement makes that change what is on disk."""
    sick = SickDisk()
    store = new_store(sick)
    sick.refuse(0, 0, None)
    statement(store)
    calls = sick.calls
    store.close()
    return calls


def run(statement: Statement, store: Store) -> str:
    try:
        statement(store)
    except TransactionResolutionUnknownError:
        return "unknown"
    except DiskError:
        return "undone"
    return "done"


def stripped(seen: Seen) -> str:
    """What is seen without what differs from one database to the next."""
    return repr(seen)


@pytest.mark.parametrize("once", [True, False], ids=["once", "from then on"])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_everybody_agrees_with_what_an_error_says(
    statement: Statement, action: str, once: bool
) -> None:
    after = stripped(wanted_after(statement))
    outcomes = set()
    calls = calls_of(statement)
    for failing in itertools.count():
        sick = SickDisk()
        store = new_store(sick)
        before = stripped(seen_by(store))
        sick.refuse(failing, failing + 1 if once else FOR_EVER, ACTIONS[action])
        outcome = run(statement, store)
        what = f"{statement.__name__}: {outcome} after {action} at {sick.refused}"
        if not sick.refused:
            sick.heal()
            assert outcome == "done" and stripped(seen_by(store)) == after
            store.close()
            if failing < calls:
                continue
            break
        outcomes.add(outcome)
        allowed = {"done": {after}, "undone": {before}, "unknown": {before, after}}[outcome]
        if outcome == "unknown" and not once:
            with expecting_doubt():
                store.begin()
            with expecting_doubt():
                insert_row(store)
            assert stripped(seen_beside(sick.disk)) == before, what
        else:
            here = stripped(seen_by(store))
            assert here in allowed, what
            # Others may lag behind where the disk refuses to note what is durable.
            lag = {before} if "durable.note" in sick.refused and not once else set()
            assert stripped(seen_beside(sick.disk)) in {here, *lag}, what
            allowed = {here}
        found = stripped(seen_on(sick.after_kill()))
        assert found in allowed, what
        assert stripped(seen_beside(sick.after_kill())) == found, what
        sick.heal()
        here = stripped(seen_by(store))
        assert here in allowed, what
        assert stripped(seen_beside(sick.disk)) == here, what
        assert stripped(seen_on(sick.after_kill())) == here, what
        store.write_row(store.catalog.table("t"), RowOpKind.UPSERT, {0: 90, 1: 90})
        store.flush()
        store.write_row(store.catalog.table("t"), RowOpKind.UPSERT, {0: 91, 1: 91})
        here = stripped(seen_by(store))
        assert stripped(seen_beside(sick.disk)) == here, what
        store.close()
        assert stripped(seen_on(sick.disk)) == here, what
    # A single refusal, or a full disk, never leaves a doubt.
    may_doubt = not once and action == "EIO" and statement is not flush
    assert ("unknown" in outcomes) == may_doubt
