"""Which tablet maintenance flushes next, so that memory and log stay in bounds."""

from pykudu_sql.storage.common.partition import PartitionSchema
from pykudu_sql.storage.common.row_operation import RowOpKind
from pykudu_sql.storage.common.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.maintenance import (
    LOG_SEGMENTS,
    MaintenanceHost,
    MaintenanceManager,
    TabletLoad,
    choose,
)
from pykudu_sql.storage.store import Store, StoreOptions

LIMIT = 100


def test_a_tablet_below_the_limit_is_left_alone() -> None:
    assert choose({}, LIMIT, 1) is None
    assert choose({"a": TabletLoad(LIMIT, 1)}, LIMIT, LOG_SEGMENTS) is None


def test_the_tablet_that_holds_most_memory_is_due_first() -> None:
    loads = {"a": TabletLoad(LIMIT + 1, 1), "b": TabletLoad(LIMIT + 2, 9)}
    assert choose(loads, LIMIT, 1) == "b"


def test_many_small_tablets_are_due_for_their_sum() -> None:
    loads = {f"t{i}": TabletLoad(LIMIT - i, 1) for i in range(20)}
    assert choose(loads, LIMIT, 1) == "t0"


def test_a_long_log_makes_the_tablet_due_that_holds_its_oldest_record() -> None:
    loads = {"a": TabletLoad(90, 7), "b": TabletLoad(1, 3), "c": TabletLoad(0, None)}
    assert choose(loads, LIMIT, LOG_SEGMENTS + 1) == "b"
    assert choose({"c": TabletLoad(0, None)}, LIMIT, LOG_SEGMENTS + 1) is None


def test_a_long_log_is_shortened_by_flushing_what_holds_it() -> None:
    store = Store(MemoryEnv(), "/db", StoreOptions(threads=1))
    schema = create_schema([ColumnSchema(0, "id", DataType(Kind.INT32))], ["id"])
    for name in ("old", "busy"):
        table = store.create_table(name, schema, PartitionSchema())
        store.write_row(table, RowOpKind.INSERT, {0: 1})
    old, busy = (store.tablets[store.catalog.table(n).tablets[0].id] for n in ("old", "busy"))
    host = store.committer.host
    manager = MaintenanceManager(
        MaintenanceHost(
            store.tablets, host, 1 << 30, False, store.collect_log, lambda: LOG_SEGMENTS + 1
        )
    )
    assert manager.run_due()
    assert (old.anchor, busy.anchor) == (None, 2)
    assert manager.run_due()
    assert busy.anchor is None
    assert not manager.run_due()
    store.close()
