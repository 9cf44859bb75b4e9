"""FLUSH, OPTIMIZE and VACUUM asked to stop, at every place where they can."""

import threading
from collections.abc import Callable
from contextlib import closing

import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.cancellation import CancelCheck
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.table_properties import HISTORY_MAX_AGE
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import QueryCancelledError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.tablet import Tablet
from tests.storage.model import read

Statement = Callable[[Store, CancelCheck], object]
STATEMENTS: dict[str, Statement] = {
    "FLUSH": lambda store, cancel_check: store.flush("t", cancel_check),
    "FLUSH of all": lambda store, cancel_check: store.flush(None, cancel_check),
    "OPTIMIZE": lambda store, cancel_check: store.optimize("t", cancel_check=cancel_check),
    "OPTIMIZE FULL": lambda store, cancel_check: store.optimize("t", True, cancel_check),
    "VACUUM": lambda store, cancel_check: store.vacuum(None, cancel_check),
}


class StopAt:
    """A check that ends the work when it is called for the n-th time."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise QueryCancelledError("enough")


def make_store(env: MemoryEnv) -> Store:
    """A table with overlapping rowsets, REDO files, old history, and rows in memory."""
    store = Store(env, "/db", StoreOptions(threads=1, maintenance=False))
    schema = create_schema(
        [
            ColumnSchema(0, "id", DataType(Kind.INT32)),
            ColumnSchema(0, "a", DataType(Kind.INT64), True),
            ColumnSchema(0, "s", DataType(Kind.STRING)),
        ],
        ["id"],
    )
    table = store.create_table("t", schema, PartitionSchema(), "", {HISTORY_MAX_AGE: "0"})
    for start in range(3):
        for i in range(start, 60, 3):
            store.write_row(table, RowOpKind.INSERT, {0: i, 1: i, 2: "x" * 20})
        store.flush("t")
        for round_ in range(2):
            for i in range(start, 60, 6):
                store.write_row(table, RowOpKind.UPDATE, {0: i, 1: i + round_})
            store.flush("t")
    for i in range(60, 70):
        store.write_row(table, RowOpKind.INSERT, {0: i, 1: i, 2: "new"})
    for i in range(0, 60, 4):
        store.write_row(table, RowOpKind.DELETE, {0: i})
    return store


def tablet_of(store: Store, table: TableInfo) -> Tablet:
    return store.tablets[table.tablets[0].id]


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_what_is_stopped_anywhere_leaves_all_rows_and_no_file_and_can_be_done_again(
    statement: Statement,
) -> None:
    env = MemoryEnv()
    with closing(make_store(env)) as store:
        table = store.catalog.table("t")
        rows = read(store.begin(), table)
        number = 0
        while True:
            number += 1
            cancel_check = StopAt(number)
            try:
                statement(store, cancel_check)
                break
            except QueryCancelledError:
                assert env.list_dir("/db/tmp") == []
                assert not tablet_of(store, table).maintenance_lock.locked()
                assert read(store.begin(), table) == rows
        assert number > 2
        assert cancel_check.left > 0
        store.optimize("t", full=True)
        assert len(store.rowset_infos(table)) == 1
        assert read(store.begin(), table) == rows
    with closing(Store(env, "/db", StoreOptions(threads=1, maintenance=False))) as again:
        assert read(again.begin(), again.catalog.table("t")) == rows


def test_a_compaction_that_is_stopped_changes_nothing_of_its_tablet() -> None:
    with closing(make_store(MemoryEnv())) as store:
        table = store.catalog.table("t")
        store.flush()
        tablet = tablet_of(store, table)
        before = tablet.components
        number = 0
        while tablet.components is before:
            number += 1
            try:
                store.optimize("t", full=True, cancel_check=StopAt(number))
            except QueryCancelledError:
                assert tablet.components is before
        assert number > 8
        failures = {run.error for run in store.maintenance.log.newest}
        assert "enough" in failures


def test_who_waits_for_a_tablet_that_others_work_on_can_be_stopped() -> None:
    with closing(make_store(MemoryEnv())) as store:
        tablet = tablet_of(store, store.catalog.table("t"))
        asked = threading.Event()

        def cancel_check() -> None:
            if asked.is_set():
                raise QueryCancelledError("enough")

        def optimize() -> None:
            with pytest.raises(QueryCancelledError, match="enough"):
                store.optimize("t", cancel_check=cancel_check)
            stopped.set()

        stopped = threading.Event()
        with tablet.maintenance_lock:
            thread = threading.Thread(target=optimize)
            thread.start()
            asked.set()
            assert stopped.wait(60)
        thread.join()
        assert store.optimize("t", full=True).rowsets_after == 1
