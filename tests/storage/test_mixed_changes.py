"""Changes of one row in one transaction, by ones and in batches: look-ups see the last."""

import contextlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InterfaceError, SerializationError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import operations, read


@pytest.fixture
def store() -> Iterator[Store]:
    with contextlib.closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as made:
        columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "n")]
        partitions = PartitionSchema((HashDimension((0,), 2),))
        made.create_table("t", create_schema(columns, ["id"]), partitions)
        yield made


def table_of(store: Store) -> TableInfo:
    return store.catalog.table("t")


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("batch_last", [False, True])
def test_a_lookup_sees_the_last_of_a_single_and_a_batch_change(
    store: Store, flushed: bool, batch_last: bool
) -> None:
    table = table_of(store)
    store.write_row(table, RowOpKind.INSERT, {0: 1, 1: 0})
    if flushed:
        store.flush()
    txn = store.begin()
    for value in (1, 2, 3, 4) if batch_last else (1, 2, 3):
        row = {0: 1, 1: value}
        if value % 2:
            txn.write_row(table, RowOpKind.UPDATE, row)
        else:
            txn.write(table, operations(table, RowOpKind.UPDATE, [row]))
        assert txn.lookup(table, (1,), [1]) == (value,)
    txn.commit(durable=True)
    assert store.begin().lookup(table, (1,), [1]) == (value,)


def test_a_row_deleted_alone_and_inserted_by_a_batch_is_there(store: Store) -> None:
    table = table_of(store)
    store.write_row(table, RowOpKind.INSERT, {0: 1, 1: 0})
    txn = store.begin()
    txn.write_row(table, RowOpKind.DELETE, {0: 1})
    txn.write(table, operations(table, RowOpKind.INSERT, [{0: 1, 1: 5}]))
    assert txn.lookup(table, (1,), [1]) == (5,)
    txn.commit(durable=True)
    assert store.begin().lookup(table, (1,), [1]) == (5,)


def test_a_transaction_reads_the_whole_of_a_row_that_it_inserted_over_a_deleted_one(
    store: Store,
) -> None:
    table = table_of(store)
    store.write_row(table, RowOpKind.INSERT, {0: 1, 1: 0})
    store.write_row(table, RowOpKind.DELETE, {0: 1})
    txn = store.begin()
    txn.write(table, operations(table, RowOpKind.INSERT, [{0: 1, 1: 5}]))
    assert txn.lookup(table, (1,), [0, 1]) == (1, 5)


def test_a_key_deleted_and_then_inserted_in_bulk_keeps_its_new_row_over_a_flush(
    store: Store,
) -> None:
    table = table_of(store)
    store.write_row(table, RowOpKind.INSERT, {0: 3, 1: 3})
    txn = store.begin()
    txn.write_row(table, RowOpKind.DELETE, {0: 3})
    keys = pa.array(np.arange(60_000, dtype=np.int32))
    txn.write(
        table,
        RowOperations(
            RowOpKind.INSERT, {0: keys, 1: pa.array(-np.arange(60_000), pa.int32())}, 60_000
        ),
    )
    store.flush()
    txn.commit(durable=True)
    rows = read(store.begin(), table)
    assert len(rows) == 60_000
    assert rows[3,] == {0: 3, 1: -3}


def test_a_closed_store_refuses_what_began_before(store: Store) -> None:
    table = table_of(store)
    txn = store.begin()
    txn.write(table, operations(table, RowOpKind.INSERT, [{0: 1, 1: 1}]))
    store.close()
    with pytest.raises(InterfaceError, match="closed"):
        txn.commit(durable=True)
    with pytest.raises(InterfaceError, match="closed"):
        store.write_row(table, RowOpKind.INSERT, {0: 2, 1: 2})
    with pytest.raises(InterfaceError, match="closed"):
        store.drop_table("t")
    with pytest.raises(InterfaceError, match="closed"):
        store.flush()


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_transaction_sees_its_insert_of_a_key_that_another_one_inserted_since(
    store: Store, one_by_one: bool
) -> None:
    table = table_of(store)
    txn = store.begin()
    store.write_row(table, RowOpKind.INSERT, {0: 1, 1: 0})
    if one_by_one:
        txn.write_row(table, RowOpKind.INSERT, {0: 1, 1: 7})
    else:
        txn.write(table, operations(table, RowOpKind.INSERT, [{0: 1, 1: 7}]))
    assert read(txn, table) == {(1,): {0: 1, 1: 7}}
    with pytest.raises(SerializationError):
        txn.commit(durable=True)
    assert store.begin().lookup(table, (1,), [1]) == (0,)
