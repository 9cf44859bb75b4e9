"""Metrics of a store: names that nothing else has, and numbers that follow what was done."""

from collections.abc import Iterator

import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.upkeep.key_trace import trace_key
from pykudu_sql.storage.upkeep.metrics import Metric, metric_values


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store(MemoryEnv(), "/db", StoreOptions(durability="off", threads=1, maintenance=False))
    columns = [ColumnSchema(0, name, DataType(Kind.INT32)) for name in ("id", "a")]
    store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
    yield store
    store.close()


def write(store: Store, kind: RowOpKind, cells: dict[int, int]) -> None:
    txn = store.begin()
    txn.write_row(store.catalog.table("t"), kind, cells)
    txn.commit(durable=False)


def metrics(store: Store) -> list[Metric]:
    counters, log = store.committer.counters, store.maintenance.log
    return [*metric_values(store.statements, counters, log, store.cache, store.log_retention)]


def test_a_commit_counts_its_rows_by_what_happened_to_them(store: Store) -> None:
    before = {metric.name: metric.value for metric in metrics(store)}
    write(store, RowOpKind.INSERT, {0: 1, 1: 10})
    write(store, RowOpKind.UPSERT, {0: 1, 1: 11})
    write(store, RowOpKind.DELETE, {0: 1})
    after = metrics(store)
    grown = {metric.name: metric.value - before[metric.name] for metric in after}
    assert len(grown) == len(after)
    counted = ("commits", "rows_inserted", "rows_updated", "rows_deleted", "rows_bulk_loaded")
    assert [grown[name] for name in counted] == [3, 1, 1, 1, 0]


def test_a_trace_of_a_key_says_which_rowset_has_the_row_and_what_kept_the_others_out(
    store: Store,
) -> None:
    table = store.catalog.table("t")
    for key in (1, 5):
        write(store, RowOpKind.INSERT, {0: key, 1: 10})
    store.flush()
    write(store, RowOpKind.INSERT, {0: 9, 1: 10})
    answers = {
        key: [rowset.answer for rowset in trace_key(table, store.tablets, (key,)).rowsets]
        for key in (1, 3, 9, 100)
    }
    assert answers[1] == ["memory", "row"]
    assert answers[9] == ["row", "key range"]
    assert answers[100] == ["memory", "key range"]
    assert answers[3][1] in ("bloom filter", "key index")
