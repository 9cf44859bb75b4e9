"""An operation on one row that depends on the row: nothing comes between reading and writing."""

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import SerializationError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.row_writer import SingleOperation

KEY, COUNT = 0, 1


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=1, maintenance=False))
    columns = [
        ColumnSchema(0, "key", DataType(Kind.INT64)),
        ColumnSchema(0, "count", DataType(Kind.INT64), nullable=True),
    ]
    made.create_table("t", create_schema(columns, ["key"]), PartitionSchema(()))
    yield made
    made.close()


def table_of(store: Store) -> TableInfo:
    return store.catalog.table("t")


def count_of(store: Store, key: int) -> tuple[Cell, ...] | None:
    return store.begin().lookup(table_of(store), (key,), (COUNT,))


def add(store: Store, key: int) -> int:
    """Count a row, which begins with 1."""

    def choose(read: tuple[Cell, ...] | None) -> SingleOperation:
        if read is None:
            return SingleOperation(RowOpKind.INSERT, {KEY: key, COUNT: 1})
        (count,) = read
        assert isinstance(count, int)
        return SingleOperation(RowOpKind.UPDATE, {KEY: key, COUNT: count + 1})

    return store.change_row(table_of(store), (key,), (COUNT,), choose)


def test_the_operation_is_chosen_by_the_row_that_is_there(store: Store) -> None:
    assert add(store, 5) == 1
    assert add(store, 5) == 1
    store.flush()
    assert add(store, 5) == 1
    assert count_of(store, 5) == (3,)
    assert count_of(store, 6) is None


def test_no_operation_is_no_row_and_no_commit(store: Store) -> None:
    add(store, 5)
    read: list[tuple[Cell, ...] | None] = []
    for key in (5, 6):
        assert store.change_row(table_of(store), (key,), (COUNT, KEY), read.append) == 0
    assert read == [(1, 5), None]
    assert count_of(store, 5) == (1,)


def test_what_choosing_raises_leaves_the_row_and_the_lock_alone(store: Store) -> None:
    add(store, 5)

    def choose(read: tuple[Cell, ...] | None) -> SingleOperation:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        store.change_row(table_of(store), (5,), (COUNT,), choose)
    assert count_of(store, 5) == (1,)
    assert add(store, 5) == 1


def test_a_deleted_row_is_not_there(store: Store) -> None:
    add(store, 5)
    operation = SingleOperation(RowOpKind.DELETE_IGNORE, {KEY: 5})
    assert store.change_row(table_of(store), (5,), (), lambda read: operation) == 1
    assert count_of(store, 5) is None
    assert add(store, 5) == 1
    assert count_of(store, 5) == (1,)


def test_threads_lose_no_race_and_no_count(store: Store) -> None:
    threads = [
        threading.Thread(target=lambda: [add(store, number % 3) for number in range(90)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [count_of(store, key) for key in range(3)] == [(120,)] * 3
    assert store.committer.counters.conflicts == 0


def test_a_transaction_that_was_open_before_finds_the_conflict(store: Store) -> None:
    add(store, 5)
    transaction = store.begin()
    columns = {KEY: pa.array([5]), COUNT: pa.array([50])}
    transaction.write(table_of(store), RowOperations(RowOpKind.UPDATE, columns, 1))
    add(store, 5)
    with pytest.raises(SerializationError):
        transaction.commit(durable=False)
    assert count_of(store, 5) == (2,)
