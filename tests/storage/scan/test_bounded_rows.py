"""Whether the rows of a scan are held is judged by those that match."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op, Predicate
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.scan.bounded_rows import (
    Sample,
    exceeds,
    matching_within,
    read_within,
    rows_to_read,
    sampled,
    with_ranges,
)
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet

ROWS = 200_000
ROW_BYTES = 24
KEY, SCATTERED, RISING = 0, 1, 2
ONE_IN_A_HUNDRED = Comparison(SCATTERED, Op.EQ, 7)
ALL = Comparison(SCATTERED, Op.GE, 0)
# Those that are read first match, and no others.
NONE_BUT_THE_FIRST = Comparison(RISING, Op.LT, ROWS // 50)


def write(store: Store, kind: RowOpKind, keys: np.ndarray, **columns: np.ndarray) -> None:
    table = store.catalog.table("t")
    cells = {KEY: keys} | {table.schema.by_name[name].id: v for name, v in columns.items()}
    arrays = {column_id: pa.array(values) for column_id, values in cells.items()}
    transaction = store.begin()
    transaction.write(table, RowOperations(kind, arrays, len(keys)))
    transaction.commit(durable=False)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=2, maintenance=False))
    columns = [
        ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("key", "scattered", "rising")
    ]
    made.create_table(
        "t", create_schema(columns, ["key"]), PartitionSchema((HashDimension((KEY,), 2),))
    )
    keys = np.arange(ROWS)
    write(made, RowOpKind.INSERT, keys, scattered=keys % 100, rising=keys)
    made.flush()
    yield made
    made.close()


def scan_of(store: Store, predicate: Predicate | None, stats: ScanStats | None = None) -> TableScan:
    spec = ScanSpec((KEY, SCATTERED, RISING), predicate)
    return store.begin().scan(store.catalog.table("t"), spec, stats=stats)


def test_a_selective_scan_of_a_large_table_is_held(store: Store) -> None:
    scan = scan_of(store, ONE_IN_A_HUNDRED)
    assert exceeds(scan, ROWS * ROW_BYTES // 10)
    rows = read_within(scan, ROWS * ROW_BYTES // 10)
    assert rows is not None
    assert sorted(rows.column("key").to_pylist()) == list(range(7, ROWS, 100))


@pytest.mark.parametrize("predicate", [None, ALL], ids=["no predicate", "one that all rows meet"])
def test_rows_that_take_more_are_not_held_and_hardly_read(
    store: Store, predicate: Predicate | None
) -> None:
    stats = ScanStats()
    assert read_within(scan_of(store, predicate, stats), ROWS * ROW_BYTES // 10) is None
    assert stats.rows_scanned == 0


def test_blocks_that_zone_maps_leave_out_do_not_count(store: Store) -> None:
    scan = scan_of(store, NONE_BUT_THE_FIRST)
    assert rows_to_read(scan) < ROWS // 2
    rows = read_within(scan, ROWS * ROW_BYTES // 2)
    assert rows is not None
    assert set(range(ROWS // 50)) <= set(rows.column("key").to_pylist())


def test_a_sample_that_misleads_costs_no_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pykudu_sql.storage.scan.bounded_rows.sampled", lambda *_: Sample(1, 0, 0))
    assert read_within(scan_of(store, ALL), ROWS * ROW_BYTES // 10) is None


def test_exactly_the_rows_that_match_are_held_within_the_bytes(store: Store) -> None:
    blocks = matching_within(scan_of(store, ONE_IN_A_HUNDRED), ROWS * ROW_BYTES // 10)
    assert blocks is not None
    assert sum(block.length for block in blocks) == ROWS // 100
    assert matching_within(scan_of(store, ALL), ROWS * ROW_BYTES // 10) is None


def test_a_sample_tells_what_share_of_the_rows_matches(store: Store) -> None:
    scan = with_ranges(scan_of(store, ONE_IN_A_HUNDRED))
    row_filter = scan.row_filter()
    assert row_filter is not None
    sample = sampled(scan, row_filter, 1000)
    assert sample.rows >= 1000
    assert 0.005 < sample.share < 0.02
    assert 0 < sample.bytes_per_row < ROW_BYTES


def test_what_a_held_scan_read_is_counted(store: Store) -> None:
    stats = ScanStats()
    assert read_within(scan_of(store, ONE_IN_A_HUNDRED, stats), ROWS * ROW_BYTES // 10) is not None
    assert (stats.rows_scanned, stats.rows_returned) == (ROWS, ROWS // 100)


def test_deleted_rows_are_no_rows_to_read() -> None:
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=1, maintenance=False))
    made.create_table(
        "t",
        create_schema([ColumnSchema(0, "key", DataType(Kind.INT64))], ["key"]),
        PartitionSchema(),
    )
    write(made, RowOpKind.INSERT, np.arange(1000))
    made.flush()
    write(made, RowOpKind.INSERT, np.arange(1000, 1100))
    write(made, RowOpKind.DELETE, np.arange(900, 1050))
    scan = made.begin().scan(made.catalog.table("t"), ScanSpec((KEY,)))
    assert rows_to_read(scan) == 950
    made.close()


def test_a_limit_of_no_rows_takes_nothing(store: Store) -> None:
    scan = scan_of(store, None)
    assert not exceeds(replace(scan, spec=replace(scan.spec, limit=0)), 1)
    assert exceeds(replace(scan, spec=replace(scan.spec, limit=1)), 1)


def test_what_metadata_leave_of_rowsets_is_asked_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[DiskRowSet] = []
    ranges_to_read = DiskRowSet.ranges_to_read

    def noted(rowset: DiskRowSet, *arguments: Any) -> list[tuple[int, int]]:
        asked.append(rowset)
        return ranges_to_read(rowset, *arguments)

    monkeypatch.setattr(DiskRowSet, "ranges_to_read", noted)
    scan = with_ranges(scan_of(store, ONE_IN_A_HUNDRED))
    rowsets = sum(isinstance(read.rowset, DiskRowSet) for read in scan.reads)
    assert rows_to_read(scan) > 0
    assert read_within(scan, ROWS * ROW_BYTES // 10) is not None
    assert len(asked) == rowsets > 0
    assert all(read.most_rows(None, scan.bound) <= read.rows for read in scan.reads)
