"""Ctrl-C at every call of the disk: what was done is on disk and in memory, or in neither."""

import itertools
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.catalog.table_info import new_table
from pykudu_sql.storage.common.ctrl_c import CommitLock, DeferSigint
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.addressing import addresses, write_rows
from tests.storage.fault_env import FaultEnv, FaultPoint
from tests.storage.small_bulks import bulk_inserts_from

ROOT = "/db"
BULK = 60
INT = DataType(Kind.INT64)
SCHEMA = create_schema([ColumnSchema(0, name, INT) for name in ("id", "n")], ["id"])
PARTITIONS = PartitionSchema((HashDimension((0,), 2),))
Contents = Mapping[str, list[dict[str, Any]]]


def inserts(keys: range) -> RowOperations:
    values = pa.array(keys, pa.int64())
    return RowOperations(RowOpKind.INSERT, {0: values, 1: values}, len(values))


def insert(store: Store, **keys: range) -> None:
    transaction = store.begin()
    for name, numbers in keys.items():
        transaction.write(store.catalog.table(name), inserts(numbers))
    transaction.commit(durable=True)


def write_one(store: Store) -> None:
    store.write_row(store.catalog.table("t"), RowOpKind.INSERT, {0: 77, 1: 77})


def make(store: Store) -> None:
    transaction = store.begin()
    made = transaction.create_table(new_table("made", SCHEMA, PARTITIONS, "", {}))
    transaction.write(made, inserts(range(20)))
    transaction.insert(made, (inserts(range(i, i + 80)) for i in (100, 200)))
    transaction.commit(durable=True)


def alter(store: Store) -> None:
    store.alter_table("t", [AddColumn(ColumnSchema(0, "m", INT, nullable=True))])


def change_many(store: Store) -> None:
    """A large UPDATE of rows that are on disk, some of them changed in memory."""
    table = store.catalog.table("t")
    insert(store, t=range(20, 30))
    store.flush()
    transaction = store.begin()
    transaction.write_row(table, RowOpKind.UPDATE, {0: 20, 1: 1})
    transaction.commit(durable=True)
    transaction = store.begin()
    transaction.write_row(table, RowOpKind.UPDATE, {0: 21, 1: 1})
    known = addresses(transaction, table)
    write_rows(transaction, table, known, {key: {1: 7} for key in known}, chunk=4)
    transaction.commit(durable=True)


ACTIONS: Mapping[str, Callable[[Store], object]] = {
    "a small INSERT": lambda store: insert(store, t=range(10, 15)),
    "a row": write_one,
    "a large INSERT beside a small one": lambda store: insert(
        store, t=range(1000, 1100), other=range(5, 6)
    ),
    "a large UPDATE": change_many,
    "CREATE TABLE AS": make,
    "CREATE TABLE": lambda store: store.create_table("made", SCHEMA, PARTITIONS),
    "ALTER TABLE": alter,
    "DROP TABLE": lambda store: store.drop_table("other"),
    "CREATE SNAPSHOT": lambda store: store.definitions.create_snapshot("s", None, ""),
    "FLUSH": lambda store: store.flush(),
    "OPTIMIZE": lambda store: store.optimize("t", full=True),
}


class Presser:
    """Presses Ctrl-C at a call of the disk, counted from when it is armed."""

    def __init__(self) -> None:
        self.calls_left: int | None = None

    @property
    def has_pressed(self) -> bool:
        return self.calls_left is not None and self.calls_left < 0

    def hook(self, point: FaultPoint) -> None:
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left == -1:
                signal.raise_signal(signal.SIGINT)


def open_store(env: Env) -> Store:
    return Store(env, ROOT, StoreOptions(threads=1, maintenance=False))


def contents(store: Store) -> Contents:
    transaction = store.begin()
    found = {}
    for name, table in sorted(store.catalog.tables.items()):
        spec = ScanSpec(tuple(column.id for column in table.schema.columns))
        rows = transaction.table_scan(table, spec).to_pylist()
        found[name] = sorted(rows, key=lambda row: int(row["id"]))
    return found


@pytest.fixture(autouse=True)
def few_rows_are_a_bulk_insert() -> Iterator[None]:
    with bulk_inserts_from(BULK):
        yield


@pytest.fixture(autouse=True)
def ctrl_c_raises() -> Iterator[None]:
    """What handles Ctrl-C is Python's own, whatever a Spark session left behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("action", ACTIONS)
def test_memory_and_disk_say_the_same_after_ctrl_c_at_any_call_of_the_disk(action: str) -> None:
    for call in itertools.count():
        disk, presser = MemoryEnv(), Presser()
        with closing(open_store(FaultEnv(disk, presser.hook))) as store:
            for name in ("t", "other"):
                store.create_table(name, SCHEMA, PARTITIONS)
            insert(store, t=range(5))
            store.flush()
            insert(store, t=range(6, 7), other=range(1, 2))
            presser.calls_left = call
            with suppress(KeyboardInterrupt):
                ACTIONS[action](store)
            pressed, presser.calls_left = presser.has_pressed, None
            left = contents(store)
            assert not disk.list_dir(f"{ROOT}/tmp"), call
            insert(store, t=range(5000, 5002))
            store.create_table("later", SCHEMA, PARTITIONS)
            after = contents(store)
            assert [row for row in after["t"] if row["id"] < 5000] == left["t"], call
            assert after.keys() - {"later"} == left.keys(), call
        with closing(open_store(disk)) as store:
            assert contents(store) == after, call
        if not pressed:
            break
    assert call > 1


def test_a_handler_of_the_program_is_called_when_the_block_ends() -> None:
    calls: list[str] = []

    def handler(number: int, frame: FrameType | None) -> None:
        calls.append("handled")

    before = signal.signal(signal.SIGINT, handler)
    try:
        with DeferSigint():
            with DeferSigint():
                signal.raise_signal(signal.SIGINT)
            calls.append("held")
        assert calls == ["held", "handled"]
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_lock_is_free_when_ctrl_c_is_raised() -> None:
    lock, taken = CommitLock(), threading.Event()

    def take() -> None:
        with lock:
            taken.set()

    with pytest.raises(KeyboardInterrupt), lock, lock:
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    other = threading.Thread(target=take)
    other.start()
    other.join()
    assert taken.is_set()


def test_blocks_of_other_threads_leave_the_handler_to_the_main_thread() -> None:
    entered, left = threading.Event(), threading.Event()

    def hold() -> None:
        with DeferSigint(), CommitLock():
            entered.set()
            left.wait()

    other = threading.Thread(target=hold)
    other.start()
    entered.wait()
    try:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with DeferSigint():
            pass
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        left.set()
        other.join()


def test_a_press_is_handled_once_and_not_at_the_end_of_the_next_block() -> None:
    with pytest.raises(KeyboardInterrupt), DeferSigint():
        signal.raise_signal(signal.SIGINT)
    with DeferSigint():
        pass


def is_handled_in_child() -> bool:
    """Whether Ctrl-C interrupts this process, and is deferred by its blocks."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        try:
            with DeferSigint():
                signal.raise_signal(signal.SIGINT)
                deferred = True
        except KeyboardInterrupt:
            return deferred
    return False


def test_ctrl_c_interrupts_a_child_that_another_thread_forked_while_it_was_deferred() -> None:
    codes: list[int] = []

    def fork() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads at a fork
            child = os.fork()
        if not child:
            os._exit(0 if is_handled_in_child() else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    thread = threading.Thread(target=fork)
    with DeferSigint():
        thread.start()
        thread.join()
    assert codes == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
