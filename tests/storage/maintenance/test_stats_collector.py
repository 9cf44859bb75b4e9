"""What the stats collector caches is what a new look would give, whatever ran in between."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.commit.history import DEFAULT_MAX_AGE
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import wall_micros
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.maintenance.context import MaintenanceContext
from pykudu_sql.storage.maintenance.operation import OperationKind
from pykudu_sql.storage.maintenance.stats_collector import StatsCollector
from pykudu_sql.storage.maintenance.tablet_stats import choose_compaction, disk_stats
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.delta.delta_tracker import DeltaTracker
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.locator import TabletComponents
from pykudu_sql.storage.tablet.rowset.rowset_tree import RowSetTree
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.upkeep.on_demand import optimize_table
from tests.storage.histories.script_store import ScriptClock

BY_HAND = StoreOptions(threads=1, maintenance=False)
COMPACTIONS = {OperationKind.MINOR_DELTA_COMPACTION, OperationKind.MAJOR_DELTA_COMPACTION}


def make_store(clock: Callable[[], int] = wall_micros) -> tuple[Store, TableInfo, Tablet]:
    """A store with three rows of one tablet on disk."""
    store = Store(MemoryEnv(), "/db", replace(BY_HAND, wall=clock))
    columns = [
        ColumnSchema(0, "id", DataType(Kind.INT32)),
        ColumnSchema(0, "s", DataType(Kind.STRING)),
    ]
    table = store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    for key in range(3):
        store.write_row(table, RowOpKind.INSERT, {0: key, 1: "before"})
    store.flush()
    return store, table, store.tablets[table.tablets[0].id]


def due_in(store: Store, tablet: Tablet) -> set[OperationKind]:
    return {op.kind for op in store.maintenance.due_in(tablet) if op.is_due}


def update_and_flush(store: Store, table: TableInfo, tablet: Tablet, texts: str) -> None:
    """A REDO file for each letter; what is due is asked before each, as the thread does."""
    for text in texts:
        due_in(store, tablet)
        store.write_row(table, RowOpKind.UPDATE, {0: 1, 1: text})
        store.flush()


def test_delta_compactions_are_due_once_deltas_were_flushed_without_opening_anew() -> None:
    store, table, tablet = make_store()
    with closing(store):
        assert due_in(store, tablet) == set()
        update_and_flush(store, table, tablet, "ab")
        assert due_in(store, tablet) == COMPACTIONS


def test_optimize_merges_deltas_that_were_flushed_since_the_last_survey() -> None:
    store, table, tablet = make_store()
    with closing(store):
        update_and_flush(store, table, tablet, "abc")
        optimize_table(store.maintenance, table, store.tablets, lambda: None)
        assert [info.redo_files for info in store.rowset_infos(table)] == [0]


def test_a_rowset_whose_rows_were_deleted_since_the_last_survey_is_counted_as_garbage() -> None:
    store, table, tablet = make_store()
    with closing(store):
        due_in(store, tablet)
        for key in range(3):
            store.write_row(table, RowOpKind.DELETE, {0: key})
        store.flush()
        (rowset,) = tablet.components.tree.rowsets
        survey = store.maintenance._collector.disk(tablet)
        above = rowset.tracker.newest + 1
        assert survey.deleted_bytes(tablet.components.tree, above) == rowset.meta.total_size


def test_vacuum_drops_a_rowset_whose_deletes_were_flushed_since_the_last_survey() -> None:
    clock = ScriptClock()
    store, table, tablet = make_store(clock)
    with closing(store):
        due_in(store, tablet)
        for key in range(3):
            store.write_row(table, RowOpKind.DELETE, {0: key})
        store.flush()
        clock.jump(DEFAULT_MAX_AGE * 1_000_000 + 1_000_000)
        assert OperationKind.DELETED_ROWSET_GC in due_in(store, tablet)
        assert store.vacuum().rowset_bytes > 0
        assert not len(tablet.components.tree)


STEPS = ("insert", "update", "delete", "flush", "run", "ask", "optimize")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=25))
def test_what_is_remembered_equals_a_survey_read_anew_after_every_step(steps: list[str]) -> None:
    store, table, tablet = make_store()
    with closing(store):
        collector = store.maintenance._collector
        for place, step in enumerate(steps):
            _step(store, table, tablet, step, place)
            tree = tablet.components.tree
            assert collector.disk(tablet) == disk_stats(tree)
            remembered = {op.kind for op in collector.due_in(tablet)}
            assert remembered == {op.kind for op in _fresh(store).due_in(tablet)}
            choice = choose_compaction(
                tree,
                store.committer.tablet_services.rowset_bytes,
                collector._unmerged.get(tablet.id, ()),
            )
            assert collector.choice(tablet) == choice


def _fresh(store: Store) -> StatsCollector:
    """A collector that has not looked at anything yet."""
    context: MaintenanceContext = store.maintenance._context
    fresh = StatsCollector(context)
    fresh._unmerged = dict(store.maintenance._collector._unmerged)
    return fresh


def _step(store: Store, table: TableInfo, tablet: Tablet, step: str, place: int) -> None:
    match step:
        case "insert":
            store.write_row(table, RowOpKind.UPSERT, {0: place, 1: "new"})
        case "update":
            store.write_row(table, RowOpKind.UPSERT, {0: place % 3, 1: f"step {place}"})
        case "delete":
            for key in range(3):
                store.write_row(table, RowOpKind.DELETE_IGNORE, {0: key})
        case "flush":
            store.flush()
        case "run":
            store.maintenance.run_due()
        case "ask":
            due_in(store, tablet)
        case "optimize":
            optimize_table(store.maintenance, table, store.tablets, lambda: None)


def reached_from(tablet: Tablet) -> Iterator[tuple[object, str]]:
    """All that hangs on a tablet's components, down to its files, each with its attributes."""
    components = tablet.components
    held: list[object] = [components, components.tree]
    for rowset in components.tree.rowsets:
        held += [rowset, rowset.meta, rowset.tracker, *rowset.meta.undo, *rowset.meta.redo]
    for value in held:
        names = [name for name in dir(value) if not name.startswith("_")]
        yield from ((value, name) for name in names if not callable(getattr(value, name)))


def test_nothing_that_hangs_on_the_components_of_a_tablet_can_be_changed_in_place() -> None:
    store, table, tablet = make_store()
    with closing(store):
        update_and_flush(store, table, tablet, "ab")
        for value, name in reached_from(tablet):
            with pytest.raises((AttributeError, TypeError)):
                setattr(value, name, getattr(value, name))


@pytest.mark.parametrize(
    "kept_under_identity", [Catalog, TabletComponents, RowSetTree, DiskRowSet, DeltaTracker]
)
def test_what_something_is_remembered_for_is_frozen(kept_under_identity: type) -> None:
    assert dataclasses.is_dataclass(kept_under_identity)
    with pytest.raises(dataclasses.FrozenInstanceError):
        object.__new__(kept_under_identity).another = 1  # type: ignore[attr-defined]


def test_a_delta_flush_exchanges_the_components_and_leaves_those_of_readers_as_they_were() -> None:
    store, table, tablet = make_store()
    with closing(store):
        before = tablet.components
        (rowset,) = before.tree.rowsets
        meta, tracker = rowset.meta, rowset.tracker
        update_and_flush(store, table, tablet, "a")
        assert tablet.components is not before
        assert (rowset.meta, rowset.tracker) == (meta, tracker)
        assert before.tree.rowsets == (rowset,)
