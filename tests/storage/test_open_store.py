"""What a store that writes and a store that reads have in common, and how they differ."""

from collections.abc import Callable, Iterator

import pytest

from pykudu_sql.storage.catalog.system_catalog import SYSTEM_TABLES
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import InterfaceError, ReadOnlyError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.remote.system_tables import system_rows
from pykudu_sql.storage.store import Store
from pykudu_sql.storage.store_options import StoreOptions

OPTIONS = StoreOptions(threads=1, maintenance=False)
COLUMNS = [ColumnSchema(0, "k", parse_type("INT")), ColumnSchema(0, "v", parse_type("INT"))]


@pytest.fixture
def env() -> MemoryEnv:
    return MemoryEnv()


@pytest.fixture
def writer(env: MemoryEnv) -> Iterator[Store]:
    store = Store(env, "/db", OPTIONS)
    schema = create_schema(COLUMNS, ["k"])
    table = store.create_table("t", schema, PartitionSchema((HashDimension((0,), 2),)))
    store.write_row(table, RowOpKind.INSERT, {0: 1, 1: 10})
    store.flush()
    store.write_row(table, RowOpKind.INSERT, {0: 2, 1: 20})
    yield store
    store.close()


@pytest.fixture
def reader(env: MemoryEnv, writer: Store) -> Iterator[ReaderStore]:
    store = ReaderStore(env, "/db", OPTIONS)
    yield store
    store.close()


CHANGES: dict[str, Callable[[OpenStore], object]] = {
    "create_table": lambda s: s.create_table("u", create_schema(COLUMNS, ["k"]), PartitionSchema()),
    "drop_table": lambda s: s.drop_table("t"),
    "alter_table": lambda s: s.alter_table("t", ()),
    "flush": lambda s: s.flush("t"),
    "optimize": lambda s: s.optimize("t", full=True),
    "vacuum": lambda s: s.vacuum(),
    "write_row": lambda s: s.write_row(s.catalog.table("t"), RowOpKind.UPSERT, {0: 1, 1: 11}),
    "history_max_age": lambda s: s.definitions.set_history_max_age(5),
    "create_snapshot": lambda s: s.definitions.create_snapshot("s", None, ""),
    "drop_database": lambda s: s.definitions.drop_database("default"),
}


def attributes(store: OpenStore) -> set[str]:
    return {name for name in dir(store) if not name.startswith("_")}


def test_both_stores_have_the_same_public_attributes(writer: Store, reader: ReaderStore) -> None:
    assert attributes(writer) == attributes(reader)
    for name in attributes(writer):
        getattr(writer, name), getattr(reader, name)


@pytest.mark.parametrize("change", CHANGES)
def test_a_reader_refuses_each_change_and_a_writer_makes_it(
    writer: Store, reader: ReaderStore, change: str
) -> None:
    with pytest.raises(ReadOnlyError, match="opened read-only"):
        CHANGES[change](reader)
    CHANGES[change](writer)


@pytest.mark.parametrize("name", sorted(SYSTEM_TABLES))
def test_every_system_table_can_be_read_in_both(
    writer: Store, reader: ReaderStore, name: str
) -> None:
    for store in (writer, reader):
        system_rows(store, SYSTEM_TABLES[name])


def test_a_reader_collects_no_files(writer: Store, reader: ReaderStore) -> None:
    writer.optimize("t", full=True)
    assert reader.collect_files() == 0
    assert reader.maintenance.tidy_up().files == 0


def test_a_transaction_keeps_its_view_when_the_reader_shows_a_newer_one(
    writer: Store, reader: ReaderStore
) -> None:
    table = reader.catalog.table("t")
    with_old = reader.begin()
    before = reader._services
    writer.drop_table("t")
    writer.create_table("u", create_schema(COLUMNS, ["k"]), PartitionSchema())
    reader.refresh()
    assert reader._services is not before
    assert set(reader.catalog.tables) == {"u"}
    assert with_old.lookup(table, (2,), (1,)) == (20,)
    with_old.rollback()


def test_a_refresh_that_finds_only_commits_keeps_the_services(
    writer: Store, reader: ReaderStore
) -> None:
    before = reader._services
    writer.write_row(writer.catalog.table("t"), RowOpKind.INSERT, {0: 3, 1: 30})
    reader.refresh()
    assert reader._services is before
    transaction = reader.begin()
    assert transaction.lookup(reader.catalog.table("t"), (3,), (1,)) == (30,)
    transaction.rollback()


def test_a_closed_store_begins_nothing_and_closes_again(writer: Store, reader: ReaderStore) -> None:
    for store in (reader, writer):
        store.close()
        store.close()
        with pytest.raises(InterfaceError, match="is closed"):
            store.begin()
