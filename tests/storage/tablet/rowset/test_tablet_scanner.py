"""Scans give the rows that a predicate holds for, whatever way they find them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
    InList,
    IsNull,
    Op,
    Predicate,
    StartsWith,
)
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, ScanSpec, Summary, SummaryKind
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Encoding, Kind, decimal_type
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.properties.examples import examples
from tests.storage.common.predicates import holds, predicates

BIGINT = DataType(Kind.INT64)
TYPES = (
    BIGINT,
    DataType(Kind.STRING),
    DataType(Kind.DOUBLE),
    decimal_type(9, 2),
    DataType(Kind.BOOL),
    DataType(Kind.INT32),
)
ENCODINGS = {1: Encoding("DICT_ENCODING"), 5: Encoding("RLE")}
WORDS = ("", "a", "ab", "b", "\U0001f600", "zz")
ROWS = 240

Row = tuple[Cell, ...]


class Data:
    """A table of one tablet and what is in it, in memory and in several rowsets with deltas."""

    def __init__(self) -> None:
        self.store = Store(
            MemoryEnv(), "/db", StoreOptions(durability="off", threads=2, maintenance=False)
        )
        columns = [
            ColumnSchema(0, f"c{i}", kind, i > 0, ENCODINGS.get(i, Encoding("AUTO_ENCODING")))
            for i, kind in enumerate(TYPES)
        ]
        columns = [replace(column, block_size=512) for column in columns]
        self.store.create_table("t", create_schema(columns, ["c0"]), PartitionSchema())
        self.table: TableInfo = self.store.catalog.table("t")
        self.rows: dict[Cell, Row] = {}
        self.past: list[tuple[int, dict[Cell, Row]]] = []
        self._draw = np.random.default_rng(7)

    def close(self) -> None:
        self.store.close()

    def _row(self, key: int) -> Row:
        draw = self._draw
        cells: list[Cell] = [
            WORDS[draw.integers(len(WORDS))],
            [0.0, -1.5, float("nan"), 7.25][draw.integers(4)],
            int(draw.integers(-3, 4)),
            bool(draw.integers(2)),
            key // 40,
        ]
        return (key, *(None if draw.random() < 0.15 else cell for cell in cells))

    def write(self, kind: RowOpKind, keys: Sequence[int]) -> None:
        rows = [self._row(key) for key in keys]
        ids = [0] if kind is RowOpKind.DELETE else range(len(TYPES))
        columns = {
            self.table.schema.columns[i].id: cells_to_array([row[i] for row in rows], TYPES[i])
            for i in ids
        }
        transaction = self.store.begin()
        transaction.write(self.table, RowOperations(kind, columns, len(rows)))
        timestamp = transaction.commit(durable=False)
        assert timestamp is not None
        for row in rows:
            if kind is RowOpKind.DELETE:
                del self.rows[row[0]]
            else:
                self.rows[row[0]] = row
        self.past.append((timestamp + 1, dict(self.rows)))

    def ids(self, *places: int) -> tuple[int, ...]:
        return tuple(self.table.schema.columns[i].id for i in places)

    def read(self, transaction: Transaction, spec: ScanSpec, bound: int | None = None) -> list[Row]:
        return rows_of(transaction.table_scan(self.table, spec, bound))


def rows_of(found: pa.Table) -> list[Row]:
    cells = [
        [cell for chunk in column.chunks for cell in array_to_cells(chunk, kind)]
        for column, kind in zip(found.columns, TYPES, strict=False)
    ]
    return list(zip(*cells, strict=True))


@pytest.fixture(scope="module")
def data() -> Iterator[Data]:
    made = Data()
    made.write(RowOpKind.INSERT, range(0, ROWS, 2))
    made.store.flush()
    made.write(RowOpKind.INSERT, range(1, ROWS, 2))
    made.store.flush()
    made.write(RowOpKind.UPDATE, range(0, ROWS, 7))
    made.store.flush()
    made.write(RowOpKind.DELETE, range(0, ROWS, 11))
    made.write(RowOpKind.UPSERT, range(0, ROWS, 33))
    made.write(RowOpKind.INSERT, range(ROWS, ROWS + 30))
    made.write(RowOpKind.UPDATE, [key for key in range(5, ROWS, 35) if key in made.rows])
    yield made
    made.close()


def renamed(predicate: Predicate, ids: Mapping[int, int]) -> Predicate:
    """A predicate over columns by position as one over columns by id."""
    if isinstance(predicate, And):
        return And(tuple(renamed(part, ids) for part in predicate.parts))
    if hasattr(predicate, "parts"):
        return replace(predicate, parts=tuple(renamed(part, ids) for part in predicate.parts))
    return replace(predicate, column_id=ids[predicate.column_id])


def same(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """Equal as multisets; NaN equals itself."""
    return sorted(map(repr, left)) == sorted(map(repr, right))


@settings(max_examples=examples(60), deadline=None)
@given(predicate=predicates(TYPES), moment=st.integers(-1, 6), limit=st.integers(0, 60))
def test_every_scan_gives_the_rows_that_match(
    data: Data, predicate: Predicate, moment: int, limit: int
) -> None:
    ids = dict(enumerate(data.ids(*range(len(TYPES)))))
    bound, rows = (None, data.rows) if moment < 0 else data.past[moment]
    expected = [row for row in rows.values() if holds(predicate, row)]
    spec = ScanSpec(tuple(ids.values()), renamed(predicate, ids))
    transaction = data.store.begin()

    found = data.read(transaction, spec, bound)
    assert same([row for row in found if holds(predicate, row)], expected)
    streamed = pa.Table.from_batches(
        transaction.scan(data.table, spec, bound).batches(),
        transaction.scan(data.table, spec).batch_schema,
    )
    assert same([row for row in rows_of(streamed) if holds(predicate, row)], expected)

    exact = data.read(transaction, replace(spec, limit=len(rows) + 1), bound)
    assert same(exact, expected)
    ordered = data.read(transaction, replace(spec, order=ScanOrder.KEY), bound)
    assert repr(ordered) == repr(sorted(expected, key=lambda row: row[0]))
    first = data.read(transaction, replace(spec, order=ScanOrder.KEY, limit=limit), bound)
    assert repr(first) == repr(ordered[:limit])
    assert len(data.read(transaction, replace(spec, limit=limit), bound)) == min(limit, len(exact))


def test_columns_of_the_predicate_need_not_be_wanted(data: Data) -> None:
    spec = ScanSpec(data.ids(0), Comparison(data.ids(1)[0], Op.EQ, "zz"), limit=ROWS * 2)
    found = data.read(data.store.begin(), spec)
    assert sorted(found) == sorted((row[0],) for row in data.rows.values() if row[1] == "zz")


def test_a_transaction_scans_its_own_writes(data: Data) -> None:
    transaction = data.store.begin()
    key, word = data.ids(0, 1)
    changed = {key: pa.array([4, 5000], pa.int64()), word: pa.array(["zz", "new"])}
    transaction.write(data.table, RowOperations(RowOpKind.UPSERT, changed, 2))
    spec = ScanSpec((key, word), Comparison(word, Op.EQ, "new"), limit=10)
    assert data.read(transaction, spec) == [(5000, "new")]
    whole = ScanSpec((key,), order=ScanOrder.KEY)
    assert data.read(transaction, whole)[-1] == (5000,)
    assert transaction.summarize(data.table, [Summary(SummaryKind.COUNT)]) == (
        len(data.rows.keys() | {4, 5000}),
    )
    transaction.rollback()


class Large:
    """A flushed table of 20,000 rows with blocks of a few hundred."""

    def __init__(self) -> None:
        self.store = Store(
            MemoryEnv(), "/db", StoreOptions(durability="off", threads=2, maintenance=False)
        )
        columns = [
            ColumnSchema(0, "id", BIGINT, nullable=False),
            ColumnSchema(0, "word", DataType(Kind.STRING)),
            ColumnSchema(0, "wide", BIGINT),
        ]
        columns = [replace(column, block_size=4096) for column in columns]
        self.store.create_table("t", create_schema(columns, ["id"]), PartitionSchema())
        self.table = self.store.catalog.table("t")
        keys = np.arange(20_000)
        words = pa.array(["even", "odd"]).take(pa.array(keys % 2))
        self.write(keys, words, pa.array(keys * 7 % 20_011))
        self.store.flush()

    def write(self, keys: np.ndarray, words: pa.Array, wide: pa.Array) -> None:
        ids = [column.id for column in self.table.schema.columns]
        columns = dict(zip(ids, (pa.array(keys), words, wide), strict=True))
        transaction = self.store.begin()
        transaction.write(self.table, RowOperations(RowOpKind.UPSERT, columns, len(keys)))
        transaction.commit(durable=False)

    def scan(self, predicate: Predicate | None, **more: object) -> tuple[int, ScanStats]:
        stats = ScanStats()
        ids = tuple(column.id for column in self.table.schema.columns)
        spec = replace(ScanSpec(ids, predicate), **more)  # type: ignore[arg-type]
        found = self.store.begin().table_scan(self.table, spec, stats=stats)
        return found.num_rows, stats


@pytest.fixture
def large() -> Iterator[Large]:
    made = Large()
    yield made
    made.store.close()


def ids_of(large: Large) -> tuple[int, int, int]:
    first, second, third = (column.id for column in large.table.schema.columns)
    return first, second, third


def test_a_range_of_keys_touches_only_the_rows_that_the_key_index_points_at(large: Large) -> None:
    key, _, _ = ids_of(large)
    between = And((Comparison(key, Op.GE, 10_000), Comparison(key, Op.LT, 10_030)))
    rows, stats = large.scan(between)
    assert rows == 30
    assert stats.rows_scanned <= 512
    assert stats.blocks_read <= 6
    assert stats.blocks_skipped > 50
    assert stats.blocks_decoded == stats.blocks_read


def test_other_columns_are_decoded_only_where_rows_survive(large: Large) -> None:
    _, _, wide = ids_of(large)
    rows, stats = large.scan(Comparison(wide, Op.EQ, 5))
    assert rows == 1
    cfiles = large.store.tablets[large.table.tablets[0].id].components.tree.rowsets[0].base
    column = cfiles.cfile(wide)
    assert column is not None
    # One block of either of the other columns, and of this one those whose bounds hold a 5.
    assert 2 < stats.blocks_read <= column.block_count + 2


def test_a_word_that_no_dictionary_has_skips_the_rowset(large: Large) -> None:
    _, word, _ = ids_of(large)
    for predicate in (
        Comparison(word, Op.EQ, "fourth"),
        InList(word, ("fa", "fe")),
        StartsWith(word, "f"),
    ):
        rows, stats = large.scan(predicate)
        assert (rows, stats.rowsets, stats.rowsets_pruned, stats.blocks) == (0, 1, 1, 0)


def test_a_changed_word_is_found_though_no_dictionary_has_it(large: Large) -> None:
    word = ids_of(large)[1]
    large.write(np.array([77]), pa.array(["fourth"]), pa.array([1]))
    rows, stats = large.scan(Comparison(word, Op.EQ, "fourth"))
    assert rows == 1
    assert stats.rowsets_pruned == 0
    assert stats.deltas_applied == 1


def test_a_limit_stops_the_scan(large: Large) -> None:
    rows, stats = large.scan(None, limit=10)
    assert rows == 10
    assert stats.rows_scanned <= 1024
    rows, stats = large.scan(None, limit=10, order=ScanOrder.KEY)
    assert rows == 10
    assert stats.rows_scanned <= 1024


def test_a_predicate_that_holds_for_most_rows_leaves_the_others_in(large: Large) -> None:
    key, word, _ = ids_of(large)
    rows, _ = large.scan(Comparison(word, Op.EQ, "odd"))
    assert rows == 20_000
    rows, _ = large.scan(Comparison(word, Op.EQ, "odd"), limit=30_000)
    assert rows == 10_000
    rows, _ = large.scan(And((Comparison(word, Op.EQ, "odd"), Comparison(key, Op.LT, 100))))
    assert rows == 50


def test_counts_and_extremes_come_from_metadata_only_while_these_are_exact(large: Large) -> None:
    key, word, _ = ids_of(large)
    wanted = [
        Summary(SummaryKind.COUNT),
        Summary(SummaryKind.MIN, key),
        Summary(SummaryKind.MAX, key),
        Summary(SummaryKind.MAX, word),
    ]
    before = large.store.begin().bound
    assert large.store.begin().summarize(large.table, wanted) == (20_000, 0, 19_999, "odd")
    large.write(np.array([5]), pa.array(["other"]), pa.array([1]))
    assert large.store.begin().summarize(large.table, wanted) == (20_000, 0, 19_999, "other")
    assert large.store.begin().summarize(large.table, wanted, before) == (20_000, 0, 19_999, "odd")
    assert large.store.begin().summarize(large.table, wanted[:3]) == (20_000, 0, 19_999)
    transaction = large.store.begin()
    gone = {key: pa.array([0, 1], pa.int64())}
    transaction.write(large.table, RowOperations(RowOpKind.DELETE, gone, 2))
    transaction.commit(durable=False)
    assert large.store.begin().summarize(large.table, wanted[:1]) == (19_998,)
    assert large.store.begin().summarize(large.table, wanted[:2]) is None


def test_a_stream_may_be_left_in_the_middle(large: Large) -> None:
    spec = ScanSpec(ids_of(large), IsNull(ids_of(large)[1]))
    batches = large.store.begin().scan(large.table, spec).batches()
    assert next(batches, None) is None
    batches = large.store.begin().scan(large.table, ScanSpec(ids_of(large))).batches()
    assert next(batches).num_rows > 0
    batches.close()  # type: ignore[attr-defined]
