"""Rows in memory by key are those of a plain sorted list, whoever writes and flushes meanwhile."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op, Predicate
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.rowset import key_runs

HOSTS, TIMES = 6, 40
COMMITS = 120

Key = tuple[int, int]
Changes = dict[Key, int | None]


@dataclass(frozen=True)
class Read:
    """A scan in key order, and what it gave."""

    bound: int
    host: int | None
    limit: int | None
    rows: list[tuple[int, int, int]]

    def expected(self, commits: list[tuple[int, Changes]]) -> list[tuple[int, int, int]]:
        state: Changes = {}
        for timestamp, changes in commits:
            if timestamp < self.bound:
                state.update(changes)
        rows = sorted((*key, value) for key, value in state.items() if value is not None)
        return [row for row in rows if self.host in (None, row[0])][: self.limit]


@pytest.fixture(params=[0, 2], ids=["one tablet", "two tablets"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    columns = [ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("host", "at", "value")]
    schema = create_schema(columns, ["host", "at"])
    hashes = (HashDimension((schema.key_ids[1],), request.param),) if request.param else ()
    store = Store(LocalEnv(), str(tmp_path / "db"), StoreOptions(durability="off", threads=2))
    store.create_table("t", schema, PartitionSchema(hashes))
    yield store
    store.close()


def write(store: Store, random: np.random.Generator, turn: int) -> tuple[int, Changes]:
    """One commit: a row, a batch, a batch deleted, or rows deleted and inserted again."""
    table = store.catalog.table("t")
    places = random.choice(HOSTS * TIMES, 1 if turn % 3 == 0 else 25, replace=False)
    keys = [divmod(int(place), TIMES) for place in places]
    txn = store.begin()
    if turn % 3 == 0:
        cells = dict(zip((0, 1, 2), (*keys[0], turn), strict=True))
        txn.write_row(table, RowOpKind.UPSERT, cells)
    else:
        if turn % 3 == 1:
            txn.write(table, batch(RowOpKind.DELETE_IGNORE, keys, None))
            keys = keys[: int(random.integers(len(keys)))]
        if keys:
            txn.write(table, batch(RowOpKind.UPSERT, keys, turn))
    timestamp = txn.commit(durable=False)
    changes: Changes = {divmod(int(place), TIMES): None for place in places}
    changes.update(dict.fromkeys(keys, turn))
    return timestamp or 0, changes


def batch(kind: RowOpKind, keys: list[Key], value: int | None) -> RowOperations:
    cells = [*zip(*keys, strict=True), *([] if value is None else [[value] * len(keys)])]
    columns = {place: pa.array(part, pa.int64()) for place, part in enumerate(cells)}
    return RowOperations(kind, columns, len(keys))


def read(store: Store, table: TableInfo, random: np.random.Generator) -> Read:
    host = int(random.integers(HOSTS)) if random.random() < 0.6 else None
    limit = int(random.integers(1, 20)) if random.random() < 0.5 else None
    predicate: Predicate | None = None if host is None else Comparison(0, Op.EQ, host)
    txn = store.begin()
    try:
        found = txn.table_scan(table, ScanSpec((0, 1, 2), predicate, limit, ScanOrder.KEY))
        rows = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
        return Read(txn.bound, host, limit, rows)
    finally:
        txn.rollback()


@pytest.mark.parametrize("most_in_tree", [8, 4096])
def test_readers_by_key_see_a_sorted_list_of_their_snapshot_beside_writers_and_flushes(
    store: Store, monkeypatch: pytest.MonkeyPatch, most_in_tree: int
) -> None:
    monkeypatch.setattr(key_runs, "_MOST_IN_TREE", most_in_tree)
    table = store.catalog.table("t")
    assert [column.id for column in table.schema.columns] == [0, 1, 2]
    commits: list[tuple[int, Changes]] = []
    reads: list[Read] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def repeat_until_done(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            while not done.is_set():
                done.wait(0.002)
                if seed:
                    reads.append(read(store, table, random))
                else:
                    done.wait(random.random() / 50)
                    store.flush()
        except BaseException as error:
            failures.append(error)

    others = [threading.Thread(target=repeat_until_done, args=(seed,)) for seed in range(3)]
    for other in others:
        other.start()
    random = np.random.default_rng(7)
    try:
        for turn in range(COMMITS):
            commits.append(write(store, random, turn))
    finally:
        done.set()
        for other in others:
            other.join()
    assert not failures
    assert len(reads) > 10
    for one in reads:
        assert one.rows == one.expected(commits)


def test_a_range_of_keys_in_memory_reads_none_of_the_other_rows(store: Store) -> None:
    keys = [(host, at) for at in range(TIMES) for host in range(HOSTS)]
    txn = store.begin()
    txn.write(store.catalog.table("t"), batch(RowOpKind.INSERT, keys, 1))
    txn.commit(durable=False)
    table = store.catalog.table("t")
    predicate = Comparison(0, Op.EQ, 3)
    for tablet in store.tablets.values():
        memrowset = tablet.components.memrowset
        low, high = memrowset.key_range()
        assert low == min(memrowset._ordinals)
        assert high == max(memrowset._ordinals)
    stats = ScanStats()
    found = store.begin().table_scan(table, ScanSpec((0, 1), predicate), stats=stats)
    assert sorted(found.column(1).to_pylist()) == list(range(TIMES))
    assert stats.rows_scanned == TIMES
    elsewhere = Comparison(0, Op.GT, HOSTS)
    stats = ScanStats()
    assert len(store.begin().table_scan(table, ScanSpec((0,), elsewhere), stats=stats)) == 0
    assert (stats.rows_scanned, stats.rowsets_pruned) == (0, stats.rowsets)


def test_text_that_came_in_codes_is_flushed_with_its_history(store: Store) -> None:
    schema = create_schema(
        [ColumnSchema(0, "k", DataType(Kind.INT64)), ColumnSchema(0, "w", DataType(Kind.STRING))],
        ["k"],
    )
    store.create_table("words", schema, PartitionSchema(()))
    table = store.catalog.table("words")
    keys = pa.array(range(99, -1, -1), pa.int64())
    words = pa.array(["a", "b", "c", None] * 25).dictionary_encode()
    for kind, columns in (
        (RowOpKind.INSERT, {0: keys, 1: words}),
        (RowOpKind.UPDATE, {0: keys.slice(50), 1: pa.array(["new"] * 50)}),
        (RowOpKind.DELETE, {0: keys.slice(7, 1)}),
    ):
        txn = store.begin()
        txn.write(table, RowOperations(kind, columns, len(columns[0])))
        txn.commit(durable=False)
        if kind is RowOpKind.INSERT:
            early = store.begin()
    expected = dict(zip(keys.to_pylist(), words.to_pylist(), strict=True))

    def rows_at(bound: SnapshotBound | None) -> dict[int, str | None]:
        found = store.begin().table_scan(table, ScanSpec((0, 1)), bound)
        return dict(zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True))

    before = rows_at(None)
    store.flush()
    assert rows_at(early.bound) == expected
    assert rows_at(None) == before
    assert before == {k: "new" if k < 50 else w for k, w in expected.items() if k != 92}
