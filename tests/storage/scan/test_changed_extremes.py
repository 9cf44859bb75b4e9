"""MIN and MAX of a changed column read few of its blocks, and are those of its cells."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import Summary, SummaryKind
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.scan import changed_extremes
from pykudu_sql.storage.store import Store, StoreOptions

KEY, NUMBER, NOTE, SCORE = range(4)
COLUMNS = (
    ColumnSchema(0, "key", DataType(Kind.INT64), nullable=False, block_size=1024),
    ColumnSchema(0, "number", DataType(Kind.INT32), block_size=1024),
    ColumnSchema(0, "note", DataType(Kind.STRING), block_size=1024),
    ColumnSchema(0, "score", DataType(Kind.DOUBLE)),
)
ROWS = 4000


def write(store: Store, kind: RowOpKind, keys: list[int], numbers: list[int | None]) -> None:
    columns: dict[int, pa.Array] = {KEY: pa.array(keys, pa.int64())}
    if kind is not RowOpKind.DELETE:
        columns[NUMBER] = pa.array(numbers, pa.int32())
        notes = [None if n is None else f"a note of {n:09d}" for n in numbers]
        columns[NOTE] = pa.array(notes, pa.string())
        columns[SCORE] = pa.array(numbers, pa.float64())
    transaction = store.begin()
    transaction.write(store.catalog.table("t"), RowOperations(kind, columns, len(keys)))
    transaction.commit(durable=False)


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=1, maintenance=False, durability="off"))
    made.create_table("t", create_schema(COLUMNS, ["key"]), PartitionSchema())
    shuffled = np.random.default_rng(5).permutation(ROWS).tolist()
    write(made, RowOpKind.INSERT, list(range(ROWS)), shuffled)
    made.flush()
    yield made
    made.close()


def extremes(store: Store, column_id: int = NUMBER) -> tuple[Cell, ...] | None:
    ends = [Summary(SummaryKind.MIN, column_id), Summary(SummaryKind.MAX, column_id)]
    return store.begin().summarize(store.catalog.table("t"), ends)


def key_of(number: int) -> int:
    return int(np.random.default_rng(5).permutation(ROWS).tolist().index(number))


def test_changed_cells_within_the_bounds_leave_them(store: Store) -> None:
    write(store, RowOpKind.UPDATE, [key_of(n) for n in (5, 6, 7)], [100, None, 200])
    assert extremes(store) == (0, ROWS - 1)
    assert extremes(store, NOTE) == (f"a note of {0:09d}", f"a note of {ROWS - 1:09d}")


def test_cells_beyond_the_bounds_are_the_ends(store: Store) -> None:
    write(store, RowOpKind.UPDATE, [5, 6], [-7, 9999])
    assert extremes(store) == (-7, 9999)
    write(store, RowOpKind.UPDATE, [5, 6], [1, 2])
    assert extremes(store) == (0, ROWS - 1)


def test_an_end_that_was_changed_gives_way_to_the_next(store: Store) -> None:
    write(store, RowOpKind.UPDATE, [key_of(0), key_of(ROWS - 1)], [9, None])
    assert extremes(store) == (1, ROWS - 2)
    store.flush()
    assert extremes(store) == (1, ROWS - 2)


def test_many_blocks_whose_ends_were_changed_are_left_to_a_scan(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, RowOpKind.UPDATE, [key_of(ROWS - 1)], [9])
    monkeypatch.setattr(changed_extremes, "_MOST_BLOCKS", 0)
    assert extremes(store) is None


def test_a_column_of_nothing_but_nulls_has_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, RowOpKind.UPDATE, list(range(ROWS)), [None] * ROWS)
    assert extremes(store) is None
    monkeypatch.setattr(changed_extremes, "_MOST_BLOCKS", ROWS)
    assert extremes(store) == (None, None)


def test_floats_and_deleted_rows_are_left_to_a_scan(store: Store) -> None:
    write(store, RowOpKind.UPDATE, [5], [7])
    assert extremes(store, SCORE) is None
    write(store, RowOpKind.DELETE, [6], [])
    assert extremes(store) is None
