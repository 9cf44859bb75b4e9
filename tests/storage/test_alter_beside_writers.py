"""A transaction commits across changes of its table that its rows still fit, and only those."""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.alter import (
    AddColumn,
    AddRange,
    AlterStep,
    DropColumn,
    DropRange,
    RenameColumn,
    RenameTable,
    SetAttributes,
    SetDefault,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema, RangePartition
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding, Kind
from pykudu_sql.storage.errors import SerializationError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.model import Row, operations, read

INT = DataType(Kind.INT32)
ID, N, NOTE, ADDED = 0, 1, 2, 3
LOW, HIGH = RangePartition((0,), (100_000,)), RangePartition((100_000,), (200_000,))
ADD = AddColumn(ColumnSchema(0, "added", INT, nullable=False, write_default=7))


@pytest.fixture
def env() -> MemoryEnv:
    return MemoryEnv()


@pytest.fixture
def store(env: MemoryEnv) -> Iterator[Store]:
    with contextlib.closing(Store(env, "/db", StoreOptions(threads=1))) as made:
        columns = [
            ColumnSchema(0, "id", INT),
            ColumnSchema(0, "n", INT),
            ColumnSchema(0, "note", DataType(Kind.STRING)),
        ]
        partitions = PartitionSchema((), (ID,), (LOW, HIGH))
        made.create_table("t", create_schema(columns, ["id"]), partitions)
        made.write_row(table_of(made), RowOpKind.INSERT, {ID: 1, N: 1, NOTE: "one"})
        yield made


def table_of(store: Store) -> TableInfo:
    return store.catalog.table("t")


FITTING: dict[str, Sequence[AlterStep]] = {
    "a column is added": [ADD],
    "a column is dropped": [DropColumn("note")],
    "a column is dropped and its name given again": [
        DropColumn("note"),
        AddColumn(ColumnSchema(0, "note", INT)),
    ],
    "a column is renamed": [RenameColumn("n", "number")],
    "a default moves": [SetDefault("n", 5)],
    "attributes change": [
        SetAttributes("n", Encoding("PLAIN_ENCODING"), Compression.ZLIB, 4096, "text")
    ],
    "a range is added": [AddRange(RangePartition((200_000,), (300_000,)))],
}


@pytest.mark.parametrize("steps", FITTING.values(), ids=FITTING)
@pytest.mark.parametrize("flushed", [False, True])
def test_a_transaction_commits_when(
    env: MemoryEnv, store: Store, steps: Sequence[AlterStep], flushed: bool
) -> None:
    old = table_of(store)
    txn = store.begin()
    txn.write_row(old, RowOpKind.INSERT, {ID: 2, N: 2, NOTE: "two"})
    txn.write(old, operations(old, RowOpKind.UPDATE, [{ID: 1, N: 10, NOTE: "ten"}]))
    bulk = np.arange(100_000, 160_000, dtype=np.int32)
    columns = {ID: pa.array(bulk), N: pa.array(bulk)}
    txn.write(old, RowOperations(RowOpKind.INSERT, columns, len(bulk)))
    store.alter_table("t", steps)
    if flushed:
        store.flush()
    txn.commit(durable=True)
    table = table_of(store)
    rows = read(store.begin(), table)
    written: list[Row] = [{ID: 1, N: 10, NOTE: "ten"}, {ID: 2, N: 2, NOTE: "two"}]
    for row in written:
        shown = {c.id: row.get(c.id, c.read_default) for c in table.schema.columns}
        assert rows[row[ID],] == shown
    assert rows[100_000,][N] == 100_000
    assert len(rows) == 60_002
    store.close()
    with contextlib.closing(Store(env, "/db", StoreOptions(threads=1))) as reopened:
        assert read(reopened.begin(), table_of(reopened)) == rows


@pytest.mark.parametrize(
    "step", [DropRange(LOW), SetAttributes("n", immutable=True)], ids=["range", "immutable"]
)
def test_a_transaction_fails_when_its_rows_fit_no_more(store: Store, step: AlterStep) -> None:
    old = table_of(store)
    txn = store.begin()
    txn.write_row(old, RowOpKind.UPDATE, {ID: 1, N: 2})
    store.alter_table("t", [step])
    with pytest.raises(SerializationError, match="was changed by another session"):
        txn.commit(durable=True)


def test_statements_of_one_transaction_before_and_after_a_change_commit_together(
    store: Store,
) -> None:
    old = table_of(store)
    txn = store.begin()
    txn.write_row(old, RowOpKind.INSERT, {ID: 2, N: 2})
    store.alter_table("t", [ADD, RenameTable("u")])
    new = store.catalog.table("u")
    txn.write_row(new, RowOpKind.INSERT, {ID: 3, ADDED: 30})
    txn.write_row(new, RowOpKind.UPDATE, {ID: 2, ADDED: 20})
    txn.commit(durable=True)
    rows = read(store.begin(), new)
    assert {key: row[ADDED] for key, row in rows.items()} == {(1,): 7, (2,): 20, (3,): 30}


def test_a_range_dropped_after_a_later_statement_wrote_to_it_fails_the_commit(
    store: Store,
) -> None:
    added = RangePartition((200_000,), (300_000,))
    txn = store.begin()
    txn.write_row(table_of(store), RowOpKind.INSERT, {ID: 2})
    store.alter_table("t", [AddRange(added)])
    txn.write_row(table_of(store), RowOpKind.INSERT, {ID: 250_000})
    store.alter_table("t", [DropRange(added)])
    with pytest.raises(SerializationError):
        txn.commit(durable=True)


def test_changed_attributes_hold_for_files_written_from_then_on(store: Store) -> None:
    def encodings() -> list[str]:
        files = store.column_file_infos(table_of(store))
        return [file.encoding for file in files if file.column == "n"]

    store.flush()
    store.alter_table("t", [SetAttributes("n", encoding=Encoding("PLAIN_ENCODING"))])
    assert encodings() == ["BIT_SHUFFLE"]
    store.write_row(table_of(store), RowOpKind.INSERT, {ID: 2, N: 2})
    store.flush()
    assert encodings() == ["BIT_SHUFFLE", "PLAIN_ENCODING"]
