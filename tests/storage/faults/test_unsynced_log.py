"""Commits that no sync has reached yet, when something that comes after them becomes durable.

With durability `normal` the power may take back the newest commits, but what it leaves is a state
that there was: a file or an edit of the manifest never survives a commit that came before it.
"""

import contextlib
from collections.abc import Callable, Iterator

import pytest

from pykudu_sql.storage.catalog.alter import AddColumn
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, new_id
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import TransactionResolutionUnknownError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.fault_env import Fail, FaultAction, FaultPoint
from tests.storage.model import operations, read
from tests.storage.model_disk import Left, ModelDisk

NUMBER = DataType(Kind.INT32)
COLUMNS = [ColumnSchema(0, name, NUMBER) for name in ("id", "n")]


class RefusingDisk(ModelDisk):
    """A disk that knows what is durable, and refuses calls whose points begin with `refused`."""

    def __init__(self) -> None:
        super().__init__(1 << 60)
        self.refused = "nothing"

    def _before(self, point: FaultPoint) -> FaultAction:
        if point.point.startswith(self.refused):
            return Fail()
        return super()._before(point)


@pytest.fixture
def disk() -> RefusingDisk:
    return RefusingDisk()


@pytest.fixture
def store(disk: RefusingDisk) -> Iterator[Store]:
    """Tables a and b with one row each, on disk."""
    with contextlib.closing(opened(disk.env)) as store:
        for name in ("a", "b"):
            store.create_table(name, create_schema(COLUMNS, ["id"]), PartitionSchema(()))
            store.write_row(store.catalog.table(name), RowOpKind.INSERT, {0: 0, 1: 0})
        store.flush()
        yield store


def opened(env: Env) -> Store:
    return Store(env, "/db", StoreOptions(threads=1, maintenance=False))


def change_both(store: Store) -> None:
    """One commit that changes the row of both tables and is not durable."""
    txn = store.begin()
    for name in ("a", "b"):
        table = store.catalog.table(name)
        txn.write(table, operations(table, RowOpKind.UPDATE, [{0: 0, 1: 1}]))
    txn.commit(durable=False)


def after_power_loss(disk: ModelDisk, name: str) -> object:
    """What column n of the row of a table is then."""
    with contextlib.closing(opened(disk.after_restart(Left.NONE))) as store:
        ((_, row),) = read(store.begin(), store.catalog.table(name)).items()
        return row[1]


CHANGES: dict[str, Callable[[Store], object]] = {
    "create table": lambda store: store.create_table(
        "c", create_schema(COLUMNS, ["id"]), PartitionSchema(())
    ),
    "alter table": lambda store: store.alter_table(
        "b", [AddColumn(ColumnSchema(0, "m", NUMBER, True))]
    ),
    "drop table": lambda store: store.drop_table("b"),
    "create database": lambda store: store.definitions.put_object(DatabaseInfo(new_id(), "d")),
    "create snapshot": lambda store: store.definitions.create_snapshot("s", None, ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_catalog_does_not_survive_a_commit_that_came_before_it(
    disk: RefusingDisk, store: Store, change: str
) -> None:
    change_both(store)
    CHANGES[change](store)
    assert after_power_loss(disk, "a") == 1


def test_a_flush_of_changes_alone_shows_no_commit_that_the_log_may_still_lose(
    disk: RefusingDisk, store: Store
) -> None:
    change_both(store)
    store.flush("a")
    assert after_power_loss(disk, "a") == after_power_loss(disk, "b")


def test_a_commit_that_a_recovery_makes_visible_is_durable(
    disk: RefusingDisk, store: Store
) -> None:
    table = store.catalog.table("a")
    txn = store.begin()
    txn.write_row(table, RowOpKind.UPDATE, {0: 0, 1: 1})
    pending = txn.writes_to(table, table.tablets[0].id)
    with store.committer.lock:
        store.committer.apply([pending])  # and before it is made durable and visible
    disk.refused = "manifest."
    with pytest.raises(TransactionResolutionUnknownError):
        store.definitions.set_history_max_age(-1)
    disk.refused = "nothing"
    ((_, row),) = read(store.begin(), table).items()
    assert row[1] == 1
    assert after_power_loss(disk, "a") == 1
