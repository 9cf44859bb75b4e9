"""Versions and changes of a tablet's rows, from memory and from files alike."""

from collections.abc import Iterator

import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.read.version_scan import (
    HistoryRange,
    scan_tablet_changes,
    scan_tablet_versions,
)


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store(MemoryEnv(), "/db", StoreOptions(durability="off", threads=1, maintenance=False))
    columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "a")]
    store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    yield store
    store.close()


def write(store: Store, kind: RowOpKind, cells: dict[int, int]) -> int:
    txn = store.begin()
    txn.write_row(store.catalog.table("t"), kind, cells)
    return txn.commit(durable=False) or 0


@pytest.mark.parametrize("flushed", [False, True])
def test_a_changed_row_has_two_versions_and_one_change_since_the_first(
    store: Store, flushed: bool
) -> None:
    first = write(store, RowOpKind.INSERT, {0: 1, 1: 10})
    if flushed:
        store.flush()
    second = write(store, RowOpKind.UPSERT, {0: 1, 1: 11})
    table = store.catalog.table("t")
    tablet = store.tablets[table.tablets[0].id]
    columns = table.schema.columns
    every = HistoryRange(0, EVERYTHING, EVERYTHING, 0)
    (versions,) = scan_tablet_versions(tablet, columns, (0, 1), every)
    assert versions.columns[1].to_pylist() == [10, 11]
    assert versions.valid_from.tolist() == [first, second]
    assert versions.valid_to.tolist()[0] == second
    later = HistoryRange(first + 1, EVERYTHING, EVERYTHING, 0)
    (changes,) = scan_tablet_changes(tablet, columns, (0, 1), later)
    assert len(changes) == 2  # the row before and the row after
    nothing = HistoryRange(second + 1, EVERYTHING, EVERYTHING, 0)
    assert [*scan_tablet_changes(tablet, columns, (0, 1), nothing)] == []
