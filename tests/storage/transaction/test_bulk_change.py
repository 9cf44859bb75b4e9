"""UPDATE and DELETE of many chunks of rows: all of them or none, in files, and in no one's way."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DiskError,
    InterfaceError,
    NotNullError,
    SerializationError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major, compact_redo
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.addressing import addresses, write_rows
from tests.storage.compactions import compact_tablets
from tests.storage.fault_env import Fail, FaultEnv, FaultPoint
from tests.storage.model import operations

ROWS = 600
CHUNK = 100
Rows = dict[int, int]
OPTIONS = StoreOptions(durability="off", threads=2, maintenance=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(LocalEnv(), str(tmp_path / "db"), OPTIONS)
    make(opened)
    yield opened
    opened.close()


def make(store: Store) -> None:
    """Rows in two rowsets of each tablet, some changed in memory, and in memory."""
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(0, "n", DataType(Kind.INT32), nullable=False),
    ]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    table = store.create_table("t", create_schema(columns, ["id"]), partitions)
    third = ROWS // 3
    upsert(store, table, {key: key for key in range(third)})
    store.flush()
    upsert(store, table, {key: key for key in range(third, 2 * third)})
    store.flush()
    upsert(store, table, {key: key for key in range(2 * third, ROWS)} | {3: -3, 300: -300})


def upsert(store: Store, table: TableInfo, rows: Rows) -> None:
    transaction = store.begin()
    cells = [{0: key, 1: n} for key, n in rows.items()]
    transaction.write(table, operations(table, RowOpKind.UPSERT, cells))
    transaction.commit(durable=False)


def table_of(store: Store) -> TableInfo:
    return store.catalog.table("t")


def seen(transaction: Transaction, store: Store, bound: int | None = None) -> Rows:
    found = transaction.table_scan(table_of(store), ScanSpec((0, 1)), bound)
    rows = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def now(store: Store) -> Rows:
    return seen(store.begin(), store)


def change_all(transaction: Transaction, store: Store, n: int) -> int:
    known = addresses(transaction, table_of(store))
    return write_rows(transaction, table_of(store), known, {k: {1: n} for k in known}, CHUNK)


def delete_all(transaction: Transaction, store: Store) -> int:
    known = addresses(transaction, table_of(store))
    return write_rows(transaction, table_of(store), known, dict.fromkeys(known), CHUNK)


def paths_of(path: Path) -> set[Path]:
    """Files of rows and changes below ``path``; a replaced one goes with its last reader."""
    return {each for kind in ("base", "redo") for each in path.rglob(f"*.{kind}")}


def files_of(path: Path) -> list[str]:
    return sorted(each.name for each in paths_of(path))


def compact_deltas(store: Store) -> None:
    for tablet in store.tablets.values():
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact_redo(tablet, rowset, store.committer.tablet_services)
                compact_major(tablet, rowset, [1], store.committer.tablet_services)


def nothing(store: Store) -> None:
    """No maintenance."""


EXCHANGES = [nothing, Store.flush, compact_tablets, compact_deltas]
CHANGES = {"update": dict.fromkeys(range(ROWS), 7), "delete": dict[int, int]()}


def change(transaction: Transaction, store: Store, how: str) -> int:
    return change_all(transaction, store, 7) if how == "update" else delete_all(transaction, store)


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("how", CHANGES)
def test_changes_are_seen_from_the_commit_on_and_not_before(
    store: Store, tmp_path: Path, how: str, exchange: Callable[[Store], None]
) -> None:
    before, earlier = now(store), store.begin()
    transaction = store.begin()
    assert change(transaction, store, how) == ROWS
    assert seen(transaction, store) == CHANGES[how]
    assert now(store) == before
    exchange(store)
    assert seen(transaction, store) == CHANGES[how]
    commit = transaction.commit(durable=True)
    assert commit is not None
    assert now(store) == CHANGES[how]
    assert seen(earlier, store) == before
    assert seen(store.begin(), store, commit) == before
    assert seen(store.begin(), store, commit + 1) == CHANGES[how]
    assert not list((tmp_path / "db" / "tmp").iterdir())


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("how", CHANGES)
def test_changes_outlive_restarts_maintenance_and_a_check_and_reach_readers(
    store: Store, tmp_path: Path, how: str, exchange: Callable[[Store], None]
) -> None:
    transaction = store.begin()
    change(transaction, store, how)
    transaction.commit(durable=True)
    reader = ReaderStore(LocalEnv(), store.path, OPTIONS)
    assert now(reader) == CHANGES[how]
    reader.close()
    exchange(store)
    assert now(store) == CHANGES[how]
    store.close()
    assert list(DatabaseCheck(LocalEnv(), store.path, quick=False).run()) == []
    with_log = Store(LocalEnv(), str(tmp_path / "db"), OPTIONS)
    assert now(with_log) == CHANGES[how]
    with_log.close()


def test_changes_before_and_behind_those_in_files_keep_their_order(store: Store) -> None:
    table, transaction = table_of(store), store.begin()
    transaction.write_row(table, RowOpKind.UPDATE, {0: 1, 1: 100})
    transaction.write(table, operations(table, RowOpKind.UPDATE, [{0: 2, 1: 100}, {0: 599, 1: 9}]))
    change_all(transaction, store, 7)
    transaction.write_row(table, RowOpKind.UPDATE, {0: 2, 1: 200})
    assert transaction.lookup(table, (1,), [1]) == (7,)
    assert transaction.lookup(table, (2,), [1]) == (200,)
    expected = dict.fromkeys(range(ROWS), 7) | {2: 200}
    assert seen(transaction, store) == expected
    transaction.commit(durable=True)
    assert now(store) == expected
    store.flush()
    compact_tablets(store)
    assert now(store) == expected


def test_changes_of_what_memory_has_changed_come_behind_it_also_after_a_restart(
    store: Store, tmp_path: Path
) -> None:
    transaction = store.begin()
    change_all(transaction, store, 7)
    transaction.commit(durable=True)
    upsert(store, table_of(store), {3: 33})
    expected = dict.fromkeys(range(ROWS), 7) | {3: 33}
    assert now(store) == expected
    store.close()
    again = Store(LocalEnv(), str(tmp_path / "db"), OPTIONS)
    assert now(again) == expected
    again.close()


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("key", [5, 300, 599])
def test_a_row_that_another_transaction_changed_first_refuses_the_commit_and_leaves_no_file(
    store: Store, tmp_path: Path, key: int, exchange: Callable[[Store], None]
) -> None:
    transaction = store.begin()
    change_all(transaction, store, 7)
    upsert(store, table_of(store), {key: -1})
    exchange(store)
    before, files = now(store), paths_of(tmp_path / "db" / "tablets")
    with pytest.raises(SerializationError):
        transaction.commit(durable=True)
    assert now(store) == before
    assert not paths_of(tmp_path / "db" / "tablets") - files
    assert not list((tmp_path / "db" / "tmp").iterdir())


def test_a_row_changed_elsewhere_is_no_conflict(store: Store) -> None:
    table, transaction = table_of(store), store.begin()
    known = {key: place for key, place in addresses(transaction, table).items() if key != 5}
    write_rows(transaction, table, known, {key: {1: 7} for key in known}, CHUNK)
    upsert(store, table, {5: -1, 1000: 1})
    transaction.commit(durable=True)
    assert now(store) == dict.fromkeys(range(ROWS), 7) | {5: -1, 1000: 1}


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_savepoint_takes_back_what_came_behind_it_alone(
    store: Store, tmp_path: Path, exchange: Callable[[Store], None]
) -> None:
    transaction = store.begin()
    change_all(transaction, store, 1)
    savepoint = transaction.savepoint()
    change_all(transaction, store, 2)
    delete_all(transaction, store)
    exchange(store)
    transaction.rollback_to(savepoint)
    assert seen(transaction, store) == dict.fromkeys(range(ROWS), 1)
    delete_all(transaction, store)
    transaction.rollback_to(savepoint)
    transaction.commit(durable=True)
    assert now(store) == dict.fromkeys(range(ROWS), 1)
    assert not list((tmp_path / "db" / "tmp").iterdir())


def test_a_rollback_leaves_nothing(store: Store, tmp_path: Path) -> None:
    before, files = now(store), files_of(tmp_path)
    transaction = store.begin()
    delete_all(transaction, store)
    assert files_of(tmp_path) != files
    transaction.rollback()
    assert now(store) == before
    assert files_of(tmp_path) == files


def test_of_a_row_that_is_named_in_several_chunks_the_last_counts_once(store: Store) -> None:
    table, transaction = table_of(store), store.begin()
    known = addresses(transaction, table)
    places = np.array([known[key] for key in (1, 2, 250, 599)], np.int64)

    def batch(n: int) -> RowOperations:
        cells = {1: pa.array(np.full(4, n, np.int32))}
        return RowOperations(RowOpKind.UPDATE_IGNORE, cells, 4, places)

    assert transaction.change(table, [batch(8), batch(9)]) == 4
    transaction.commit(durable=True)
    assert {key: n for key, n in now(store).items() if key in (1, 2, 250, 599)} == dict.fromkeys(
        (1, 2, 250, 599), 9
    )


def test_a_row_that_is_deleted_in_several_chunks_is_deleted_once(store: Store) -> None:
    table, transaction = table_of(store), store.begin()
    places = np.array(list(addresses(transaction, table).values()), np.int64)
    twice = [RowOperations(RowOpKind.DELETE, {}, len(places), places) for _ in range(2)]
    assert transaction.change(table, twice) == ROWS
    transaction.commit(durable=True)
    store.flush()
    assert now(store) == {}
    metas = [r.meta for t in store.tablets.values() for r in t.components.tree.rowsets]
    assert [meta.live_rows for meta in metas] == [0] * len(metas)


def test_a_cell_that_does_not_fit_in_a_later_chunk_ends_the_statement_without_a_file(
    store: Store, tmp_path: Path
) -> None:
    table, transaction = table_of(store), store.begin()
    known = addresses(transaction, table)
    before, files = seen(transaction, store), files_of(tmp_path)
    cells: dict[object, dict[int, int | None]] = {key: {1: 1} for key in known}
    cells[599] = {1: None}
    addresses(transaction, table)
    with pytest.raises(NotNullError):
        write_rows(transaction, table, known, cells, CHUNK)  # type: ignore[arg-type]
    assert files_of(tmp_path) == files
    assert seen(transaction, store) == before
    transaction.commit(durable=True)
    assert now(store) == before


def test_what_taking_a_chunk_raises_ends_the_statement_without_a_file(
    store: Store, tmp_path: Path
) -> None:
    table, transaction = table_of(store), store.begin()
    places = np.array(list(addresses(transaction, table).values()), np.int64)
    files = files_of(tmp_path)

    def batches() -> Iterable[RowOperations]:
        yield RowOperations(RowOpKind.DELETE, {}, len(places), places)
        raise ValueError("the source is gone")

    with pytest.raises(ValueError, match="gone"):
        transaction.change(table, batches())
    assert files_of(tmp_path) == files
    assert len(seen(transaction, store)) == ROWS


def test_rows_written_since_they_were_addressed_are_refused(store: Store) -> None:
    table, transaction = table_of(store), store.begin()
    known = addresses(transaction, table)
    transaction.write_row(table, RowOpKind.UPDATE, {0: 1, 1: 1})
    with pytest.raises(InterfaceError, match="written since"):
        write_rows(transaction, table, known, {k: {1: 1} for k in known}, CHUNK)


def test_an_update_that_sets_nothing_changes_nothing(store: Store) -> None:
    table, transaction = table_of(store), store.begin()
    places = np.array(list(addresses(transaction, table).values()), np.int64)
    batch = RowOperations(RowOpKind.UPDATE_IGNORE, {}, len(places), places)
    assert transaction.change(table, [batch]) == 0
    assert not transaction.has_writes


@pytest.mark.parametrize("point", ["redo.write", "bulk.rename", "manifest.append"])
def test_a_disk_that_refuses_leaves_the_rows_as_they_were(tmp_path: Path, point: str) -> None:
    refusing = False

    def answer(called: FaultPoint) -> Fail | None:
        return Fail() if refusing and called.point.startswith(point) else None

    env = FaultEnv(LocalEnv(), answer)
    store = Store(env, str(tmp_path / "db"), OPTIONS)
    make(store)
    before, transaction = now(store), store.begin()
    refusing = True
    with pytest.raises(DiskError):
        change_all(transaction, store, 7)
        transaction.commit(durable=True)
    refusing = False
    transaction.rollback()
    assert now(store) == before
    upsert(store, table_of(store), {1: 11})
    assert now(store) == before | {1: 11}
    store.close()
    again = Store(LocalEnv(), str(tmp_path / "db"), OPTIONS)
    assert now(again) == before | {1: 11}
    again.close()


def test_the_counters_know_rows_that_went_into_files(store: Store) -> None:
    counters = store.committer.counters
    updated, deleted = counters.rows_updated, counters.rows_deleted
    for how in CHANGES:
        transaction = store.begin()
        change(transaction, store, how)
        transaction.commit(durable=True)
    assert counters.rows_updated - updated == ROWS
    assert counters.rows_deleted - deleted == ROWS
