"""What rows take in memory is known from footers, however well their texts are packed."""

from dataclasses import replace

import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.scan.bounded_rows import exceeds, read_within
from pykudu_sql.storage.scan.decoded_size import decoded_bytes
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.store import Store, StoreOptions

ROWS, WIDTH = 100, 40_000


def store_of(*texts: list[str]) -> Store:
    """A table whose one text column was set to each list in turn, and flushed behind each."""
    store = Store(MemoryEnv(), "/db", StoreOptions(threads=2, maintenance=False))
    columns = [
        ColumnSchema(0, "k", DataType(Kind.INT64)),
        ColumnSchema(1, "a", DataType(Kind.STRING)),
    ]
    store.create_table("t", create_schema(columns, ["k"]), PartitionSchema(()))
    for values in texts:
        write(store, values)
        store.flush()
    return store


def write(store: Store, values: list[str]) -> None:
    table, transaction = store.catalog.table("t"), store.begin()
    cells = {
        table.schema.by_name["k"].id: pa.array(range(ROWS), pa.int64()),
        table.schema.by_name["a"].id: pa.array(values),
    }
    transaction.write(table, RowOperations(RowOpKind.UPSERT, cells, ROWS))
    transaction.commit(durable=False)


def scan_of(store: Store) -> TableScan:
    return store.begin().scan(store.catalog.table("t"), ScanSpec((1,)))


LARGE = [f"{n:04d}" + "xy" * (WIDTH // 2) for n in range(ROWS)]
SMALL = ["word"] * ROWS


@pytest.mark.parametrize("place", ["memory", "base file", "delta file"])
def test_texts_that_are_packed_well_are_judged_by_what_they_take(place: str) -> None:
    store = store_of(*{"memory": (), "base file": (LARGE,), "delta file": (SMALL, LARGE)}[place])
    if place == "memory":
        write(store, LARGE)
    scan = scan_of(store)
    size = decoded_bytes(scan.reads[0].rowset, scan.columns, scan.bound)
    assert ROWS * WIDTH <= size < 2 * ROWS * WIDTH
    assert exceeds(scan, 2 << 20) and read_within(scan, 2 << 20) is None
    assert not exceeds(scan, 16 << 20)
    store.close()


@pytest.mark.parametrize("changed", [False, True])
def test_a_stretch_has_no_more_rows_than_a_piece_takes(changed: bool) -> None:
    store = store_of(*((SMALL, LARGE) if changed else (LARGE,)))
    scan = replace(scan_of(store), piece_bytes=10 * (WIDTH + 100))
    batches = list(scan.batches())
    assert max(batch.num_rows for batch in batches) <= 10
    read = [text for batch in batches for text in batch.column(0).to_pylist()]
    assert sorted(read) == LARGE
    store.close()


def test_the_size_of_a_rowset_follows_changes_after_it_was_asked() -> None:
    store = store_of(SMALL)
    assert decoded(store) < ROWS * WIDTH
    write(store, LARGE)
    in_memory = decoded(store)
    store.flush()
    assert min(in_memory, decoded(store)) >= ROWS * WIDTH


def decoded(store: Store) -> int:
    scan = scan_of(store)
    return decoded_bytes(scan.reads[0].rowset, scan.columns, scan.bound)


def test_rows_to_scan_are_those_of_the_scan() -> None:
    store = store_of(SMALL)
    write(store, LARGE)
    table, transaction = store.catalog.table("t"), store.begin()
    assert transaction.rows_to_scan(table, ScanSpec((1,))) == ROWS
    assert transaction.rows_to_scan(table, ScanSpec((1,))) == scan_of(store).row_count
