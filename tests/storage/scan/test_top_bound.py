"""A bound that the first rows by a column reach: from zone maps, and from the column alone."""

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.cfile.key_index import INTERVAL
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op, Predicate
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.scan.bounded_rows import with_ranges
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.scan.top_bound import bound_of_blocks, bound_of_column
from pykudu_sql.storage.store import Store, StoreOptions

ROWS = 60_000
KEY, SCATTERED, WORD = 0, 1, 2
NUMBERS = np.random.default_rng(7).permutation(ROWS)


@pytest.fixture(scope="module")
def store() -> Store:
    """Keys in their order, a permutation of them, NULL every fifth row, and texts that ascend."""
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=2, maintenance=False))
    columns = [
        ColumnSchema(0, "key", DataType(Kind.INT64), block_size=4096),
        ColumnSchema(0, "scattered", DataType(Kind.INT64), nullable=True, block_size=4096),
        ColumnSchema(0, "word", DataType(Kind.STRING), block_size=4096),
    ]
    made.create_table("t", create_schema(columns, ["key"]), PartitionSchema(()))
    table, transaction = made.catalog.table("t"), made.begin()
    arrays = {
        KEY: pa.array(np.arange(ROWS)),
        SCATTERED: pa.array(NUMBERS, mask=np.arange(ROWS) % 5 == 0),
        WORD: pa.array([f"word {number:06d}" for number in range(ROWS)]),
    }
    transaction.write(table, RowOperations(RowOpKind.INSERT, arrays, ROWS))
    transaction.commit(durable=False)
    made.flush()
    return made


def scan_of(store: Store, predicate: Predicate | None = None) -> TableScan:
    spec = ScanSpec((KEY, SCATTERED, WORD), predicate)
    return with_ranges(store.begin().scan(store.catalog.table("t"), spec))


@pytest.mark.parametrize(("descending", "reach"), [(True, range(ROWS)), (False, range(ROWS))])
@pytest.mark.parametrize("rows", [1, 100, 20_000])
def test_enough_rows_and_not_many_more_reach_the_bound_of_metadata(
    store: Store, descending: bool, reach: range, rows: int
) -> None:
    scan = scan_of(store)
    for column in (scan.schema.by_id[KEY], scan.schema.by_id[WORD]):
        bound = bound_of_blocks(scan, column, rows, descending=descending)
        assert bound is not None
        cells = reach if column.id == KEY else [f"word {number:06d}" for number in reach]
        reached = sum(c >= bound.cell if descending else c <= bound.cell for c in cells)
        assert rows <= reached <= rows + (INTERVAL if column.id == KEY else ROWS // 8)
        assert bound.rows >= reached - 1


def test_only_rows_in_the_ranges_of_the_scan_are_counted(store: Store) -> None:
    scan = scan_of(store, Comparison(KEY, Op.LT, 30_001))
    bound = bound_of_blocks(scan, scan.schema.by_id[KEY], 10, descending=True)
    assert bound is not None
    assert isinstance(bound.cell, int)
    assert 30_001 - 10 - INTERVAL <= bound.cell <= 30_001 - 10
    after = scan_of(store, Comparison(KEY, Op.GT, 29_000))
    bound = bound_of_blocks(after, scan.schema.by_id[KEY], 300, descending=False)
    assert bound is not None
    assert isinstance(bound.cell, int)
    assert 29_300 <= bound.cell <= 29_300 + 2 * INTERVAL
    none = scan_of(store, Comparison(KEY, Op.LT, 0))
    assert bound_of_blocks(none, scan.schema.by_id[KEY], 1, descending=True) is None


def test_zone_maps_of_too_few_rows_give_no_bound(store: Store) -> None:
    scan = scan_of(store)
    scattered = scan.schema.by_id[SCATTERED]
    assert bound_of_blocks(scan, scattered, ROWS * 4 // 5 + 1, descending=True) is None
    bound = bound_of_blocks(scan, scattered, 10, descending=True)
    assert bound is not None
    assert bound.rows == ROWS * 4 // 5  # cells in no order: no block can be left out


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("rows", [1, 10, 3000])
def test_the_bound_of_a_column_is_the_last_cell_that_is_needed(
    store: Store, descending: bool, rows: int
) -> None:
    scan = scan_of(store)
    cells = sorted(NUMBERS[np.arange(ROWS) % 5 != 0].tolist(), reverse=descending)
    column = scan.schema.by_id[SCATTERED]
    assert bound_of_column(scan, column, rows, descending=descending) == cells[rows - 1]
    assert bound_of_column(scan, column, ROWS, descending=descending) is None
