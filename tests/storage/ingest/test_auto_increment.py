"""The hidden counter: numbers given out, brought along, found again at opening, and used up."""

import contextlib
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import NotNullError, ValueOutOfRangeError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import read

DAY, COUNTER = 0, 1
LAST = (1 << 63) - 1


@contextlib.contextmanager
def opened(env: MemoryEnv) -> Iterator[tuple[Store, TableInfo]]:
    with contextlib.closing(Store(env, "/db", StoreOptions(threads=1))) as store:
        if "t" not in store.catalog.tables:
            columns = [ColumnSchema(0, "day", DataType(Kind.INT32))]
            schema = create_schema(columns, ["day"], unique=False)
            store.create_table("t", schema, PartitionSchema((HashDimension((DAY,), 3),)))
        yield store, store.catalog.table("t")


def insert(store: Store, table: TableInfo, rows: int) -> None:
    txn = store.begin()
    columns = {DAY: pa.array(range(rows), pa.int32())}
    txn.write(table, RowOperations(RowOpKind.INSERT, columns, rows))
    txn.commit(durable=True)


def numbers(store: Store, table: TableInfo) -> list[int]:
    return sorted(key[1] for key in read(store.begin(), table) if isinstance(key[1], int))


@pytest.mark.parametrize("flushed", [False, True])
def test_the_counter_goes_on_behind_every_row_after_reopening(flushed: bool) -> None:
    env = MemoryEnv()
    with opened(env) as (store, table):
        insert(store, table, 5)
        store.write_row(table, RowOpKind.INSERT, {DAY: 9})
        store.write_row(table, RowOpKind.DELETE, {DAY: 9, COUNTER: 6})
        if flushed:
            store.flush()
    with opened(env) as (store, table):
        store.write_row(table, RowOpKind.INSERT, {DAY: 9})
        assert numbers(store, table) == [1, 2, 3, 4, 5, 7]


def test_an_upsert_beyond_the_counter_moves_it_and_one_below_does_not() -> None:
    with opened(MemoryEnv()) as (store, table):
        insert(store, table, 2)
        store.write_row(table, RowOpKind.UPSERT, {DAY: 1, COUNTER: 50})
        store.write_row(table, RowOpKind.UPSERT, {DAY: 1, COUNTER: 20})
        store.write_row(table, RowOpKind.INSERT, {DAY: 1})
        assert numbers(store, table) == [1, 2, 20, 50, 51]


def test_what_an_operation_must_and_must_not_set() -> None:
    with opened(MemoryEnv()) as (store, table):
        with pytest.raises(NotNullError, match="should be set for UPSERT"):
            store.write_row(table, RowOpKind.UPSERT, {DAY: 1})
        with pytest.raises(ValueOutOfRangeError, match="should not be set for INSERT"):
            store.write_row(table, RowOpKind.INSERT, {DAY: 1, COUNTER: 5})
        with pytest.raises(ValueOutOfRangeError, match="cannot be -1"):
            store.write_row(table, RowOpKind.UPSERT, {DAY: 1, COUNTER: -1})
        for kind in (RowOpKind.UPDATE, RowOpKind.DELETE):
            with pytest.raises(NotNullError, match="auto_incrementing_id"):
                store.write_row(table, kind, {DAY: 1})
        assert numbers(store, table) == []


def test_a_used_up_counter_refuses_inserts() -> None:
    with opened(MemoryEnv()) as (store, table):
        store.write_row(table, RowOpKind.UPSERT, {DAY: 1, COUNTER: LAST - 1})
        store.write_row(table, RowOpKind.INSERT, {DAY: 2})
        assert numbers(store, table) == [LAST - 1, LAST]
        with pytest.raises(ValueOutOfRangeError, match="max auto-incrementing column value"):
            store.write_row(table, RowOpKind.INSERT, {DAY: 3})
        with pytest.raises(ValueOutOfRangeError):
            insert(store, table, 2)


def test_rows_without_a_number_of_their_own_are_reported_row_by_row() -> None:
    with opened(MemoryEnv()) as (store, table):
        txn = store.begin()
        columns = {DAY: pa.array([1, 2, 3], pa.int32()), COUNTER: pa.array([4, -4, None])}
        results = txn.write(
            table, RowOperations(RowOpKind.UPSERT, columns, 3), RowErrorMode.COLLECT
        )
        txn.commit(durable=True)
        assert (results.applied, results.failed) == (1, 2)
        assert [(e.position, e.key) for e in results.errors] == [
            (1, "(day, auto_incrementing_id) = (2, -4)"),
            (2, "(day, auto_incrementing_id) = (3, NULL)"),
        ]
        insert(store, table, 1)
        assert numbers(store, table) == [4, 5]


@contextlib.contextmanager
def opened_with_identity(env: MemoryEnv) -> Iterator[tuple[Store, TableInfo]]:
    with contextlib.closing(Store(env, "/db", StoreOptions(threads=1))) as store:
        if "notes" not in store.catalog.tables:
            columns = [
                ColumnSchema(0, "id", DataType(Kind.INT32), identity=True),
                ColumnSchema(1, "v", DataType(Kind.INT64)),
            ]
            store.create_table("notes", create_schema(columns, ["id"]), PartitionSchema())
        yield store, store.catalog.table("notes")


@pytest.mark.parametrize("flushed", [False, True])
def test_an_identity_goes_on_behind_every_row_after_reopening(flushed: bool) -> None:
    env = MemoryEnv()
    with opened_with_identity(env) as (store, table):
        store.write_row(table, RowOpKind.INSERT, {1: 10})
        store.write_row(table, RowOpKind.INSERT, {0: 7, 1: 70})
        store.write_row(table, RowOpKind.DELETE, {0: 7})
        if flushed:
            store.flush()
    with opened_with_identity(env) as (store, table):
        store.write_row(table, RowOpKind.INSERT, {1: 80})
        assert sorted(read(store.begin(), table)) == [(1,), (8,)]


def test_what_is_no_insert_names_the_identity() -> None:
    with opened_with_identity(MemoryEnv()) as (store, table):
        for kind in (RowOpKind.UPSERT, RowOpKind.UPDATE):
            with pytest.raises(NotNullError, match="no value provided for key column 'id'"):
                store.write_row(table, kind, {1: 10})
