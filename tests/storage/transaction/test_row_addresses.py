"""Writes to rows that a scan has found, by their addresses: what they do, and what they outlive."""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InterfaceError, NotNullError, SerializationError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.ingest.bulk_writer import BULK_ROWS
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major
from pykudu_sql.storage.tablet.rowset.locator import TabletComponents
from pykudu_sql.storage.tablet.write.pending_writes import PendingWrites
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.addressing import addresses, write_rows
from tests.storage.compactions import compact_tablets
from tests.storage.model import operations

K, N, FIXED = 0, 1, 2
Rows = dict[int, int]


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=2, maintenance=False))
    columns = [
        ColumnSchema(0, "k", DataType(Kind.INT32)),
        ColumnSchema(0, "n", DataType(Kind.INT32), nullable=False),
        ColumnSchema(0, "fixed", DataType(Kind.INT32), immutable=True),
    ]
    made.create_table(
        "t", create_schema(columns, ["k"]), PartitionSchema((HashDimension((K,), 2),))
    )
    with contextlib.closing(made):
        yield made


@pytest.fixture
def table(store: Store) -> TableInfo:
    return store.catalog.table("t")


def upsert(txn: Transaction, table: TableInfo, rows: Rows) -> None:
    cells = [{K: key, N: n} for key, n in rows.items()]
    txn.write(table, operations(table, RowOpKind.UPSERT, cells))


def commit_rows(store: Store, rows: Rows) -> None:
    txn = store.begin()
    upsert(txn, store.catalog.table("t"), rows)
    txn.commit(durable=False)


def seen(txn: Transaction, table: TableInfo) -> Rows:
    found = txn.table_scan(table, ScanSpec((K, N)))
    return dict(zip(*(column.to_pylist() for column in found.columns), strict=True))


def now(store: Store) -> Rows:
    return seen(store.begin(), store.catalog.table("t"))


def compact_deltas(store: Store) -> None:
    for tablet in store.tablets.values():
        with tablet.maintenance_lock:
            for rowset in tablet.components.tree.rowsets:
                compact_major(tablet, rowset, [N], store.committer.tablet_services)


def begin_flush(store: Store) -> None:
    """The first step of a flush, which leaves what is in memory there."""
    for tablet in store.tablets.values():
        old = tablet.components
        flushing = (*old.flushing, old.memrowset)
        tablet.components = TabletComponents(tablet.new_memrowset(), flushing, old.tree)


def nothing(store: Store) -> None:
    """No maintenance."""


EXCHANGES = [nothing, Store.flush, compact_tablets, compact_deltas]


@pytest.fixture
def mixed(store: Store) -> dict[int, int]:
    """Rows in two rowsets on disk, changed there, and in memory."""
    commit_rows(store, {key: key for key in range(10)})
    store.flush()
    commit_rows(store, {key: key for key in range(10, 20)})
    store.flush()
    commit_rows(store, {3: 300, 13: 1300})
    store.flush()
    commit_rows(store, {key: key for key in range(20, 30)} | {4: 400})
    return now(store)


def test_rows_wherever_they_are_have_addresses_of_their_own(
    store: Store, table: TableInfo, mixed: Rows
) -> None:
    txn = store.begin()
    upsert(txn, table, {40: 40, 41: 41})
    keys = pa.array(np.arange(1000, 1000 + BULK_ROWS, dtype=np.int32))
    txn.write(table, RowOperations(RowOpKind.INSERT, {i: keys for i in (K, N, FIXED)}, BULK_ROWS))
    known = addresses(txn, table)
    assert len(set(known.values())) == len(known) == len(mixed) + 2 + BULK_ROWS
    assert write_rows(txn, table, known, {key: {N: -1} for key in known}) == len(known)
    assert seen(txn, table) == dict.fromkeys(known, -1)
    known = addresses(txn, table)
    assert write_rows(txn, table, known, {key: None for key in known if key != 40}) > BULK_ROWS
    txn.commit(durable=False)
    assert now(store) == {40: -1}


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("value", [7, None])
def test_what_is_written_outlives_a_flush_or_compaction_after_the_scan(
    store: Store,
    table: TableInfo,
    mixed: Rows,
    exchange: Callable[[Store], None],
    value: int | None,
) -> None:
    txn = store.begin()
    known = addresses(txn, table)
    exchange(store)
    chosen = [3, 5, 13, 15, 23, 25]
    assert write_rows(txn, table, known, {k: value and {N: value} for k in chosen}) == 6
    exchange(store)
    changed = mixed | dict.fromkeys(chosen, value)
    expected = {key: n for key, n in changed.items() if n is not None}
    assert seen(txn, table) == expected
    txn.commit(durable=False)
    assert now(store) == expected


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("key", [5, 25])
def test_a_row_that_somebody_changed_meanwhile_is_a_conflict(
    store: Store, table: TableInfo, mixed: Rows, exchange: Callable[[Store], None], key: int
) -> None:
    txn = store.begin()
    known = addresses(txn, table)
    store.write_row(table, RowOpKind.UPDATE, {K: key, N: 0})
    exchange(store)
    write_rows(txn, table, known, {key: {N: 1}})
    with pytest.raises(SerializationError):
        txn.commit(durable=False)
    assert now(store) == mixed | {key: 0}


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_row_deleted_and_inserted_again_meanwhile_is_a_conflict(
    store: Store, table: TableInfo, mixed: Rows, exchange: Callable[[Store], None]
) -> None:
    txn = store.begin()
    known = addresses(txn, table)
    store.write_row(table, RowOpKind.DELETE, {K: 5})
    exchange(store)
    store.write_row(table, RowOpKind.INSERT, {K: 5, N: 0})
    write_rows(txn, table, known, {5: {N: 1}})
    with pytest.raises(SerializationError):
        txn.commit(durable=False)


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_changes_of_other_rows_are_no_conflict(
    store: Store, table: TableInfo, mixed: Rows, exchange: Callable[[Store], None]
) -> None:
    txn = store.begin()
    known = addresses(txn, table)
    commit_rows(store, {6: 0, 26: 0, 50: 0})
    exchange(store)
    write_rows(txn, table, known, {5: {N: 1}, 25: {N: 1}})
    txn.commit(durable=False)
    assert now(store) == mixed | {6: 0, 26: 0, 50: 0, 5: 1, 25: 1}


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_going_back_to_a_savepoint_keeps_what_was_written_before_it(
    store: Store, table: TableInfo, mixed: Rows, exchange: Callable[[Store], None]
) -> None:
    txn = store.begin()
    upsert(txn, table, {40: 40, 5: 5})
    write_rows(txn, table, addresses(txn, table), {key: {N: 1} for key in (5, 25, 40)})
    place = txn.savepoint()
    write_rows(txn, table, addresses(txn, table), {key: None for key in (5, 15, 25, 40)})
    exchange(store)
    txn.rollback_to(place)
    expected = mixed | dict.fromkeys((5, 25, 40), 1)
    assert seen(txn, table) == expected
    txn.commit(durable=False)
    assert now(store) == expected


@pytest.mark.parametrize("exchange", [begin_flush, Store.flush])
def test_a_ghost_that_was_inserted_again_and_is_elsewhere_now_keeps_its_change(
    store: Store, table: TableInfo, exchange: Callable[[Store], None]
) -> None:
    commit_rows(store, {1: 1})
    store.write_row(table, RowOpKind.DELETE, {K: 1})
    txn = store.begin()
    upsert(txn, table, {1: 2})
    write_rows(txn, table, addresses(txn, table), {1: {N: 3}})
    exchange(store)
    txn.commit(durable=False)
    assert now(store) == {1: 3}


def test_of_a_row_named_twice_the_last_value_counts(store: Store, table: TableInfo) -> None:
    commit_rows(store, {1: 1, 2: 2})
    txn = store.begin()
    known = addresses(txn, table)
    where = np.array([known[1], known[2], known[1]])
    columns = {N: pa.array([7, 8, 9], pa.int32())}
    changes = RowOperations(RowOpKind.UPDATE_IGNORE, columns, len(where), where)
    assert txn.write(table, changes).applied == 2
    assert seen(txn, table) == {1: 9, 2: 8}


def test_cells_that_do_not_fit_leave_all_rows_alone(store: Store, table: TableInfo) -> None:
    commit_rows(store, {1: 1, 2: 2})
    txn = store.begin()
    with pytest.raises(NotNullError, match="'n'"):
        write_rows(txn, table, addresses(txn, table), {1: {N: 7}, 2: {N: None}})
    assert not txn.has_writes


def test_immutable_cells_are_left_alone(store: Store, table: TableInfo, mixed: Rows) -> None:
    txn = store.begin()
    known = addresses(txn, table)
    assert write_rows(txn, table, known, {5: {FIXED: 1}, 25: {FIXED: 1}}) == 0
    write_rows(txn, table, addresses(txn, table), {5: {N: 1, FIXED: 1}})
    assert seen(txn, table) == mixed | {5: 1}
    assert set(txn.table_scan(table, ScanSpec((FIXED,))).column(0).to_pylist()) == {None}


def test_addresses_hold_for_one_write_and_no_other_before_it(
    store: Store, table: TableInfo, mixed: Rows
) -> None:
    txn = store.begin()
    known = addresses(txn, table)
    write_rows(txn, table, known, {5: None})
    with pytest.raises(InterfaceError, match="addresses"):
        write_rows(txn, table, known, {6: None})
    known = addresses(txn, table)
    upsert(txn, table, {6: 0})
    with pytest.raises(InterfaceError, match="written since"):
        write_rows(txn, table, known, {6: None})
    place, known = txn.savepoint(), addresses(txn, table)
    txn.rollback_to(place)
    with pytest.raises(InterfaceError, match="addresses"):
        write_rows(txn, table, known, {6: None})


@pytest.mark.parametrize(
    "spec",
    [
        ScanSpec((K,), addressed=True),
        ScanSpec((K,), limit=100, addressed=True),
        ScanSpec((K,), limit=100, order=ScanOrder.KEY, addressed=True),
    ],
)
def test_every_way_to_scan_gives_the_same_addresses(
    store: Store, table: TableInfo, mixed: Rows, spec: ScanSpec
) -> None:
    txn = store.begin()
    whole = addresses(txn, table)
    found = txn.scan(table, spec)
    streamed = pa.Table.from_batches(found.batches(), found.batch_schema)
    for rows in (found.to_table(), streamed):
        assert dict(zip(*(c.to_pylist() for c in rows.columns), strict=True)) == whole


def test_writes_are_not_done_over_where_only_deltas_were_flushed_or_compacted(
    store: Store, table: TableInfo, mixed: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.flush()
    txn = store.begin()
    upsert(txn, table, {3: 33, 50: 50})
    commit_rows(store, {5: 55, 15: 1515})
    before = [tablet.components for tablet in store.tablets.values()]
    store.flush()
    compact_deltas(store)
    assert all(
        old is not t.components for old, t in zip(before, store.tablets.values(), strict=True)
    )

    def again(*_: object) -> PendingWrites:
        raise AssertionError("the writes are done over")

    with monkeypatch.context() as patched:
        patched.setattr(PendingWrites, "_again", again)
        txn.commit(durable=False)
    assert now(store) == mixed | {3: 33, 5: 55, 15: 1515, 50: 50}
    store.flush()
    compact_tablets(store)
    assert now(store) == mixed | {3: 33, 5: 55, 15: 1515, 50: 50}
