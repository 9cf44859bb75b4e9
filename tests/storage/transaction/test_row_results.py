"""Row by row: a batch does what its rows would do one after the other, and reports the rest."""

import contextlib
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import ImmutableColumnError, NotNullError, ProgrammingError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.properties.examples import examples
from tests.storage.model import Key, Row, read

COLLECT = RowErrorMode.COLLECT
ID, FIXED, N = 0, 1, 2
SCHEMA = create_schema(
    [
        ColumnSchema(0, "id", DataType(Kind.STRING)),
        ColumnSchema(0, "fixed", DataType(Kind.INT32), nullable=False, immutable=True),
        ColumnSchema(0, "n", DataType(Kind.STRING)),
    ],
    ["id"],
)
PARTITIONS = PartitionSchema(
    (HashDimension((ID,), 2),), (ID,), (RangePartition(("a",), ("d",)), RangePartition(("e",)))
)
CELLS: dict[int, st.SearchStrategy[Cell]] = {
    ID: st.sampled_from([None, "a", "b", "c", "d", "e", "e" * 16385]),
    FIXED: st.none() | st.integers(0, 3),
    N: st.sampled_from([None, "x", "y", "é" * 32769]),
}
KINDS = tuple(RowOpKind)


@contextlib.contextmanager
def opened() -> Iterator[tuple[Store, TableInfo]]:
    with contextlib.closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as store:
        yield store, store.create_table("t", SCHEMA, PARTITIONS)


def batch(kind: RowOpKind, ids: list[int], rows: list[Row]) -> RowOperations:
    columns = {i: cells_to_array([row[i] for row in rows], SCHEMA.by_id[i].type) for i in ids}
    return RowOperations(kind, columns, len(rows))


def write_each(store: Store, table: TableInfo, operations: RowOperations) -> RowResults:
    txn = store.begin()
    results = txn.write(table, operations, COLLECT)
    txn.commit(durable=True)
    return results


def expected(rows: dict[Key, Row], kind: RowOpKind, row: Row) -> str:
    """Do one row in the model; say what Kudu says of it."""
    for column in SCHEMA.columns:
        cell = row.get(column.id, 0)
        if cell is None and not column.nullable:
            return "InvalidArgument"
        if isinstance(cell, str) and len(cell.encode()) > 65536:
            return "InvalidArgument"
    key = row[ID]
    assert isinstance(key, str)
    if len(key) > 16384:
        return "InvalidArgument"
    if key == "d":
        return "NotFound"
    return _applied(rows, kind, (key,), row)


def _applied(rows: dict[Key, Row], kind: RowOpKind, key: Key, row: Row) -> str:
    ignores = kind.name.endswith("_IGNORE")
    verb = kind.name.removesuffix("_IGNORE")
    if key not in rows:
        if verb in ("UPDATE", "DELETE"):
            return "ignored" if ignores else "NotFound"
        rows[key] = {c.id: row.get(c.id) for c in SCHEMA.columns}
        return "applied"
    if verb == "INSERT":
        return "ignored" if ignores else "AlreadyPresent"
    if verb == "DELETE":
        del rows[key]
        return "applied"
    if FIXED in row and not ignores:
        return "Immutable"
    changed = {i: cell for i, cell in row.items() if i not in (ID, FIXED)}
    rows[key].update(changed)
    return "applied" if changed or verb == "UPSERT" else "ignored"


@st.composite
def statements(draw: st.DrawFn) -> tuple[RowOpKind, list[int], list[Row]]:
    kind = draw(st.sampled_from(KINDS))
    required = [ID, FIXED] if kind.may_insert else [ID]
    others = [] if kind.name.startswith("DELETE") else [FIXED, N]
    chosen = [i for i in others if i in required or draw(st.booleans())]
    if kind.name.startswith("UPDATE") and not chosen:
        chosen = [N]
    row: st.SearchStrategy[Row] = st.fixed_dictionaries({i: CELLS[i] for i in (ID, *chosen)})
    return kind, [ID, *chosen], draw(st.lists(row, max_size=12))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(statements(), min_size=1, max_size=4), st.booleans())
def test_a_batch_does_what_its_rows_do_one_after_the_other(
    made: list[tuple[RowOpKind, list[int], list[Row]]], flush: bool
) -> None:
    model: dict[Key, Row] = {}
    with opened() as (store, table):
        for kind, ids, rows in made:
            outcomes = [expected(model, kind, row) for row in rows]
            results = write_each(store, table, batch(kind, ids, rows))
            assert results.applied == outcomes.count("applied")
            assert results.ignored == outcomes.count("ignored")
            failed = [(i, o) for i, o in enumerate(outcomes) if o[0].isupper()]
            assert [(e.position, e.status) for e in results.errors] == failed
            assert results.failed == len(failed)
            if flush:
                store.flush()
            assert read(store.begin(), table) == model


def test_an_error_names_the_key_and_says_what_is_wrong() -> None:
    with opened() as (store, table):
        rows: list[Row] = [{ID: k, FIXED: 1} for k in ("a", "a", "d", None)]
        results = write_each(store, table, batch(RowOpKind.INSERT, [ID, FIXED], rows))
    assert results.applied == 1
    twice, outside, null = results.errors
    assert (twice.position, twice.key, twice.sqlstate) == (1, "(id) = (a)", "23505")
    assert twice.message == "key already present in table 't': (id) = (a)"
    assert (outside.status, outside.sqlstate) == ("NotFound", "23514")
    assert null.key == "(id) = (NULL)"
    assert "non-nullable column 'id'" in null.message


def test_a_large_batch_goes_into_rowsets_and_still_reports_its_bad_rows() -> None:
    with opened() as (store, table):
        keys: list[Cell] = [f"a{i}" for i in range(60_000)]
        keys[10], keys[59_999] = "d", "a0"
        columns = {ID: pa.array(keys), FIXED: pa.array(range(60_000), pa.int32())}
        results = write_each(store, table, RowOperations(RowOpKind.INSERT, columns, 60_000))
        assert (results.applied, results.failed) == (59_998, 2)
        assert [error.position for error in results.errors] == [10, 59_999]
        assert len(read(store.begin(), table)) == 59_998
        assert any(rowset.kind == "DiskRowSet" for rowset in store.rowset_infos(table))


def test_errors_beyond_the_limit_are_counted() -> None:
    with opened() as (store, table):
        keys = pa.array([f"d{i}" for i in range(12_000)])
        results = write_each(store, table, RowOperations(RowOpKind.DELETE, {ID: keys}, 12_000))
        assert (results.failed, len(results.errors)) == (12_000, 10_000)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_all_or_nothing_refuses_a_new_value_of_an_immutable_column(one_by_one: bool) -> None:
    with opened() as (store, table):
        store.write_row(table, RowOpKind.INSERT, {ID: "a", FIXED: 1, N: "x"})
        for kind in (RowOpKind.UPDATE, RowOpKind.UPSERT):
            txn = store.begin()
            row: Row = {ID: "a", FIXED: 2, N: "y"}
            message = "UPDATE not allowed for immutable column 'fixed' of table 't'"
            with pytest.raises(ImmutableColumnError, match=message):
                if one_by_one:
                    txn.write_row(table, kind, row)
                else:
                    txn.write(table, batch(kind, [ID, FIXED, N], [row]))
        for kind in (RowOpKind.UPDATE_IGNORE, RowOpKind.UPSERT_IGNORE):
            store.write_row(table, kind, {ID: "a", FIXED: 3, N: kind.name})
            assert read(store.begin(), table) == {("a",): {ID: "a", FIXED: 1, N: kind.name}}


def test_what_a_kind_of_operation_may_not_set_is_refused_as_a_whole() -> None:
    with opened() as (store, table):
        txn = store.begin()
        with pytest.raises(NotNullError, match="no value provided for key column 'id'"):
            txn.write(table, batch(RowOpKind.INSERT, [FIXED], [{FIXED: 1}]), COLLECT)
        with pytest.raises(ProgrammingError, match="no fields updated"):
            txn.write(table, batch(RowOpKind.UPDATE, [ID], [{ID: "a"}]), COLLECT)
        with pytest.raises(ProgrammingError, match="should not have a value for column 'n'"):
            txn.write(table, batch(RowOpKind.DELETE, [ID, N], [{ID: "a", N: "x"}]))
        with pytest.raises(NotNullError, match="required column 'fixed'"):
            txn.write(table, batch(RowOpKind.UPSERT, [ID], [{ID: "a"}]), COLLECT)
