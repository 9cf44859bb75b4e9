"""Delta flushes, compactions and collection of history never change what a snapshot sees.

Random changes and operations on one tablet, held against plain dictionaries: after each operation
every snapshot at or above the ancient history mark is read by scan and row by row.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.delta.delta_file_meta import DeltaFileMeta, DeltaStats
from pykudu_sql.storage.tablet.delta.deltafile import UNDO
from pykudu_sql.storage.tablet.maintenance import delta_compaction
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import (
    MOST_UNDO_RECORDS,
    compact_major,
    compact_redo,
    undo_to_absorb,
)
from pykudu_sql.storage.tablet.maintenance.flush import flush_delta_stores, flush_memrowset
from pykudu_sql.storage.tablet.maintenance.history_gc import collect_deleted_rowsets, collect_undo
from pykudu_sql.storage.tablet.tablet import Tablet
from pykudu_sql.storage.tablet.tablet_services import TabletServices
from tests.properties.examples import examples
from tests.storage.model import Key, Row, apply, operations, read

KEYS = 4
INT, STRING = DataType(Kind.INT32), DataType(Kind.STRING)
COLUMNS = [
    ColumnSchema(0, "id", INT),
    ColumnSchema(0, "a", INT),
    ColumnSchema(0, "b", STRING),
    ColumnSchema(0, "c", INT),
]
VALUES: dict[int, st.SearchStrategy[Any]] = {
    1: st.none() | st.integers(-9, 9),
    2: st.none() | st.sampled_from(["", "x", "y", "zz"]),
    3: st.integers(0, 3),
}


@dataclass
class Subject:
    """A tablet under test, what it must show, and the mark below which nobody looks.

    Attributes:
        rows: now.
        past: the time of each commit, as the bound of a snapshot, with the rows before it.
        mark: no snapshot below this bound is read.
    """

    env: MemoryEnv = field(default_factory=MemoryEnv)
    rows: dict[Key, Row] = field(default_factory=dict)
    past: list[tuple[int, dict[Key, Row]]] = field(default_factory=list)
    mark: int = 0
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.open()
        self.store.create_table("t", create_schema(COLUMNS, ["id"]), PartitionSchema())

    def open(self) -> None:
        self.store = Store(
            self.env, "/db", StoreOptions(durability="off", threads=1, maintenance=False)
        )

    @property
    def tablet(self) -> Tablet:
        return self.store.tablets[self.store.catalog.table("t").tablets[0].id]

    @property
    def services(self) -> TabletServices:
        return replace(self.store.committer.tablet_services, history_mark=lambda _: self.mark)

    def write(self, kind: RowOpKind, batch: list[Row]) -> None:
        table = self.store.catalog.table("t")
        before, self.rows = self.rows, apply(self.rows, table, kind, batch)
        txn = self.store.begin()
        if len(batch) == 1:
            txn.write_row(table, kind, batch[0])
        else:
            txn.write(table, operations(table, kind, batch))
        timestamp = txn.commit(durable=False)
        if timestamp is not None:
            self.past.append((timestamp, before))

    def check(self) -> None:
        table = self.store.catalog.table("t")
        for bound, rows in [*self.past, (self.store.begin().bound, self.rows)]:
            if bound >= self.mark:
                assert read(self.store.begin(), table, bound) == rows
                self.check_rows(bound, rows)

    def check_rows(self, bound: int, rows: dict[Key, Row]) -> None:
        columns = self.store.catalog.table("t").schema.columns
        for key in range(KEYS):
            row = rows.get((key,))
            wanted = None if row is None else tuple(row[c.id] for c in columns)
            assert self.tablet.read_row(self.tablet.probe((key,)), columns, bound) == wanted


def change(subject: Subject, draw: st.DataObject) -> None:
    living = [key for key in range(KEYS) if (key,) in subject.rows]
    dead = [key for key in range(KEYS) if (key,) not in subject.rows]
    kinds = [RowOpKind.UPDATE] * 4 + [RowOpKind.DELETE] if living else []
    kinds += [RowOpKind.INSERT] * 2 if dead else []
    kind = draw.draw(st.sampled_from(kinds))
    candidates = dead if kind is RowOpKind.INSERT else living
    keys = draw.draw(st.lists(st.sampled_from(candidates), min_size=1, max_size=4, unique=True))
    wanted = [1, 2, 3] if kind is RowOpKind.INSERT else []
    if kind is RowOpKind.UPDATE:
        wanted = draw.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, unique=True))
    batch = [{0: key, **{i: draw.draw(VALUES[i]) for i in wanted}} for key in keys]
    subject.write(kind, batch)


def operate(subject: Subject, draw: st.DataObject) -> None:
    tablet, services = subject.tablet, subject.services
    if draw.draw(st.booleans()):
        flush_delta_stores(tablet, services)
    names = ["flush", "minor", "major", "major", "merge", "undo", "rowsets", "mark", "reopen"]
    name = draw.draw(st.sampled_from(names))
    columns = draw.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, unique=True))
    rowsets = tablet.components.tree.rowsets
    if name == "mark" and subject.past:
        subject.mark = max(subject.mark, draw.draw(st.sampled_from([b for b, _ in subject.past])))
    elif name == "reopen":
        subject.store.close()
        subject.open()
    elif name == "flush":
        flush_memrowset(tablet, services)
    elif name == "merge" and rowsets:
        compact_rowsets(tablet, rowsets, services)
    elif name == "undo":
        collect_undo(tablet, services)
    elif name == "rowsets":
        collect_deleted_rowsets(tablet, services)
    else:
        for rowset in rowsets:
            if name == "minor":
                compact_redo(tablet, rowset, services)
            elif name == "major":
                compact_major(tablet, rowset, columns, services)


@pytest.mark.parametrize("few", [0, delta_compaction.MIN_UNDO_FILES])
def test_operations_on_deltas_change_nothing_that_a_snapshot_sees(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_compaction, "MIN_UNDO_FILES", few)
    changes_and_operations()


@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(draw=st.data())
def changes_and_operations(draw: st.DataObject) -> None:
    subject = Subject()
    subject.write(RowOpKind.INSERT, [{0: key, 1: key, 2: "new", 3: 0} for key in range(KEYS - 1)])
    flush_memrowset(subject.tablet, subject.services)
    for _ in range(draw.draw(st.integers(2, 6))):
        for _ in range(draw.draw(st.integers(1, 4))):
            change(subject, draw)
        for _ in range(draw.draw(st.integers(1, 3))):
            operate(subject, draw)
        subject.check()
    subject.store.close()
    subject.open()
    subject.check()
    subject.store.close()


def test_a_rows_way_back_is_in_the_order_of_time_though_columns_moved_one_by_one() -> None:
    subject = Subject()
    subject.write(RowOpKind.INSERT, [{0: key, 1: 0, 2: "x", 3: 0} for key in range(KEYS)])
    flush_memrowset(subject.tablet, subject.services)
    for value in range(1, 5):
        subject.write(RowOpKind.UPDATE, [{0: 1, 1: value}])
        subject.write(RowOpKind.UPDATE, [{0: 1, 3: value}])
    subject.write(RowOpKind.DELETE, [{0: 2}])
    (rowset,) = subject.tablet.components.tree.rowsets
    flush_delta_stores(subject.tablet, subject.services)
    assert compact_major(subject.tablet, rowset, [1], subject.services) == 1
    subject.check()
    compact_rowsets(subject.tablet, subject.tablet.components.tree.rowsets, subject.services)
    subject.check()
    assert list(DatabaseCheck(subject.env, "/db", quick=False).run()) == []
    subject.store.close()


def test_a_reader_goes_on_with_the_files_it_began_with() -> None:
    subject = Subject()
    subject.write(RowOpKind.INSERT, [{0: key, 1: 0, 2: "x", 3: 0} for key in range(4)])
    flush_memrowset(subject.tablet, subject.services)
    for value in (1, 2):
        subject.write(RowOpKind.UPDATE, [{0: 1, 1: value}, {0: 2, 1: value}])
        flush_delta_stores(subject.tablet, subject.services)
    (before,) = subject.tablet.components.tree.rowsets
    columns = subject.tablet.schema.columns
    bound = subject.store.begin().bound
    scan = before.scan(columns, None, bound, None)
    assert compact_redo(subject.tablet, before, subject.services) == 2
    assert compact_major(subject.tablet, before, [1], subject.services) == 1
    subject.store.collect_files()
    (block,) = scan
    assert block.columns[1].to_pylist() == [0, 2, 2, 0]
    subject.check()
    subject.store.close()


def test_a_writer_that_found_its_row_before_a_compaction_still_reaches_it() -> None:
    subject = Subject()
    subject.write(RowOpKind.INSERT, [{0: key, 1: 0, 2: "x", 3: 0} for key in range(4)])
    flush_memrowset(subject.tablet, subject.services)
    subject.write(RowOpKind.UPDATE, [{0: 1, 1: 5}])
    (rowset,) = subject.tablet.components.tree.rowsets
    flush_delta_stores(subject.tablet, subject.services)
    table = subject.store.catalog.table("t")
    txn = subject.store.begin()
    txn.write_row(table, RowOpKind.UPDATE, {0: 2, 3: 7})
    assert compact_major(subject.tablet, rowset, [1], subject.services) == 1
    assert txn.commit(durable=False) is not None
    subject.rows = apply(subject.rows, table, RowOpKind.UPDATE, [{0: 2, 3: 7}])
    subject.check()
    subject.store.close()
    subject.open()
    subject.check()
    subject.store.close()


def test_undo_files_stay_few_though_major_compactions_are_many() -> None:
    subject = Subject()
    subject.write(RowOpKind.INSERT, [{0: key, 1: 0, 2: "x", 3: 0} for key in range(KEYS)])
    flush_memrowset(subject.tablet, subject.services)
    most = 0
    for value in range(60):
        subject.write(RowOpKind.UPDATE, [{0: value % KEYS, 1 + 2 * (value % 2): value}])
        flush_delta_stores(subject.tablet, subject.services)
        (rowset,) = subject.tablet.components.tree.rowsets
        compact_major(subject.tablet, rowset, [1, 3], subject.services)
        (rowset,) = subject.tablet.components.tree.rowsets
        most = max(most, len(rowset.meta.undo))
        subject.store.collect_files()
    assert most <= 8
    subject.check()
    assert list(DatabaseCheck(subject.env, "/db", quick=False).run()) == []
    subject.store.close()


def undo_file(records: int) -> DeltaFileMeta:
    return DeltaFileMeta(1, UNDO, DeltaStats(1, 2, 0, 0, {1: records}, records), 10 * records)


@pytest.mark.parametrize(
    ("files", "records", "absorbed"),
    [
        ([], 5, 0),
        ([5, 5, 5], 5, 0),  # few
        ([5, 5, 5, 5], 5, 4),
        ([5, 11, 22, 500], 5, 3),  # 5, then 10, then 21 take in what is twice as large, and no more
        ([50, 5, 5, 5], 5, 0),
        ([5, 5, 5, 5], 0, 0),  # no file is written
        ([MOST_UNDO_RECORDS - 5, 1, 1, 1], MOST_UNDO_RECORDS // 2, 0),
        ([MOST_UNDO_RECORDS // 2] * 4, MOST_UNDO_RECORDS // 2, 1),
    ],
)
def test_undo_files_are_taken_in_while_they_are_small(
    files: list[int], records: int, absorbed: int
) -> None:
    assert undo_to_absorb([undo_file(n) for n in files], records) == absorbed
