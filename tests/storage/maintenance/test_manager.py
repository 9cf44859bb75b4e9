"""Maintenance at work: what is due is done, by itself or when asked, and errors stop nothing."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.table_properties import (
    DISABLE_COMPACTION,
    MAINTENANCE_PRIORITY,
)
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.maintenance import manager
from pykudu_sql.storage.maintenance.operation import OperationKind
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.upkeep.introspection import inside
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint, Mutation
from tests.storage.model import read
from tests.storage.model_disk import Left, ModelDisk

BY_HAND = StoreOptions(threads=1, maintenance=False)


def make_table(
    store: Store, name: str = "t", properties: dict[str, str] | None = None
) -> TableInfo:
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(0, "s", DataType(Kind.STRING)),
    ]
    schema = create_schema(columns, ["id"])
    return store.create_table(name, schema, PartitionSchema(), "", properties or {})


def insert(store: Store, table: TableInfo, *ids: int) -> None:
    for i in ids:
        store.write_row(table, RowOpKind.INSERT, {0: i, 1: "x" * 20})


def flushed_rowsets(store: Store, table: TableInfo) -> int:
    return sum(info.kind == "DiskRowSet" for info in store.rowset_infos(table))


def kinds_due(store: Store) -> list[OperationKind]:
    return [op.kind for op in store.maintenance.due() if op.is_due]


def refuse_creation(
    broken: list[Fail], before: Callable[[], None] = lambda: None
) -> Callable[[FaultPoint], FaultAction]:
    """A disk that fails to create a file for each of ``broken``, and calls ``before`` first."""

    def refuse(point: FaultPoint) -> FaultAction:
        if not broken or point.operation is not Mutation.CREATE:
            return None
        before()
        return broken.pop()

    return refuse


def until(condition: Callable[[], bool]) -> None:
    """Wait for what the background does; a minute means never."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_full_memrowset_reaches_the_disk_by_itself_while_writers_go_on() -> None:
    options = StoreOptions(flush_bytes=20_000, durability="normal")
    with closing(Store(MemoryEnv(), "/db", options)) as store:
        table = make_table(store)
        written = 0
        flushes = store.maintenance.log.runs
        while flushes[OperationKind.FLUSH_MEMROWSET] < 2:
            for _ in range(200):
                store.write_row(table, RowOpKind.INSERT, {0: written, 1: "x" * 20})
                store.write_row(table, RowOpKind.UPDATE, {0: written // 2, 1: "y"})
                written += 1
        rows = read(store.begin(), table)
        assert len(rows) == written
        assert all(
            row[1] == ("y" if row[0] <= (written - 1) // 2 else "x" * 20) for row in rows.values()
        )


def test_with_durability_normal_commits_are_durable_once_the_thread_has_come_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(manager, "SYNC_SECONDS", -1)
    disk = ModelDisk(1 << 60)
    options = StoreOptions(threads=1, maintenance=False, durability="normal")
    with closing(Store(disk.env, "/db", options)) as store:
        insert(store, make_table(store), 1, 2)
        store.maintenance.wake()
        left = disk.after_restart(Left.NONE)
    with closing(Store(left, "/db", options)) as store:
        assert len(read(store.begin(), store.catalog.table("t"))) == 2


def test_keys_in_memory_come_in_order_by_themselves_for_those_who_read_ranges() -> None:
    with closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as store:
        table = make_table(store)
        memrowset = store.tablets[table.tablets[0].id].components.memrowset
        store.maintenance.pause()
        for first in range(0, 8_000, 2_000):
            cells = {0: pa.array(range(first, first + 2_000), pa.int32())}
            txn = store.begin()
            txn.write(table, RowOperations(RowOpKind.INSERT, cells, 2_000))
            txn.commit(durable=False)
            assert len(memrowset.runs(None, EVERYTHING)) == first // 2_000 + 1
        store.maintenance.wake()
        assert len(memrowset.runs(None, EVERYTHING)) == 4
        store.maintenance.resume()
        until(lambda: len(memrowset.runs(None, EVERYTHING)) == 1)


def test_rowsets_that_overlap_are_merged_by_themselves() -> None:
    with closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as store:
        table = make_table(store)
        store.maintenance.pause()
        for start in range(4):
            insert(store, table, *range(start, 40, 4))
            store.flush()
        assert flushed_rowsets(store, table) == 4
        store.maintenance.resume()
        until(lambda: flushed_rowsets(store, table) == 1)
        assert len(read(store.begin(), table)) == 40


def test_nothing_runs_by_itself_where_maintenance_is_off() -> None:
    with closing(Store(MemoryEnv(), "/db", BY_HAND)) as store:
        table = make_table(store)
        for i in range(2):
            insert(store, table, i)
            store.flush()
        assert kinds_due(store) == [OperationKind.COMPACT_ROWSETS]
        time.sleep(0.6)
        assert flushed_rowsets(store, table) == 2
        assert store.maintenance.run_due()
        assert flushed_rowsets(store, table) == 1
        assert not store.maintenance.run_due()


def test_deltas_are_brought_into_the_base_image_and_then_merged_files_are_gone() -> None:
    with closing(Store(MemoryEnv(), "/db", BY_HAND)) as store:
        table = make_table(store)
        insert(store, table, 1, 2, 3)
        store.flush()
        for text in ("a", "b"):
            store.write_row(table, RowOpKind.UPDATE, {0: 2, 1: text})
            store.flush()
        kinds = {OperationKind.MINOR_DELTA_COMPACTION, OperationKind.MAJOR_DELTA_COMPACTION}
        assert set(kinds_due(store)) == kinds
        while store.maintenance.run_due():
            pass
        assert kinds_due(store) == []
        assert [info.redo_files for info in store.rowset_infos(table)] == [0]
        assert store.collect_files() == 0
        last = store.maintenance.log.newest[-1]
        assert last.kind is OperationKind.MAJOR_DELTA_COMPACTION
        assert (last.table, last.error) == ("t", "")
        assert last.written > 0
        assert last.freed > 0


def test_a_table_may_refuse_compaction_and_goes_first_by_its_priority() -> None:
    with closing(Store(MemoryEnv(), "/db", BY_HAND)) as store:
        tables = [
            make_table(store, "still", {DISABLE_COMPACTION: "true"}),
            make_table(store, "later", {MAINTENANCE_PRIORITY: "-1"}),
            make_table(store, "plain"),
            make_table(store, "first", {MAINTENANCE_PRIORITY: "5"}),
        ]
        for i in range(2):
            for table in tables:
                insert(store, table, i)
            store.flush()
        assert [op.table for op in store.maintenance.due() if op.is_due] == [
            "first",
            "plain",
            "later",
        ]


def test_an_operation_that_fails_is_shown_and_does_not_hold_up_the_others() -> None:
    broken: list[Fail] = []
    with closing(Store(FaultEnv(MemoryEnv(), refuse_creation(broken)), "/db", BY_HAND)) as store:
        one, two = make_table(store, "one"), make_table(store, "two")
        for i in range(2):
            insert(store, one, i, 10 - i)
            insert(store, two, i)
            store.flush()
        bad = store.maintenance.due()[0]
        broken.append(Fail())
        with pytest.raises(DiskError):
            store.maintenance.run_due()
        assert isinstance(store.maintenance.last_error, DiskError)
        assert store.maintenance.log.failures[OperationKind.COMPACT_ROWSETS] == 1
        assert store.maintenance.log.newest[-1].error
        assert store.maintenance.run_due()
        assert store.maintenance.last_error is None
        assert store.maintenance.log.newest[-1].tablet_id != bad.tablet_id
        assert len(read(store.begin(), one)) == 4


@pytest.mark.parametrize("stopped", [False, True])
def test_what_fails_is_a_warning_in_the_programs_log_unless_a_close_ended_it(
    stopped: bool, caplog: pytest.LogCaptureFixture
) -> None:
    broken: list[Fail] = []

    def stop() -> None:
        if stopped:
            store.maintenance.stop()

    env = FaultEnv(MemoryEnv(), refuse_creation(broken, stop))
    with closing(Store(env, "/db", BY_HAND)) as store:
        table = make_table(store)
        for i in range(2):
            insert(store, table, i, 10 - i)
            store.flush()
        broken.append(Fail())
        with caplog.at_level(logging.WARNING, "pykudu_sql"), pytest.raises(DiskError):
            store.maintenance.run_due()
        assert len(caplog.records) == (not stopped)


def test_what_fails_again_and_again_is_one_warning_until_it_succeeds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken: list[Fail] = []
    env = FaultEnv(MemoryEnv(), refuse_creation(broken))
    with closing(Store(env, "/db", BY_HAND)) as store:
        table = make_table(store)
        insert(store, table, 0)

        def flushed() -> int:
            with caplog.at_level(logging.WARNING, "pykudu_sql"), suppress(DiskError):
                store.flush()
            return len(caplog.records)

        broken += [Fail(), Fail(), Fail()]
        assert [flushed() for _ in range(4)] == [1, 1, 1, 1]
        insert(store, table, 1)
        broken += [Fail(), Fail()]
        assert [flushed() for _ in range(2)] == [2, 2]


def test_a_log_that_a_quiet_tablet_holds_is_cut_by_flushing_it() -> None:
    with closing(Store(MemoryEnv(), "/db", BY_HAND)) as store:
        old, busy = make_table(store, "old"), make_table(store, "busy")
        insert(store, old, 1)
        insert(store, busy, 1)
        held = {op.table: op.logs_retained for op in store.maintenance.due()}
        assert held["old"] >= held["busy"] > 0
        store.flush("old")
        assert store.tablets[old.tablets[0].id].anchor is None
        assert [op.table for op in store.maintenance.due()] == ["busy"]


def test_optimize_compacts_what_gains_and_full_compacts_everything() -> None:
    with closing(Store(MemoryEnv(), "/db", BY_HAND)) as store:
        table = make_table(store)
        for start in range(3):
            insert(store, table, *range(start, 30, 3))
            store.flush()
        report = store.optimize("t", full=False)
        assert (report.rowsets_before, report.rowsets_after) == (3, 1)
        assert report.height_before > 2 > report.height_after == 1
        assert store.optimize("t", full=False).operations == 0
        assert store.optimize("t", full=True).operations == 1
        assert len(read(store.begin(), table)) == 30


def test_vacuum_tells_what_went() -> None:
    with closing(Store(MemoryEnv(), "/db", BY_HAND)) as store:
        table = make_table(store)
        insert(store, table, 1, 2)
        reader = store.begin()
        held = [read(reader, table)]
        store.flush()
        store.optimize("t", full=True)
        report = store.vacuum()
        assert (report.undo_bytes, report.rowset_bytes) == (0, 0), "history is kept for a week"
        assert read(reader, table) == held[0]


def test_closing_ends_the_background_thread_with_work_still_due() -> None:
    store = Store(MemoryEnv(), "/db", StoreOptions(threads=1, flush_bytes=1))
    insert(store, make_table(store), *range(100))
    before = set(threading.enumerate())
    store.close()
    ended = before - set(threading.enumerate())
    assert "pykudu-maintenance" in {thread.name for thread in ended}


def test_small_rowsets_are_merged_until_nothing_is_gained_and_no_further() -> None:
    options = StoreOptions(threads=1, maintenance=False, rowset_bytes=2048, flush_bytes=1)
    with closing(Store(MemoryEnv(), "/db", options)) as store:
        table = make_table(store)
        for start in range(12):
            insert(store, table, *range(start, 3000, 12))
            store.flush()
            runs = 0
            while store.maintenance.run_due():
                runs += 1
                assert runs < 50, "the same is compacted again and again"
        (tablet,) = (store.tablets[info.id] for info in table.tablets)
        assert inside(tablet).average_height < 1.1


def test_changes_beyond_their_share_are_flushed_before_more_come() -> None:
    options = StoreOptions(threads=1, maintenance=False, write_memory_bytes=64 << 10)
    with closing(Store(MemoryEnv(), "db", options)) as store:
        table = make_table(store)
        for start in range(0, 20_000, 4000):
            txn = store.begin()
            cells = {
                0: pa.array(range(start, start + 4000), pa.int32()),
                1: pa.array(["x" * 400] * 4000),
            }
            txn.write(table, RowOperations(RowOpKind.INSERT, cells, 4000))
            txn.commit(durable=True)
        assert flushed_rowsets(store, table) >= 4
        store.maintenance.wake()
        assert store.budget.is_pressed
        insert(store, table, 1_000_000)
        assert not store.budget.is_pressed
        assert store.maintenance.memory() < 64 << 10
        assert inside(store.tablets[table.tablets[0].id]).live_rows == 20_001


@pytest.mark.parametrize(("rows", "length"), [(20_500, 1), (400, 60_000)])
def test_a_log_that_takes_long_to_replay_is_flushed_whatever_memory_holds(
    rows: int, length: int
) -> None:
    options = StoreOptions(threads=1, durability="off", maintenance=False)
    with closing(Store(MemoryEnv(), "db", options)) as store:
        table = make_table(store)
        insert(store, table, -1)
        assert not store.maintenance.run_due()
        for i in range(rows):
            store.write_row(table, RowOpKind.INSERT, {0: i, 1: f"{i} {'x' * length}"})
        tablet = store.tablets[table.tablets[0].id]
        assert store.log_retention.replay_seconds(tablet.anchor) >= 0.5
        assert store.maintenance.run_due()
        assert flushed_rowsets(store, table) > 0
        assert store.log_retention.replay_seconds(tablet.anchor) == 0
