"""An INSERT of many batches: all of them or none, checked like one batch, and in no one's way."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common import progress
from pykudu_sql.storage.common.keys.encoded_keys import EncodedKeys
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DiskError,
    NotNullError,
    SerializationError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.delta.delta_store import Ordinals
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.fault_env import Fail, FaultEnv, FaultPoint

ROWS = 3000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    options = StoreOptions(durability="off", threads=2, maintenance=False)
    opened = Store(LocalEnv(), str(tmp_path / "db"), options)
    yield opened
    opened.close()


def make(store: Store) -> TableInfo:
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT64)),
        ColumnSchema(0, "n", DataType(Kind.INT64), nullable=True),
    ]
    partitions = PartitionSchema((HashDimension((0,), 3),))
    return store.create_table("t", create_schema(columns, ["id"]), partitions)


def inserts(keys: Iterable[int | None]) -> RowOperations:
    values = pa.array(list(keys), pa.int64())
    return RowOperations(RowOpKind.INSERT, {0: values, 1: values}, len(values))


def keys_of(transaction: Transaction, table: TableInfo, bound: int | None = None) -> list[int]:
    return sorted(transaction.table_scan(table, ScanSpec((0,)), bound).column("id").to_pylist())


def files_of(path: Path) -> list[str]:
    return sorted(
        found.name for folder in ("tmp", "tablets") for found in path.rglob(f"{folder}/**/*.base")
    )


STRIDED = [inserts(range(start, ROWS, 7)) for start in range(7)]
IN_ORDER = [inserts(range(start, start + 500)) for start in range(0, ROWS, 500)]


@pytest.mark.parametrize("batches", [STRIDED, IN_ORDER], ids=["strided", "in_order"])
def test_the_rows_of_all_batches_appear_with_one_commit_and_not_before(
    store: Store, batches: Sequence[RowOperations]
) -> None:
    table = make(store)
    before = store.begin()
    loading = store.begin()
    seen: list[list[int]] = []

    def coming() -> Iterator[RowOperations]:
        for batch in batches:
            seen.append([len(keys_of(each, table)) for each in (before, loading, store.begin())])
            yield batch

    assert loading.insert(table, coming()) == ROWS
    assert seen == [[0, 0, 0]] * len(batches)
    assert keys_of(loading, table) == list(range(ROWS))
    assert keys_of(store.begin(), table) == []
    moment = loading.commit(durable=False)
    assert moment is not None
    assert keys_of(store.begin(), table) == list(range(ROWS))
    assert keys_of(store.begin(), table, moment) == keys_of(before, table) == []
    assert keys_of(store.begin(), table, moment + 1) == list(range(ROWS))


def test_empty_batches_and_none_at_all_insert_nothing(store: Store) -> None:
    table = make(store)
    transaction = store.begin()
    assert transaction.insert(table, []) == 0
    assert transaction.insert(table, [inserts([]), inserts([])]) == 0
    assert not transaction.has_writes
    assert transaction.insert(table, [inserts([]), inserts([4]), inserts([])]) == 1
    transaction.commit(durable=False)
    assert keys_of(store.begin(), table) == [4]


FAULTS = {
    "twice in one batch": ([1, 2, 1], AlreadyPresentError, r"twice in one INSERT .* = \(1\)"),
    "twice in two batches": ([ROWS, 77], AlreadyPresentError, r"twice in one INSERT .* = \(77\)"),
    "there already": ([ROWS + 5], AlreadyPresentError, r"already present .* = \(3005\)"),
    "in the transaction": ([ROWS + 6], AlreadyPresentError, r"already present .* = \(3006\)"),
    "NULL": ([ROWS, None], NotNullError, "id"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_row_that_does_not_fit_leaves_nothing_of_any_batch(
    store: Store, tmp_path: Path, fault: str
) -> None:
    keys, error, message = FAULTS[fault]
    table = make(store)
    first = store.begin()
    first.insert(table, [inserts([ROWS + 5])])
    first.commit(durable=False)
    transaction = store.begin()
    transaction.write(table, inserts([ROWS + 6]))
    files = files_of(tmp_path)
    with pytest.raises(error, match=message):
        transaction.insert(table, [*STRIDED, inserts(keys)])
    assert files_of(tmp_path) == files
    assert keys_of(transaction, table) == [ROWS + 5, ROWS + 6]
    transaction.insert(table, STRIDED)
    transaction.commit(durable=False)
    assert keys_of(store.begin(), table) == [*range(ROWS), ROWS + 5, ROWS + 6]


def test_what_taking_a_batch_raises_leaves_nothing(store: Store, tmp_path: Path) -> None:
    table = make(store)

    def coming() -> Iterator[RowOperations]:
        yield STRIDED[0]
        raise KeyboardInterrupt

    transaction = store.begin()
    with pytest.raises(KeyboardInterrupt):
        transaction.insert(table, coming())
    assert files_of(tmp_path) == []
    assert keys_of(transaction, table) == []


def test_a_disk_that_refuses_one_file_leaves_none(tmp_path: Path) -> None:
    written: list[FaultPoint] = []

    def refuse(point: FaultPoint) -> Fail | None:
        if point.point != "base.write.sync":
            return None
        written.append(point)
        return Fail() if len(written) == 11 else None

    env = FaultEnv(LocalEnv(), refuse)
    store = Store(env, str(tmp_path / "db"), StoreOptions(threads=2, maintenance=False))
    table = make(store)
    transaction = store.begin()
    with pytest.raises(DiskError):
        transaction.insert(table, STRIDED)
    assert files_of(tmp_path) == []
    assert transaction.insert(table, STRIDED) == ROWS
    transaction.commit(durable=True)
    assert keys_of(store.begin(), table) == list(range(ROWS))
    store.close()


def test_going_back_to_a_savepoint_forgets_the_batches_behind_it(
    store: Store, tmp_path: Path
) -> None:
    table = make(store)
    transaction = store.begin()
    transaction.insert(table, STRIDED[:2])
    place, files = transaction.savepoint(), files_of(tmp_path)
    transaction.insert(table, STRIDED[2:])
    transaction.rollback_to(place)
    assert files_of(tmp_path) == files
    transaction.insert(table, STRIDED[2:])
    transaction.commit(durable=False)
    assert keys_of(store.begin(), table) == list(range(ROWS))


def test_another_sessions_insert_of_one_of_the_keys_comes_first(
    store: Store, tmp_path: Path
) -> None:
    table = make(store)

    def coming() -> Iterator[RowOperations]:
        yield from STRIDED
        other = store.begin()
        other.write(table, inserts([77]))
        other.commit(durable=False)

    transaction = store.begin()
    transaction.insert(table, coming())
    with pytest.raises(SerializationError):
        transaction.commit(durable=False)
    assert keys_of(store.begin(), table) == [77]
    assert files_of(tmp_path) == []


def test_flushes_and_other_commits_between_batches_are_no_obstacle(store: Store) -> None:
    table = make(store)

    def coming() -> Iterator[RowOperations]:
        for place, batch in enumerate(STRIDED):
            other = store.begin()
            other.write(table, inserts([ROWS + place]))
            other.commit(durable=False)
            store.flush()
            yield batch

    transaction = store.begin()
    transaction.insert(table, coming())
    transaction.commit(durable=False)
    assert keys_of(store.begin(), table) == list(range(ROWS + len(STRIDED)))


def test_deleted_rows_are_inserted_again_and_stay_in_the_past(store: Store) -> None:
    table = make(store)
    first = store.begin()
    first.insert(table, STRIDED)
    inserted = first.commit(durable=False)
    second = store.begin()
    gone = pa.array(range(0, ROWS, 2), pa.int64())
    second.write(table, RowOperations(RowOpKind.DELETE, {0: gone}, len(gone)))
    deleted = second.commit(durable=False)
    third = store.begin()
    third.insert(table, [inserts(range(start, ROWS, 4)) for start in (2, 0)])
    third.commit(durable=False)
    assert inserted is not None
    assert deleted is not None
    assert keys_of(store.begin(), table, inserted + 1) == list(range(ROWS))
    assert keys_of(store.begin(), table, deleted + 1) == list(range(1, ROWS, 2))
    assert keys_of(store.begin(), table) == list(range(ROWS))


def test_rowsets_of_other_keys_are_not_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make(store)
    first = store.begin()
    first.insert(table, [inserts(range(ROWS)), inserts(range(ROWS, 2 * ROWS))])
    first.commit(durable=False)
    asked: list[int] = []
    find = DiskRowSet.find

    def told(self: DiskRowSet, keys: EncodedKeys) -> Ordinals:
        asked.append(self.meta.rows)
        return find(self, keys)

    monkeypatch.setattr(DiskRowSet, "find", told)
    second = store.begin()
    second.insert(table, [inserts(range(2 * ROWS, 3 * ROWS))])
    assert asked == []
    with pytest.raises(AlreadyPresentError, match=r"= \(2999\)"):
        second.insert(table, [inserts(range(3 * ROWS, 4 * ROWS)), inserts([ROWS - 1, 4 * ROWS])])
    second.commit(durable=False)
    assert keys_of(store.begin(), table) == list(range(3 * ROWS))


class Steps(progress.Counter):
    """A counter that keeps what it was given."""

    __slots__ = ("steps",)

    def __init__(self, activity: str, total: int | None, unit: progress.Unit) -> None:
        super().__init__(activity, total, unit)
        self.steps: list[int] = []

    def add(self, count: int) -> None:
        super().add(count)
        self.steps.append(count)


def test_progress_moves_with_every_column_that_is_written(store: Store) -> None:
    table = make(store)
    counters: list[Steps] = []

    def new_counter(activity: str, total: int | None, unit: progress.Unit) -> Steps:
        counters.append(Steps(activity, total, unit))
        return counters[-1]

    with progress.followed(new_counter):
        store.begin().insert(table, [inserts(range(ROWS))])
    sorting, writing = counters
    assert (sorting.activity, sorting.is_done) == ("sorting t", True)
    assert (writing.activity, writing.done, writing.total) == ("writing t", ROWS, ROWS)
    assert sum(map(bool, writing.steps)) > len(table.tablets)
