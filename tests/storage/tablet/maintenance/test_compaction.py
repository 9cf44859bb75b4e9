"""Merging compaction beside writers, in parts, and given up."""

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store
from pykudu_sql.storage.store_options import StoreOptions
from pykudu_sql.storage.tablet.maintenance.compaction import CompactionResult, compact_rowsets
from pykudu_sql.storage.tablet.maintenance.compaction_input import CompactionInput
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.rowset import RowSet
from pykudu_sql.storage.tablet.tablet import Tablet
from tests.storage.model import Key, Row, apply, operations, read

KEYS = 300
COLUMNS = [
    ColumnSchema(0, "id", DataType(Kind.INT32)),
    ColumnSchema(0, "n", DataType(Kind.INT64), True),
    ColumnSchema(0, "s", DataType(Kind.STRING), True),
]


class Subject:
    """A table with a past, spread over several overlapping rowsets."""

    def __init__(self) -> None:
        self.env = MemoryEnv()
        self.rng = random.Random(7)
        self.rows: dict[Key, Row] = {}
        self.past: list[tuple[int, dict[Key, Row]]] = []
        self.open()
        self.store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
        for _ in range(5):
            for _ in range(4):
                self.write()
            self.store.flush()

    def open(self) -> None:
        self.store = Store(self.env, "/db", StoreOptions(threads=1, maintenance=False))

    @property
    def tablet(self) -> Tablet:
        return self.store.tablets[self.store.catalog.table("t").tablets[0].id]

    def write(self) -> None:
        kinds = (
            RowOpKind.UPSERT,
            RowOpKind.UPSERT,
            RowOpKind.DELETE_IGNORE,
            RowOpKind.UPDATE_IGNORE,
        )
        kind = self.rng.choice(kinds)
        batch: list[Row] = [{0: key} for key in self.rng.sample(range(KEYS), 40)]
        if kind is not RowOpKind.DELETE_IGNORE:
            for row in batch:
                row |= {1: self.rng.randrange(100), 2: self.rng.choice(["", "a", "bb"])}
        table = self.store.catalog.table("t")
        self.rows = apply(self.rows, table, kind, batch)
        transaction = self.store.begin()
        transaction.write(table, operations(table, kind, batch))
        timestamp = transaction.commit(durable=True)
        if timestamp is not None:
            self.past.append((timestamp + 1, self.rows))

    def compact(self, **options: object) -> CompactionResult:
        tablet = self.tablet
        with tablet.maintenance_lock:
            rowsets = tablet.components.tree.rowsets
            services = self.store.committer.tablet_services
            return compact_rowsets(tablet, rowsets, services, **options)  # type: ignore[arg-type]

    def check(self) -> None:
        table = self.store.catalog.table("t")
        for bound, rows in self.past:
            assert read(self.store.begin(), table, bound) == rows

    def reopen(self) -> None:
        self.store.close()
        self.open()


@pytest.fixture
def subject() -> Iterator[Subject]:
    made = Subject()
    yield made
    made.store.close()


def test_every_snapshot_reads_the_same_after_a_compaction_and_after_reopening(
    subject: Subject,
) -> None:
    result = subject.compact()
    assert (result.rowsets_in, result.rowsets_out) == (5, 1)
    assert result.rows_out <= result.rows_in
    subject.check()
    subject.reopen()
    subject.check()


def test_changes_that_come_meanwhile_are_carried_over(subject: Subject) -> None:
    asked = 0

    def change() -> None:
        nonlocal asked
        asked += 1
        subject.write()

    subject.compact(cancel_check=change, target_bytes=4000)
    assert asked
    subject.check()
    for _ in range(3):
        subject.write()
    subject.check()
    subject.reopen()
    subject.check()


def test_a_transaction_begun_before_commits_to_the_rows_new_places(subject: Subject) -> None:
    table = subject.store.catalog.table("t")
    transaction = subject.store.begin()
    key = next(iter(subject.rows))[0]
    batch: list[Row] = [{0: key, 1: -1, 2: "late"}]
    transaction.write(table, operations(table, RowOpKind.UPDATE, batch))
    subject.compact()
    transaction.commit(durable=True)
    subject.rows = apply(subject.rows, table, RowOpKind.UPDATE, batch)
    assert read(subject.store.begin(), table) == subject.rows
    subject.check()


def test_outputs_roll_at_their_size_and_do_not_overlap(subject: Subject) -> None:
    result = subject.compact(target_bytes=4000)
    assert result.rowsets_out > 2
    metas = [rowset.meta for rowset in subject.tablet.components.tree.rowsets]
    assert len(metas) == result.rowsets_out
    for before, after in pairwise(metas):
        assert before.max_key < after.min_key
    subject.check()


def test_a_compaction_given_up_leaves_everything_as_it_was(subject: Subject) -> None:
    class GivenUp(Exception):
        pass

    def give_up() -> None:
        raise GivenUp

    before = subject.tablet.components
    files = {path for path in subject.env.list_dir("/db/tmp")}
    with pytest.raises(GivenUp):
        subject.compact(cancel_check=give_up)
    assert subject.tablet.components is before
    assert {path for path in subject.env.list_dir("/db/tmp")} == files
    subject.check()


def test_a_reader_goes_on_with_the_rowsets_it_began_with(subject: Subject) -> None:
    tablet = subject.tablet
    bound = subject.store.begin().bound
    scans = [
        rowset.scan(tablet.schema.columns, None, bound, None)
        for rowset in tablet.components.tree.rowsets
    ]
    subject.compact()
    assert subject.store.collect_files() == 0
    seen = sum(block.length for scan in scans for block in scan)
    assert seen == len(subject.rows)
    del scans
    assert subject.store.collect_files() > 0
    subject.check()


def test_rowset_ids_are_not_used_again_after_their_rowsets_are_gone(subject: Subject) -> None:
    subject.compact()
    used = max(rowset.id for rowset in subject.tablet.components.tree.rowsets)
    subject.reopen()
    assert subject.tablet.new_rowset_id() > used


def test_rowsets_of_rows_that_died_long_ago_are_merged_into_nothing() -> None:
    with closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1, maintenance=False))) as store:
        table = store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())
        for kind in (RowOpKind.INSERT, RowOpKind.DELETE):
            store.write_row(table, kind, {0: 1} if kind is RowOpKind.DELETE else {0: 1, 1: 2})
            store.flush()
        (tablet,) = store.tablets.values()
        services = replace(store.committer.tablet_services, history_mark=lambda _: store.now())
        result = compact_rowsets(tablet, tablet.components.tree.rowsets, services)
        assert (result.rowsets_in, result.rowsets_out) == (1, 0)
        assert len(tablet.components.tree) == 0
        assert read(store.begin(), table) == {}


def test_changes_in_memory_count_in_the_bytes_of_a_slice(subject: Subject) -> None:
    tablet, table = subject.tablet, subject.store.catalog.table("t")
    before = [_decoded_bytes(tablet, rowset) for rowset in tablet.components.tree.rowsets]
    key = next(iter(subject.rows))[0]
    transaction = subject.store.begin()
    large: list[Row] = [{0: key, 2: "x" * 60_000}]
    transaction.write(table, operations(table, RowOpKind.UPDATE, large))
    transaction.commit(durable=True)
    after = [_decoded_bytes(tablet, rowset) for rowset in tablet.components.tree.rowsets]
    growth = [new - old for old, new in zip(before, after, strict=True)]
    assert 60_000 <= sum(growth) < 61_000
    assert sorted(growth)[:-1] == [0] * (len(growth) - 1)


def _decoded_bytes(tablet: Tablet, rowset: RowSet) -> int:
    assert isinstance(rowset, DiskRowSet)
    columns = tablet.retained_columns()
    read_column = rowset.base.column_once
    bound = bound_at(tablet.newest)
    mark = SnapshotBound(0)
    source = CompactionInput(rowset, read_column, columns, tablet.key_encoder, bound, mark)
    return source.decoded_bytes
