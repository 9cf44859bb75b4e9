"""Views and databases are states of moments, survive whatever tables survive, and go as one."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pykudu_sql.storage.catalog.namespace import DatabaseInfo, ViewColumn, ViewInfo, new_id
from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import Error, UndefinedTableError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.fault_env import (
    CRASH_EXIT_CODE,
    CrashAfter,
    CrashBefore,
    Fail,
    FaultAction,
    FaultEnv,
    FaultPoint,
)

OPTIONS = StoreOptions(threads=1, maintenance=False)
SCHEMA = create_schema([ColumnSchema(0, "id", DataType(Kind.INT32))], ["id"])
NAMES = ["sales.a", "sales.b", "sales.v"]


@dataclass
class FaultAt:
    """Does something at one call to the disk, counted from when it is armed."""

    call: int
    action: FaultAction
    armed: bool = False
    seen: int = 0

    def __call__(self, point: FaultPoint) -> FaultAction:
        self.seen += self.armed
        return self.action if self.armed and self.seen == self.call else None


def view(name: str, query: str) -> ViewInfo:
    return ViewInfo(new_id(), name, query, "default", (ViewColumn("id", "id", "INT"),))


def filled(env: Env, path: str) -> Store:
    """A store with a database of two tables and a view, and one table beside it."""
    store = Store(env, path, OPTIONS)
    store.definitions.put_object(DatabaseInfo(new_id(), "sales", "what was sold"))
    for name in ("sales.a", "sales.b", "kept"):
        table = store.create_table(name, SCHEMA, PartitionSchema())
        store.write_row(table, RowOpKind.INSERT, {0: 1})
    store.definitions.put_object(view("sales.v", "SELECT id FROM sales.a"))
    return store


def test_a_table_that_is_not_there_is_answered_with_those_that_are() -> None:
    store = filled(MemoryEnv(), "/db")
    for name, hint in (
        ("zorro", "database 'default' has kept"),
        ("sales.zorro", "database 'sales' has sales.a, sales.b, sales.v"),
        (
            "elsewhere.zorro",
            "there is no database 'elsewhere': SHOW DATABASES lists those there are",
        ),
        ("elsewhere.kept", "there is no database 'elsewhere': write kept"),
        ("sales.vv", "did you mean 'sales.v'?"),
        ("v", "it is not in database 'default': write sales.v"),
    ):
        with pytest.raises(UndefinedTableError) as caught:
            store.catalog.table(name)
        assert caught.value.hint == hint
    for number in range(8):
        store.create_table(f"many_{number}", SCHEMA, PartitionSchema())
    with pytest.raises(UndefinedTableError) as caught:
        store.catalog.table("zorro")
    assert caught.value.hint == "SHOW TABLES lists the 9 of database 'default'"
    store.close()


def held(store: Store) -> list[str]:
    return store.catalog.names_in("sales")


@pytest.fixture
def store() -> Iterator[Store]:
    opened = filled(MemoryEnv(), "/db")
    yield opened
    opened.close()


def test_a_database_goes_with_all_that_is_in_it_at_one_moment(store: Store) -> None:
    before = store.now()
    version = store.catalog.timestamp
    store.definitions.drop_database("sales")
    assert held(store) == []
    assert set(store.catalog.databases) == set()
    assert list(store.catalog.tables) == ["kept"]
    assert len({found.dropped for found in store.definitions.dropped_tables()}) == 1
    then = store.catalog_at(before)
    assert then.names_in("sales") == NAMES
    assert then.timestamp == version
    assert then.databases["sales"].comment == "what was sold"


def test_each_dropped_table_can_come_back(store: Store) -> None:
    store.definitions.drop_database("sales")
    store.definitions.undrop_table("sales.b", None)
    assert held(store) == ["sales.b"]
    assert store.begin().lookup(store.catalog.table("sales.b"), (1,), [0]) == (1,)


def test_a_view_is_what_it_was_as_of_each_moment(store: Store) -> None:
    old = store.catalog.views["sales.v"]
    moments = [store.now()]
    store.definitions.put_object(
        ViewInfo(old.id, old.name, "SELECT 7 AS id", "default", old.columns)
    )
    moments.append(store.now())
    store.definitions.drop_object(old.id)
    queries = [store.catalog_at(moment + 1).views["sales.v"].query for moment in moments]
    assert queries == ["SELECT id FROM sales.a", "SELECT 7 AS id"]
    assert "sales.v" not in store.catalog.views


@pytest.mark.parametrize("dropped", [False, True])
def test_reopening_and_condensing_keep_every_state(dropped: bool) -> None:
    env = MemoryEnv()
    first = filled(env, "/db")
    before = first.now()
    if dropped:
        first.definitions.drop_database("sales")
    first.close()
    again = Store(env, "/db", OPTIONS)
    try:
        assert held(again) == ([] if dropped else NAMES)
        assert again.catalog_at(before).names_in("sales") == NAMES
        state = again._services.state
        folded = StoreState.of(list(state.condensed()), "manifest")
        assert folded.history.latest.names_in("sales") == held(again)
        assert folded.history.at(before).names_in("sales") == NAMES
        assert folded.history.latest.databases == again.catalog.databases
    finally:
        again.close()


def test_a_disk_that_refuses_drops_nothing_of_a_database() -> None:
    refused = 0
    for failing in range(6):
        disk, fault = MemoryEnv(), FaultAt(failing + 1, Fail())
        store = filled(FaultEnv(disk, fault), "/db")
        fault.armed = True
        with contextlib.suppress(Error):
            store.definitions.drop_database("sales")
        fault.armed = False
        refused += fault.seen > failing
        store.close()
        again = Store(disk, "/db", OPTIONS)
        assert held(again) in ([], NAMES), f"call {failing}"
        again.close()
    assert refused


CHILD = """
import sys
from tests.storage.catalog.test_namespaces import crash_while_dropping
crash_while_dropping(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "after")
"""


def crash_while_dropping(path: str, call: int, after: bool) -> None:
    """Drop the database in a process that ends at a call to the disk."""
    fault = FaultAt(call, CrashAfter() if after else CrashBefore())
    store = filled(FaultEnv(LocalEnv(), fault), path)
    fault.armed = True
    store.definitions.drop_database("sales")


@pytest.mark.parametrize(
    ("call", "when"), [(1, "before"), (1, "after"), (2, "before"), (2, "after")]
)
def test_a_killed_process_leaves_a_database_whole_or_gone(
    tmp_path: Path, call: int, when: str
) -> None:
    path = str(tmp_path / "db")
    ended = subprocess.run([sys.executable, "-c", CHILD, path, str(call), when], check=False)
    assert ended.returncode == CRASH_EXIT_CODE
    store = Store(LocalEnv(), path, OPTIONS)
    try:
        assert held(store) in ([], NAMES)
        assert ("sales" in store.catalog.databases) == bool(held(store))
        assert "kept" in store.catalog.tables
    finally:
        store.close()
