"""Scans of changed rows give those of a plain model, now and AS OF, however rows are picked.

Texts with NULLs, words of a dictionary, binaries, wide decimals and flags; batches of upserts,
updates of some columns, deletions and keys inserted again, in memory and in delta files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import (
    And,
    Comparison,
    IsNotNull,
    IsNull,
    Op,
    Predicate,
)
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec, Summary, SummaryKind
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.arrays import array_to_cells
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Encoding, Kind, decimal_type
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.delta import word_codes
from pykudu_sql.storage.tablet.maintenance.compaction import compact_rowsets
from pykudu_sql.storage.tablet.maintenance.delta_compaction import compact_major
from pykudu_sql.storage.tablet.maintenance.flush import flush_delta_stores, flush_memrowset
from tests.properties.examples import examples
from tests.storage.common.predicates import holds
from tests.storage.model import Key, Row, apply, operations

ROWS = 300
STRING = DataType(Kind.STRING)
KEY, NUMBER, WORD, NOTE, DATA, PRICE, FLAG, SCORE = range(8)
COLUMNS = (
    ColumnSchema(0, "id", DataType(Kind.INT64), nullable=False),
    ColumnSchema(0, "number", DataType(Kind.INT32)),
    ColumnSchema(0, "word", STRING, encoding=Encoding("DICT_ENCODING")),
    ColumnSchema(0, "note", STRING, encoding=Encoding("PLAIN_ENCODING")),
    ColumnSchema(0, "data", DataType(Kind.BINARY)),
    ColumnSchema(0, "price", decimal_type(30, 2)),
    ColumnSchema(0, "flag", DataType(Kind.BOOL)),
    ColumnSchema(0, "score", DataType(Kind.DOUBLE), nullable=False),
)
TYPES = tuple(column.type for column in COLUMNS)
PREDICATES: tuple[Predicate | None, ...] = (
    None,
    Comparison(KEY, Op.LT, 9),
    And((Comparison(KEY, Op.GE, 40), Comparison(KEY, Op.LT, 260))),
    Comparison(NUMBER, Op.EQ, 3),
    Comparison(NUMBER, Op.GE, 4),
    Comparison(WORD, Op.EQ, "word 3"),
    Comparison(NOTE, Op.GE, "of thirteen b"),
    IsNull(NOTE),
    And((IsNotNull(DATA), Comparison(FLAG, Op.EQ, value=True))),
    Comparison(DATA, Op.EQ, b""),
    Comparison(PRICE, Op.GT, 10**20),
    Comparison(SCORE, Op.LT, 12.0),
)
_NOTES = ("", "a", "of twelve by", "of thirteen b", "a long text ä " * 4)
_BLOBS = (b"", b"\x00\xff", b"\xff" * 30)


@pytest.fixture(autouse=True, scope="module")
def _small_batches_are_coded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_codes, "_LEAST_VALUES", 8)
        patch.setattr(word_codes, "_VALUES_A_WORD", 1)
        yield


@dataclass
class Subject:
    """One tablet, the rows of the model, and what they were after each commit.

    Attributes:
        nulls: the part of the cells that are NULL.
        past: bounds of snapshots, and the rows that they see.
        reads: results that a reader has, of which columns, and what was in them.
    """

    random: np.random.Generator
    nulls: float
    rows: dict[Key, Row] = field(default_factory=dict)
    past: list[tuple[SnapshotBound, dict[Key, Row]]] = field(default_factory=list)
    reads: list[tuple[pa.Table, Sequence[int], list[list[Cell]]]] = field(default_factory=list)
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(
            MemoryEnv(), "/db", StoreOptions(durability="off", threads=1, maintenance=False)
        )
        columns = [replace(column, block_size=512) for column in COLUMNS]
        self.store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
        self.write(RowOpKind.INSERT, range(ROWS))
        self.store.flush()

    @property
    def table(self) -> TableInfo:
        return self.store.catalog.table("t")

    def cells(self, key: int) -> list[Cell]:
        random = self.random
        cells: list[Cell] = [
            int(random.integers(9)),
            f"word {random.integers(4) if random.random() < 0.9 else random.integers(400)}",
            _NOTES[random.integers(len(_NOTES))] + str(key if random.random() < 0.3 else ""),
            _BLOBS[random.integers(len(_BLOBS))],
            int(random.integers(10)) * 10**24 - 7,
            bool(random.integers(2)),
        ]
        nullable = [None if random.random() < self.nulls else cell for cell in cells]
        return [key, *nullable, key / 8]

    def write(self, kind: RowOpKind, keys: Sequence[int], places: Sequence[int] = ()) -> None:
        """Rows of some keys, with the cells of some columns or of all but for DELETE."""
        chosen = [KEY, *places] if places or kind is RowOpKind.DELETE else range(len(TYPES))
        batch = [{i: cells[i] for i in chosen} for cells in map(self.cells, keys)]
        self.rows = apply(self.rows, self.table, kind, batch)
        transaction = self.store.begin()
        transaction.write(self.table, operations(self.table, kind, batch))
        timestamp = transaction.commit(durable=False)
        assert timestamp is not None
        self.past.append((bound_at(timestamp), self.rows))

    def some(self, keys: Sequence[int], most: int) -> list[int]:
        count = min(len(keys), int(self.random.integers(1, most)))
        return [int(key) for key in self.random.choice(keys, count, replace=False)]

    def change(self, step: str) -> None:
        alive = [key for key in range(ROWS) if (key,) in self.rows]
        dead = [key for key in range(ROWS) if (key,) not in self.rows]
        (tablet,) = self.store.tablets.values()
        services = self.store.committer.tablet_services
        match step:
            case "upsert":
                most = int(self.random.choice([15, 90]))
                self.write(RowOpKind.UPSERT, self.some(range(ROWS), most))
            case "update" if alive:
                places = self.some(range(NUMBER, SCORE + 1), 4)
                self.write(RowOpKind.UPDATE, self.some(alive, 60), places)
            case "delete" if alive:
                self.write(RowOpKind.DELETE, self.some(alive, 60))
            case "insert" if dead:
                self.write(RowOpKind.INSERT, self.some(dead, 60))
            case "flush":
                flush_delta_stores(tablet, services)
            case "compact":
                for rowset in tablet.components.tree.rowsets:
                    compact_major(tablet, rowset, [NUMBER, NOTE, DATA], services)
            case "merge":
                flush_memrowset(tablet, services)
                compact_rowsets(tablet, tablet.components.tree.rowsets, services)

    def check(self, places: Sequence[int], predicate: Predicate | None, moment: int | None) -> None:
        """Scan some columns of the rows that a predicate holds for, without an order and in it."""
        bound, rows = (None, self.rows) if moment is None else self.past[moment]
        listed = [tuple(row.values()) for row in rows.values()]
        expected = sorted(
            [row[KEY], *(row[place] for place in places)]
            for row in listed
            if predicate is None or holds(predicate, row)
        )
        spec = ScanSpec((KEY, *places), predicate, limit=len(rows) + 1)
        transaction = self.store.begin()
        self.check_validity(spec, expected, bound)
        result = transaction.table_scan(self.table, spec, bound)
        read = cells_of(result, places)
        assert sorted(read) == expected
        ordered = replace(spec, order=ScanOrder.KEY)
        in_order = transaction.table_scan(self.table, ordered, bound)
        assert cells_of(in_order, places) == expected
        if predicate is None:
            self.check_extremes(places, expected, bound)
            whole = transaction.table_scan(self.table, replace(spec, limit=None), bound)
            assert sorted(cells_of(whole, places)) == expected
            self.reads.append((whole, places, cells_of(whole, places)))

    def check_validity(
        self, spec: ScanSpec, expected: list[list[Cell]], bound: SnapshotBound | None
    ) -> None:
        """Scan for where cells are NULL instead of for what they are, in each way to scan."""
        present = [[row[KEY], *(cell is not None for cell in row[1:])] for row in expected]
        asked = replace(spec, validity_ids=frozenset(spec.column_ids[1:]))
        transaction = self.store.begin()
        specs = [asked, replace(asked, order=ScanOrder.KEY)]
        if spec.predicate is None:
            specs.append(replace(asked, limit=None))
        for each in specs:
            result = transaction.table_scan(self.table, each, bound)
            assert {column.type for column in result.columns[1:]} <= {pa.bool_()}
            columns = [column.is_valid().to_pylist() for column in result.columns[1:]]
            read = [list(row) for row in zip(result.column(0).to_pylist(), *columns, strict=True)]
            assert sorted(read) == present

    def check_extremes(
        self, places: Sequence[int], expected: list[list[Cell]], bound: SnapshotBound | None
    ) -> None:
        """Least and greatest cells, where metadata and few blocks have them."""
        for column, place in enumerate(places, 1):
            ends = [Summary(SummaryKind.MIN, place), Summary(SummaryKind.MAX, place)]
            summary = self.store.begin().summarize(self.table, ends, bound)
            cells: list[Any] = [row[column] for row in expected if row[column] is not None]
            if summary is not None:
                assert summary == (min(cells, default=None), max(cells, default=None))


def cells_of(table: pa.Table, places: Sequence[int]) -> list[list[Cell]]:
    kinds = [TYPES[KEY], *(TYPES[place] for place in places)]
    columns = [
        [cell for chunk in column.chunks for cell in array_to_cells(chunk, kind)]
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


@settings(max_examples=examples(25), deadline=None)
@given(st.data(), st.integers(0, 2**32), st.sampled_from([0.0, 0.1, 0.9]))
def test_scans_of_changed_rows_have_those_of_a_model(
    data: st.DataObject, seed: int, nulls: float
) -> None:
    subject = Subject(np.random.default_rng(seed), nulls)
    steps = ["upsert"] * 6 + ["update"] * 3 + ["delete", "insert", "insert", "flush"]
    steps += ["compact", "merge"]
    places = st.lists(st.integers(NUMBER, SCORE), max_size=7, unique=True)
    for step in data.draw(st.lists(st.sampled_from(steps), min_size=1, max_size=10)):
        subject.change(step)
        for predicate in data.draw(st.lists(st.sampled_from(PREDICATES), min_size=1, max_size=2)):
            moment = data.draw(st.none() | st.integers(0, len(subject.past) - 1))
            subject.check(data.draw(places), predicate, moment)
    every = range(NUMBER, SCORE + 1)
    for predicate in PREDICATES:
        subject.check(every, predicate, None)
    for moment in range(len(subject.past)):
        subject.check(every, None, moment)
        subject.check(every, data.draw(st.sampled_from(PREDICATES)), moment)
    for result, read, cells in subject.reads:
        assert cells_of(result, read) == cells
    subject.store.close()
