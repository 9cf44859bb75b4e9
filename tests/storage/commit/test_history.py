"""How far back tables can be read, what holds the mark back, and what goes when it has passed."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.alter import (
    AddColumn,
    AddRange,
    DropColumn,
    DropRange,
    SetProperties,
)
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema, RangePartition
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import bound_at, wall_micros
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema, create_schema
from pykudu_sql.storage.common.types.table_properties import HISTORY_MAX_AGE
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DuplicateObjectError,
    HistoryPurgedError,
    UndefinedObjectError,
    UndefinedTableError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.store import Store, StoreOptions

INT = DataType(Kind.INT32)
HOUR = 3_600_000_000
Rows = dict[int, tuple[Any, ...]]


class Clock:
    """A wall clock that a test turns."""

    def __init__(self) -> None:
        self.micros = wall_micros()

    def __call__(self) -> int:
        self.micros += 1
        return self.micros


def schema() -> Schema:
    return create_schema([ColumnSchema(0, "k", INT), ColumnSchema(0, "v", INT, True)], ["k"])


@contextmanager
def opened(
    path: Path, clock: Clock | None = None, opening: Any = Store, **options: Any
) -> Iterator[Any]:
    wall = clock or Clock()
    store = opening(LocalEnv(), str(path), StoreOptions(wall=wall, maintenance=False, **options))
    try:
        yield store
    finally:
        store.close()


def new_table(store: Store, age: int | None = None, name: str = "t") -> TableInfo:
    properties = {} if age is None else {HISTORY_MAX_AGE: str(age)}
    return store.create_table(name, schema(), PartitionSchema(()), properties=properties)


def upsert(store: Store, rows: dict[int, int | None], name: str = "t") -> int:
    """Write rows and return the commit's time."""
    table = store.catalog.table(name)
    columns = {
        i: pa.array(cells, pa.int32())
        for i, cells in zip(
            (c.id for c in table.schema.columns), (list(rows), list(rows.values())), strict=False
        )
    }
    transaction = store.begin()
    transaction.write(table, RowOperations(RowOpKind.UPSERT, columns, len(rows)))
    time = transaction.commit(True)
    assert time is not None
    return time


def read(store: Store, bound: int | None = None, name: str = "t") -> Rows:
    table = store.catalog.table(name) if bound is None else store.catalog_at(bound).table(name)
    spec = ScanSpec(tuple(column.id for column in table.schema.columns))
    found = store.begin().table_scan(table, spec, bound).to_pylist()
    return {row["k"]: tuple(row.values())[1:] for row in found}


def set_age(store: Store, seconds: int, name: str = "t") -> None:
    store.alter_table(name, [SetProperties(((HISTORY_MAX_AGE, str(seconds)),))])


def squeeze(store: Store, name: str = "t") -> None:
    """Let go of all history that may go."""
    store.optimize(name, full=True)
    store.vacuum(name)


def test_history_is_kept_for_seven_days_unless_a_table_or_the_database_says_otherwise(
    tmp_path: Path,
) -> None:
    clock = Clock()
    with opened(tmp_path / "db", clock) as store:
        plain, short = new_table(store), new_table(store, 3600, "short")
        first = {name: bound_at(upsert(store, {1: 1}, name)) for name in ("t", "short")}
        upsert(store, {2: 2}, "short")
        clock.micros += 2 * HOUR
        assert read(store, first["t"]) == {1: (1,)}
        with pytest.raises(HistoryPurgedError, match=r"'short' cannot be read as of .*goes back"):
            read(store, first["short"], "short")
        clock.micros += 7 * 24 * HOUR
        assert store.history.mark(plain.id) > first["t"]
        store.definitions.set_history_max_age(-1)
        assert store.history.age_of(plain) == -1
        assert store.history.age_of(short) == 3600


def test_a_mark_that_was_used_never_goes_back_not_even_over_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "db", clock) as store:
        table = new_table(store, 0)
        old = bound_at(upsert(store, {1: 1}))
        upsert(store, {1: 2})
        squeeze(store)
        mark = store.history.mark(table.id)
        set_age(store, -1)
        assert store.history.mark(table.id) >= mark
    clock.micros -= 100 * HOUR
    with opened(tmp_path / "db", clock) as store:
        assert store.history.mark(table.id) > old
        with pytest.raises(HistoryPurgedError):
            read(store, old)
        assert read(store) == {1: (2,)}
        new = bound_at(upsert(store, {1: 3}))
        upsert(store, {1: 4})
        squeeze(store)
        assert read(store, new) == {1: (3,)}


def test_a_transaction_keeps_the_history_that_it_may_read_until_it_ends(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        table = new_table(store, 0)
        upsert(store, {1: 1, 2: 1})
        reader = store.begin()
        upsert(store, {1: 2, 2: 2})
        squeeze(store)
        assert store.history.mark(table.id) <= reader.bound
        spec = ScanSpec(tuple(column.id for column in table.schema.columns))
        assert reader.table_scan(table, spec).to_pylist() == [{"k": 1, "v": 1}, {"k": 2, "v": 1}]
        stream = reader.scan(table, spec).batches()
        reader.rollback()
        upsert(store, {1: 3})
        squeeze(store)
        assert [row for batch in stream for row in batch.to_pylist()] == [
            {"k": 1, "v": 1},
            {"k": 2, "v": 1},
        ]
        del stream
        assert store.history.mark(table.id) > reader.bound


def test_a_moment_that_a_transaction_has_read_stays_readable_in_it(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        table = new_table(store)
        old = bound_at(upsert(store, {1: 1}))
        upsert(store, {1: 2})
        reader = store.begin()
        assert reader.lookup(table, (1,), (0, 1), old) == (1, 1)
        set_age(store, 0)
        squeeze(store)
        assert reader.lookup(table, (1,), (0, 1), old) == (1, 1)
        reader.rollback()
        with pytest.raises(HistoryPurgedError):
            store.begin().lookup(table, (1,), (0, 1), old)


def test_a_named_snapshot_keeps_history_over_restarts_until_it_is_dropped(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        new_table(store, 0)
        upsert(store, {1: 1})
        bound = store.definitions.create_snapshot("before", None, "for later").bound
        with pytest.raises(DuplicateObjectError):
            store.definitions.create_snapshot("before", None, "")
        upsert(store, {1: 2})
        squeeze(store)
    with opened(tmp_path / "db") as store:
        squeeze(store)
        kept = store.definitions.snapshots["before"]
        assert (kept.bound, kept.comment) == (bound, "for later")
        assert read(store, bound) == {1: (1,)}
        assert read(store) == {1: (2,)}
        store.definitions.drop_snapshot("before")
        with pytest.raises(UndefinedObjectError):
            store.definitions.drop_snapshot("before")
        with pytest.raises(HistoryPurgedError):
            read(store, bound)
        with pytest.raises(HistoryPurgedError):
            store.definitions.create_snapshot("late", bound, "")


def test_a_wall_clock_that_jumps_takes_no_history_of_what_came_after_it(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "db", clock) as store:
        new_table(store, 3600)
        early = bound_at(upsert(store, {1: 1}))
        clock.micros -= 10 * HOUR
        back = bound_at(upsert(store, {1: 2}))
        squeeze(store)
        assert (read(store, early), read(store, back)) == ({1: (1,)}, {1: (2,)})
        clock.micros += 1000 * HOUR
        late = bound_at(upsert(store, {1: 3}))
        upsert(store, {1: 4})
        clock.micros -= 1000 * HOUR
        squeeze(store)
        assert read(store, late) == {1: (3,)}
        with pytest.raises(HistoryPurgedError):
            read(store, early)


def test_a_moment_told_before_a_restart_is_past_after_it_though_the_clock_went_back(
    tmp_path: Path,
) -> None:
    clock = Clock()
    with opened(tmp_path / "db", clock) as store:
        new_table(store)
        upsert(store, {1: 1})
        told = store.now()
    clock.micros -= 10 * HOUR
    with opened(tmp_path / "db", clock) as store:
        assert upsert(store, {1: 2}) > told
        store.wait_until_readable(bound_at(told))
        assert read(store, bound_at(told)) == {1: (1,)}


def test_a_process_that_only_reads_is_refused_what_the_writer_let_go_of(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        new_table(store)
        old = bound_at(upsert(store, {1: 1}))
        upsert(store, {1: 2})
        with opened(tmp_path / "db", opening=ReaderStore) as reader:
            assert read(reader, old) == {1: (1,)}
            set_age(store, 0)
            squeeze(store)
            set_age(store, -1)
            reader.refresh()
            assert read(reader) == {1: (2,)}
            with pytest.raises(HistoryPurgedError):
                read(reader, old)


def test_a_read_beside_compactions_is_right_or_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "db", durability="off") as store:
        new_table(store, 0)
        moments = [(bound_at(upsert(store, {1: 0, 2: 0})), 0)]
        wrong: list[object] = []
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                bound, number = moments[-1]
                with suppress(HistoryPurgedError):
                    found = read(store, bound)
                    if found != {1: (number,), 2: (number,)}:
                        wrong.append((number, found))

        readers = [threading.Thread(target=look) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(1, 40):
            moments.append((bound_at(upsert(store, {1: number, 2: number})), number))
            if number % 4 == 0:
                squeeze(store)
        done.set()
        for reader in readers:
            reader.join()
        assert not wrong


def folders(path: Path) -> set[str]:
    return {entry.name for entry in (path / "tablets").iterdir()}


def test_a_dropped_table_comes_back_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        table = new_table(store)
        upsert(store, {1: 1})
        store.flush()
        upsert(store, {2: 2})
        store.drop_table("t")
        new_table(store)
        store.drop_table("t")
        first = [found.table.id for found in store.definitions.dropped_tables()]
        assert first[0] == table.id
        assert store.definitions.undrop_table("t", "younger").id == first[1]
    with opened(tmp_path / "db") as store:
        assert store.definitions.undrop_table("t", None).id == table.id
        assert read(store) == {1: (1,), 2: (2,)}
        upsert(store, {3: 3})
        with pytest.raises(UndefinedTableError):
            store.definitions.undrop_table("t", None)
        store.drop_table("younger")
        with pytest.raises(DuplicateObjectError):
            store.definitions.undrop_table("younger", "t")


def test_a_dropped_table_is_purged_once_the_mark_has_passed(tmp_path: Path) -> None:
    path, copy = tmp_path / "db", tmp_path / "copy"
    with opened(path) as store:
        table, _ = new_table(store), new_table(store, name="other")
        upsert(store, {1: 1})
        store.flush()
        old = bound_at(upsert(store, {2: 2}))
        upsert(store, {5: 5}, "other")
        store.drop_table("t")
        assert store.vacuum().tablets == 0
        store.definitions.set_history_max_age(0)
        assert read(store, None, "other") == {5: (5,)}
        with pytest.raises(HistoryPurgedError, match="dropped at"):
            store.definitions.undrop_table("t", None)
        assert store.vacuum().tablets == 1
        assert folders(path).isdisjoint({info.id for info in table.tablets})
        with pytest.raises(HistoryPurgedError, match="does not reach back to a table 't'"):
            read(store, old)
        assert not list(store.definitions.dropped_tables())
        upsert(store, {6: 6}, "other")
        # The log still holds records of the purged table.
        shutil.copytree(path, copy)
    for place in (copy, path):
        with opened(place) as again:
            assert read(again, None, "other") == {5: (5,), 6: (6,)}
            new_table(again)
            assert read(again) == {}


def range_of(low: int, high: int) -> RangePartition:
    return RangePartition((low,), (high,))


def test_a_dropped_range_is_read_as_of_before_and_purged_later(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with opened(path) as store:
        spans = (range_of(0, 10), range_of(10, 20))
        table = store.create_table("t", schema(), PartitionSchema((), (0,), spans))
        old = bound_at(upsert(store, {1: 1, 11: 11}))
        store.alter_table("t", [DropRange(spans[0])])
        store.alter_table("t", [AddRange(spans[0])])
        upsert(store, {2: 2})
        assert read(store) == {2: (2,), 11: (11,)}
        assert read(store, old) == {1: (1,), 11: (11,)}
    with opened(path) as store:
        assert read(store, old) == {1: (1,), 11: (11,)}
        set_age(store, 0)
        assert store.vacuum().tablets == 1
        assert read(store) == {2: (2,), 11: (11,)}
        assert folders(path) == {info.id for info in store.catalog.table("t").tablets}
        assert table.tablets[0].id not in folders(path)
    with opened(path) as store:
        assert read(store) == {2: (2,), 11: (11,)}


def test_columns_that_no_readable_state_has_are_written_no_more(tmp_path: Path) -> None:
    path, copy = tmp_path / "db", tmp_path / "copy"
    with opened(path) as store:
        table = new_table(store)
        upsert(store, {1: 1, 2: 2})
        store.flush()
        old = bound_at(upsert(store, {1: 5, 3: 3}))
        store.alter_table("t", [DropColumn("v"), AddColumn(ColumnSchema(0, "w", INT, True))])
        (tablet,) = (store.tablets[info.id] for info in table.tablets)
        squeeze(store)
        assert {c.name for c in tablet.retained_columns()} == {"k", "v", "w"}
        assert read(store, old) == {1: (5,), 2: (2,), 3: (3,)}
        upsert(store, {4: 4})
        set_age(store, 0)
        store.vacuum()
        assert {c.name for c in tablet.retained_columns()} == {"k", "w"}
        expected = {1: (None,), 2: (None,), 3: (None,), 4: (4,)}
        assert read(store) == expected
        shutil.copytree(path, copy)
        squeeze(store)
        assert read(store) == expected
        assert all(
            set(rowset.meta.column_ids) == {0, 2} for rowset in tablet.components.tree.rowsets
        )
    for place in (copy, path):
        with opened(place) as again:
            assert read(again) == expected
            squeeze(again)
            assert read(again) == expected


def test_the_log_may_hold_updates_of_a_column_that_is_gone(tmp_path: Path) -> None:
    path, copy = tmp_path / "db", tmp_path / "copy"
    with opened(path) as store:
        new_table(store)
        upsert(store, {1: 1})
        store.flush()
        upsert(store, {1: 2, 2: 2})
        store.alter_table("t", [DropColumn("v"), AddColumn(ColumnSchema(0, "w", INT, True))])
        set_age(store, 0)
        store.vacuum()
        shutil.copytree(path, copy)
    with opened(copy) as again:
        assert read(again) == {1: (None,), 2: (None,)}
        squeeze(again)
        assert read(again) == {1: (None,), 2: (None,)}


def test_a_manifest_that_is_rewritten_says_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "db") as store:
        new_table(store, 0)
        upsert(store, {1: 1})
        store.flush()
        upsert(store, {1: 2})
        squeeze(store)
        store.definitions.create_snapshot("s", None, "c")
        new_table(store, name="dropped")
        store.drop_table("dropped")
        new_table(store, 0, name="purged")
        upsert(store, {1: 1}, "purged")
        store.drop_table("purged")
        store.definitions.drop_snapshot("s")
        store.vacuum()
        store.definitions.create_snapshot("s", None, "c")
        store.definitions.set_history_max_age(77)
        state = store._services.state
        again = StoreState.of(list(state.condensed()), "m.log")
        assert again.snapshots == state.snapshots
        assert again.marks == state.marks
        assert again.purged == state.purged
        assert again.tablets == state.tablets
        assert again.history_max_age == 77
        assert again.newest == state.newest
        assert again.commits == {**state.commits}
        assert again.history.complete_since == state.history.complete_since
        assert dict(again.history.latest.tables) == dict(state.history.latest.tables)
        assert [d.table.name for d in again.history.dropped()] == ["dropped"]


def test_commits_of_the_manifest_are_forgotten_with_their_records_in_the_log(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "db", log_segment_bytes=1) as store:
        table = new_table(store)
        for start in (0, 100_000):
            transaction = store.begin()
            keys = pa.array(range(start, start + 60_000), pa.int32())
            transaction.write(table, RowOperations(RowOpKind.INSERT, {0: keys, 1: keys}, 60_000))
            one = {0: pa.array([-1 - start], pa.int32()), 1: pa.array([1], pa.int32())}
            transaction.write(table, RowOperations(RowOpKind.INSERT, one, 1))
            transaction.commit(True)
        assert len(store._services.state.commits) == 2
        store.flush()
        upsert(store, {7: 7})
        store.log_retention.collect()
        assert not store._services.state.commits
