"""Whether a scan is small is known from metadata and keys, in memory and on disk."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op, Predicate
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.scan.small_scan import is_small
from pykudu_sql.storage.store import Store, StoreOptions

ROWS = 40_000
KEY, VALUE = 0, 1
PLENTY = 1 << 40


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Two tablets, each with half of its rows on disk and half in memory."""
    made = Store(MemoryEnv(), "/db", StoreOptions(threads=2, maintenance=False))
    columns = [ColumnSchema(0, name, DataType(Kind.INT64)) for name in ("key", "value")]
    schema = create_schema(columns, ["key"])
    made.create_table("t", schema, PartitionSchema((HashDimension((KEY,), 2),)))
    for keys in (np.arange(0, ROWS, 2), np.arange(1, ROWS, 2)):
        arrays = {KEY: pa.array(keys), VALUE: pa.array(keys)}
        transaction = made.begin()
        operations = RowOperations(RowOpKind.INSERT, arrays, len(keys))
        transaction.write(made.catalog.table("t"), operations)
        transaction.commit(durable=False)
        if not keys[0]:
            made.flush()
    yield made
    made.close()


def small(
    store: Store,
    predicate: Predicate | None,
    rows: int,
    size: int = PLENTY,
    limit: int | None = None,
) -> bool:
    scan = store.begin().scan(store.catalog.table("t"), ScanSpec((KEY, VALUE), predicate, limit))
    return is_small(scan, scan.row_filter(), rows, size)


def test_all_rows_count_where_nothing_narrows_them(store: Store) -> None:
    assert small(store, None, ROWS) and not small(store, None, ROWS - 1)
    anywhere = Comparison(VALUE, Op.GE, 0)
    assert small(store, anywhere, ROWS) and not small(store, anywhere, ROWS - 1)


def test_a_range_of_keys_counts_its_rows(store: Store) -> None:
    newest = Comparison(KEY, Op.GE, ROWS - 100)
    assert small(store, newest, 5_000)  # in memory 50, and on disk the last blocks
    assert not small(store, newest, 10)
    assert small(store, Comparison(KEY, Op.GE, ROWS), 0)


def test_a_limit_is_as_many_rows_as_are_wanted(store: Store) -> None:
    assert small(store, None, 10, limit=10)
    assert not small(store, None, 9, limit=10)


def test_rows_that_take_more_bytes_are_not_few(store: Store) -> None:
    assert small(store, None, ROWS, 16 * ROWS)
    assert not small(store, None, ROWS, 16 * ROWS - 1)
