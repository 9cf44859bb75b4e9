"""A scan of more than the block cache holds leaves the cache to others."""

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions

ROWS = 10_000
BYTES = 16 * ROWS


@pytest.mark.parametrize(("capacity", "times"), [(2 * BYTES, 1), (BYTES // 2, 2)])
def test_a_scan_is_cached_where_all_of_it_fits(capacity: int, times: int) -> None:
    options = StoreOptions(threads=1, maintenance=False, block_cache_bytes=capacity)
    store = Store(MemoryEnv(), "/db", options)
    columns = [ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("key", "value")]
    store.create_table("t", create_schema(columns, ["key"]), PartitionSchema())
    table = store.catalog.table("t")
    numbers = pa.array(np.arange(ROWS))
    transaction = store.begin()
    transaction.write(table, RowOperations(RowOpKind.INSERT, {0: numbers, 1: numbers}, ROWS))
    transaction.commit(durable=False)
    store.flush()
    store.cache.clear()
    decoded = []
    for _ in range(2):
        stats = ScanStats()
        scan = store.begin().scan(table, ScanSpec((0, 1)), stats=stats)
        assert scan.to_table().num_rows == ROWS
        decoded.append(stats.blocks_decoded)
    assert decoded == ([2, 0] if times == 1 else [2, 2])
    assert store.cache.entries == (2 if times == 1 else 0)
    store.close()
