"""One row means the same on every road: alone, in a transaction, in a batch, collected, staged."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults, status_of
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import DatabaseError, InterfaceError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.ingest.staging import StageTarget, create_staging, stage_rows
from pykudu_sql.storage.remote.staged_commit import StagedWrite, commit_staged
from pykudu_sql.storage.store import Store, StoreOptions
from tests.properties.examples import examples
from tests.storage.addressing import addresses
from tests.storage.model import Key, Row, read

ID, FIXED, N, NOTE = 0, 1, 2, 3
COLUMNS = [
    ColumnSchema(0, "id", DataType(Kind.STRING)),
    ColumnSchema(0, "fixed", DataType(Kind.INT32), nullable=False, immutable=True),
    ColumnSchema(0, "n", DataType(Kind.DECIMAL, precision=5, scale=2), write_default=150),
    ColumnSchema(0, "note", DataType(Kind.VARCHAR, length=65_000), nullable=False),
]
COUNTER = len(COLUMNS)
UNIQUE = create_schema(COLUMNS, ["id"])
COUNTED = create_schema(COLUMNS, ["id"], unique=False)
PARTITIONS = PartitionSchema(
    (HashDimension((ID,), 2),), (ID,), (RangePartition(("a",), ("d",)), RangePartition(("e",)))
)
# The tail of each list breaks a rule.
CELLS: dict[int, st.SearchStrategy[Cell]] = {
    ID: st.sampled_from(["a", "b", "c", "é" * 1500, "d", "e" * 16_385, None]),
    FIXED: st.sampled_from([1, 2, 3, None]),
    N: st.sampled_from([0, 12_345, -1, None]),
    NOTE: st.sampled_from(["", "x", "é" * 32_768, "é" * 32_769, None]),
    COUNTER: st.sampled_from([1, 2, 3, -1, None]),
}


@dataclass(frozen=True)
class Outcome:
    """What a write came to: rows changed, or the error; and the rows that are there then."""

    said: tuple[object, ...]
    rows: Mapping[Key, Row]


@contextlib.contextmanager
def opened(schema: Schema) -> Iterator[tuple[Store, TableInfo]]:
    with contextlib.closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as store:
        yield store, store.create_table("t", schema, PARTITIONS)


def one_row(table: TableInfo, kind: RowOpKind, row: Row) -> RowOperations:
    by_id = table.schema.by_id
    return RowOperations(kind, {i: cells_to_array([c], by_id[i].type) for i, c in row.items()}, 1)


def alone(store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> int:
    return store.write_row(table, kind, row)


def as_row(store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> int:
    txn = store.begin()
    changed = txn.write_row(table, kind, row)
    txn.commit(durable=True)
    return changed


def as_batch(store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> int:
    txn = store.begin()
    changed = txn.write(table, one_row(table, kind, row)).applied
    txn.commit(durable=True)
    return changed


Road = Callable[[Store, TableInfo, RowOpKind, Row], int]


def outcome(road: Road, store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> Outcome:
    try:
        said: tuple[object, ...] = (road(store, table, kind, row),)
    except DatabaseError as error:
        said = type(error), error.message, error.hint, error.sqlstate
    return Outcome(said, read(store.begin(), table))


def reason(refused: Outcome) -> tuple[object, ...]:
    """Why an operation was refused, without what can be done about it."""
    kind, message, _, sqlstate = refused.said
    return kind, message, sqlstate


def collected(store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> RowResults:
    txn = store.begin()
    results = txn.write(table, one_row(table, kind, row), RowErrorMode.COLLECT)
    txn.commit(durable=True)
    return results


@st.composite
def rows(draw: st.DrawFn, schema: Schema) -> tuple[RowOpKind, Row]:
    """An operation on one row; now and then with columns that it may not set, or lacks."""
    kind = draw(st.sampled_from(list(RowOpKind)))
    given = draw(st.permutations([i for i in CELLS if i in schema.by_id]))
    wanted = set(schema.key_ids)
    if draw(st.integers(0, 9)):
        if kind.numbers:
            wanted.discard(COUNTER)
        if kind.may_insert:
            wanted |= {FIXED, NOTE}
        if not kind.name.startswith("DELETE"):
            wanted |= draw(st.sets(st.sampled_from([FIXED, N, NOTE]), min_size=1))
    else:
        wanted = draw(st.sets(st.sampled_from(given), min_size=1))
    return kind, {i: draw(CELLS[i]) for i in given if i in wanted}


def check_roads(schema: Schema, flush: bool, statements: Sequence[tuple[RowOpKind, Row]]) -> None:
    """Do the same on stores of their own by every road, and compare after each statement."""
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(opened(schema)) for _ in range(4)]
        collecting, table = stores.pop()
        for kind, row in statements:
            done = [
                outcome(road, *each, kind, row)
                for road, each in zip((alone, as_row, as_batch), stores, strict=True)
            ]
            assert done[0] == done[2], "alone and in a batch"
            assert done[1] == done[2], "in a transaction and in a batch"
            compare_collected(done[2], collecting, table, kind, row)
            if flush:
                for store, _ in (*stores, (collecting, table)):
                    store.flush()


def compare_collected(
    batch: Outcome, store: Store, table: TableInfo, kind: RowOpKind, row: Row
) -> None:
    """The only row's error is what a batch that is done all or none fails with."""
    try:
        results = collected(store, table, kind, row)
    except DatabaseError as error:
        # The set of columns is wrong for every row, so none can be reported by itself.
        assert (type(error), error.message, error.hint, error.sqlstate) == batch.said
        assert read(store.begin(), table) == batch.rows
        return
    assert results.applied + results.ignored + results.failed == 1
    assert read(store.begin(), table) == batch.rows
    if results.failed:
        kind_of, message, _, sqlstate = batch.said
        assert isinstance(kind_of, type)
        (error,) = results.errors
        assert (error.message, error.sqlstate, error.position) == (message, sqlstate, 0)
        assert error.status == status_of(kind_of(message))
    else:
        assert (results.applied,) == batch.said


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(rows(UNIQUE), min_size=1, max_size=5), st.booleans())
def test_a_row_comes_to_the_same_on_every_road(
    statements: list[tuple[RowOpKind, Row]], flush: bool
) -> None:
    check_roads(UNIQUE, flush, statements)


def refused(wrong: Row) -> list[tuple[RowOpKind, Row]]:
    """A row that brings a number and is refused, and one that gets its number."""
    row: Row = {ID: "a", FIXED: 1, NOTE: ""}
    return [(RowOpKind.UPSERT, {**row, COUNTER: 7, **wrong}), (RowOpKind.INSERT, row)]


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(rows(COUNTED), min_size=1, max_size=5), st.booleans())
@example(refused({ID: "e" * 16_385}), False)
@example(refused({ID: "d"}), False)
@example(refused({NOTE: "é" * 32_769}), False)
@example([(RowOpKind.UPSERT, {ID: "a", FIXED: 1, NOTE: "", COUNTER: None})], False)
def test_a_row_of_a_table_that_counts_comes_to_the_same_on_every_road(
    statements: list[tuple[RowOpKind, Row]], flush: bool
) -> None:
    check_roads(COUNTED, flush, statements)


@settings(max_examples=examples(25), deadline=None)
@given(
    st.sampled_from([RowOpKind.UPDATE_IGNORE, RowOpKind.DELETE]),
    st.fixed_dictionaries({i: CELLS[i] for i in (N, NOTE)}),
)
def test_a_row_named_by_its_address_is_refused_and_changed_as_by_its_key(
    kind: RowOpKind, cells: Row
) -> None:
    cells = {} if kind is RowOpKind.DELETE else cells

    def by_address(store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> int:
        txn = store.begin()
        where = addresses(txn, table)["a"]
        columns = {i: cell for i, cell in row.items() if i != ID}
        operations = one_row(table, kind, columns)
        changed = txn.write(table, replace(operations, addresses=_array(where))).applied
        txn.commit(durable=True)
        return changed

    with opened(UNIQUE) as first, opened(UNIQUE) as second:
        for store, table in (first, second):
            store.write_row(table, RowOpKind.INSERT, {ID: "a", FIXED: 1, NOTE: "old"})
        row = {ID: "a", **cells}
        assert outcome(by_address, *first, kind, row) == outcome(as_batch, *second, kind, row)


def _array(address: int) -> npt.NDArray[np.int64]:
    return np.array([address], np.int64)


@pytest.mark.parametrize("kind", list(RowOpKind))
@pytest.mark.parametrize(
    "row",
    [
        {ID: "new", FIXED: 2, N: 5, NOTE: "x"},
        {ID: "a", FIXED: 2, N: 5, NOTE: "x"},
        {ID: "a", FIXED: 2, N: 5, NOTE: None},
        {ID: "a", FIXED: 2, N: None, NOTE: "é" * 32_769},
        {ID: None, FIXED: 2, N: 5, NOTE: "x"},
        {ID: "e" * 16_385, FIXED: 2, N: 5, NOTE: "x"},
        {ID: "d", FIXED: 2, N: 5, NOTE: "x"},
    ],
)
def test_a_staged_row_comes_to_the_same_as_one_of_a_batch(
    tmp_path: Path, kind: RowOpKind, row: Row
) -> None:
    if kind in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE):
        row = {ID: row[ID]}
    env = LocalEnv()

    def staged(store: Store, table: TableInfo, kind: RowOpKind, row: Row) -> int:
        write_id, lock = create_staging(env, store.path)
        with contextlib.ExitStack() as held:
            held.callback(lock.release)
            target = StageTarget(store.path, store.database_id, table, kind, write_id)
            files = list(stage_rows(env, target, one_row(table, kind, row).columns))
            commit_staged(env, store, StagedWrite(target, tuple(row), files))
        return -1

    with (
        contextlib.closing(Store(env, str(tmp_path / "db"), StoreOptions(threads=1))) as store,
        opened(UNIQUE) as (other, other_table),
    ):
        table = store.create_table("t", UNIQUE, PARTITIONS)
        for into, name in ((store, table), (other, other_table)):
            into.write_row(name, RowOpKind.INSERT, {ID: "a", FIXED: 1, NOTE: "old"})
        by_files = outcome(staged, store, table, kind, row)
        by_batch = outcome(as_batch, other, other_table, kind, row)
        assert by_files.rows == by_batch.rows
        if len(by_batch.said) == 1:
            assert by_files.said == (-1,)
        else:
            # The hint is another: a job says how its operation is chosen, not what SQL would be.
            assert reason(by_files) == reason(by_batch)


def test_rows_named_by_addresses_cannot_be_collected() -> None:
    with opened(UNIQUE) as (store, table):
        store.write_row(table, RowOpKind.INSERT, {ID: "a", FIXED: 1, NOTE: "old"})
        txn = store.begin()
        where = _array(addresses(txn, table)["a"])
        deletion = RowOperations(RowOpKind.DELETE, {}, 1, where)
        with pytest.raises(InterfaceError, match="by their keys"):
            txn.write(table, deletion, RowErrorMode.COLLECT)
