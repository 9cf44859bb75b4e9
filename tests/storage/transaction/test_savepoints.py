"""Savepoints: going back forgets what was written since, whatever shape it has."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InterfaceError, SerializationError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.transaction import Transaction
from pykudu_sql.storage.transaction.write_set import Savepoint
from tests.properties.examples import examples
from tests.storage.addressing import addresses, write_rows
from tests.storage.model import operations, read

Rows = dict[int, int]


def new_store(env: Env | None = None, path: str = "/db") -> Store:
    store = Store(env or MemoryEnv(), path, StoreOptions(threads=1, maintenance=False))
    columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "n")]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    store.create_table("t", create_schema(columns, ["id"]), partitions)
    return store


@pytest.fixture
def store() -> Iterator[Store]:
    with contextlib.closing(new_store()) as made:
        yield made


def rows_of(txn: Transaction, store: Store) -> Rows:
    found = read(txn, store.catalog.table("t"))
    return {int(row[0]): int(row[1]) for row in found.values()}  # type: ignore[arg-type]


def write(txn: Transaction, store: Store, kind: RowOpKind, rows: Rows, how: str) -> None:
    table = store.catalog.table("t")
    deletes = kind is RowOpKind.DELETE_IGNORE
    if how in ("by address", "in chunks") and kind is not RowOpKind.UPSERT:
        known = addresses(txn, table)
        found = {k: None if deletes else {1: n} for k, n in rows.items() if k in known}
        write_rows(txn, table, known, found, 2 if how == "in chunks" else 0)
        return
    cells: list[dict[int, Any]] = [{0: k} if deletes else {0: k, 1: n} for k, n in rows.items()]
    if how == "one by one":
        for row in cells:
            txn.write_row(table, kind, row)
    else:
        txn.write(table, operations(table, kind, cells))


def insert_much(txn: Transaction, store: Store, first: int) -> None:
    keys = pa.array(np.arange(first, first + BULK_ROWS, dtype=np.int32))
    rows = RowOperations(RowOpKind.INSERT, {0: keys, 1: keys}, BULK_ROWS)
    txn.write(store.catalog.table("t"), rows)


STEP = st.one_of(
    st.tuples(
        st.just("write"),
        st.sampled_from([RowOpKind.UPSERT, RowOpKind.UPDATE_IGNORE, RowOpKind.DELETE_IGNORE]),
        st.dictionaries(st.integers(0, 9), st.integers(0, 99), min_size=1, max_size=6),
        st.sampled_from(["together", "one by one", "by address", "in chunks"]),
    ),
    st.tuples(st.just("savepoint")),
    st.tuples(st.just("back"), st.integers(0, 9)),
    st.tuples(st.just("flush")),
    st.tuples(st.just("other"), st.integers(100, 109)),
)


def apply(rows: Rows, kind: RowOpKind, given: Rows) -> Rows:
    match kind:
        case RowOpKind.UPSERT:
            return {**rows, **given}
        case RowOpKind.UPDATE_IGNORE:
            return {key: given.get(key, n) for key, n in rows.items()}
        case _:
            return {key: n for key, n in rows.items() if key not in given}


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(STEP, min_size=5, max_size=30))
def test_any_way_through_savepoints_commits_what_the_model_says(steps: list[Any]) -> None:
    with contextlib.closing(new_store()) as store:
        start = {key: key for key in range(0, 10, 2)}
        before = store.begin()
        write(before, store, RowOpKind.UPSERT, start, "together")
        before.commit(durable=False)
        txn, rows, others = store.begin(), start, dict[int, int]()
        places: list[tuple[Savepoint, Rows]] = []
        for step in steps:
            match step:
                case ("write", kind, given_rows, how):
                    write(txn, store, kind, given_rows, how)
                    rows = apply(rows, kind, given_rows)
                case ("savepoint",):
                    places.append((txn.savepoint(), rows))
                case ("back", number) if places:
                    del places[number % len(places) + 1 :]
                    place, rows = places[-1]
                    txn.rollback_to(place)
                case ("flush",):
                    store.flush()
                case ("other", key):
                    others[key] = key
                    store.write_row(store.catalog.table("t"), RowOpKind.UPSERT, {0: key, 1: key})
            assert rows_of(txn, store) == rows
        txn.commit(durable=False)
        assert rows_of(store.begin(), store) == rows | others


def test_a_large_insert_behind_a_savepoint_leaves_no_files(tmp_path: Path) -> None:
    store = new_store(LocalEnv(), str(tmp_path / "db"))
    txn = store.begin()
    insert_much(txn, store, 0)
    place = txn.savepoint()
    files = sorted(tmp_path.rglob("*"))
    insert_much(txn, store, BULK_ROWS)
    assert len(rows_of(txn, store)) == 2 * BULK_ROWS
    txn.rollback_to(place)
    assert sorted(tmp_path.rglob("*")) == files
    assert len(rows_of(txn, store)) == BULK_ROWS
    txn.commit(durable=False)
    assert len(rows_of(store.begin(), store)) == BULK_ROWS
    store.close()


def test_rows_written_behind_a_savepoint_and_forgotten_are_no_conflict(store: Store) -> None:
    table = store.catalog.table("t")
    txn = store.begin()
    write(txn, store, RowOpKind.UPSERT, {1: 1}, "together")
    place = txn.savepoint()
    write(txn, store, RowOpKind.UPSERT, {2: 2}, "together")
    store.write_row(table, RowOpKind.UPSERT, {0: 2, 1: 20})
    txn.rollback_to(place)
    txn.commit(durable=False)
    assert rows_of(store.begin(), store) == {1: 1, 2: 20}


def test_rows_written_before_a_savepoint_are_still_a_conflict(store: Store) -> None:
    table = store.catalog.table("t")
    txn = store.begin()
    write(txn, store, RowOpKind.UPSERT, {1: 1}, "together")
    place = txn.savepoint()
    write(txn, store, RowOpKind.UPSERT, {3: 3}, "one by one")
    store.write_row(table, RowOpKind.UPSERT, {0: 1, 1: 10})
    txn.rollback_to(place)
    with pytest.raises(SerializationError):
        txn.commit(durable=False)
    assert rows_of(store.begin(), store) == {1: 10}


def test_a_transaction_that_went_back_to_its_start_has_written_nothing(store: Store) -> None:
    txn = store.begin()
    place = txn.savepoint()
    write(txn, store, RowOpKind.UPSERT, {1: 1, 2: 2}, "together")
    txn.rollback_to(place)
    assert not txn.has_writes
    assert txn.commit(durable=False) is None


def test_an_ended_transaction_has_no_savepoints(store: Store) -> None:
    txn = store.begin()
    place = txn.savepoint()
    txn.rollback()
    with pytest.raises(InterfaceError, match="ended"):
        txn.savepoint()
    with pytest.raises(InterfaceError, match="ended"):
        txn.rollback_to(place)
