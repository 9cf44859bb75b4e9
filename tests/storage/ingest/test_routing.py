"""Rows to their tablets, and which of several rows with one key counts."""

import pyarrow as pa
import pytest

from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import AlreadyPresentError
from pykudu_sql.storage.ingest.routing import RoutedRows, deduplicate, route, split
from pykudu_sql.storage.ingest.row_batch import complete
from pykudu_sql.storage.ingest.table import tablet_of_key
from pykudu_sql.storage.ingest.validation import raise_first

ID, VALUE = 0, 1
SCHEMA = create_schema(
    [ColumnSchema(0, "id", DataType(Kind.INT64)), ColumnSchema(0, "v", DataType(Kind.INT64))],
    ["id"],
)
HASHED = new_table("t", SCHEMA, PartitionSchema((HashDimension((ID,), 3, 0),), (), ()), "", {})


def routed(kind: RowOpKind, keys: list[int]) -> RoutedRows:
    """Rows whose values are their places."""
    columns = {ID: pa.array(keys, pa.int64())}
    if kind not in (RowOpKind.DELETE, RowOpKind.DELETE_IGNORE):
        columns[VALUE] = pa.array(range(len(keys)), pa.int64())
    return route(complete(HASHED, RowOperations(kind, columns, len(keys))), raise_first)


def test_each_row_goes_to_the_tablet_of_its_key() -> None:
    rows = routed(RowOpKind.INSERT, list(range(200)))
    encode = HASHED.key_encoder.encode_one
    wanted = [tablet_of_key(HASHED, (key,), encode((key,))) for key in range(200)]
    assert rows.tablets.tolist() == wanted
    parts = list(split(rows))
    assert [part.tablet for part in parts] == [0, 1, 2]
    for part in parts:
        assert part.batch.operations.columns[ID].to_pylist() == part.indices.tolist()
        assert len(part.batch.keys) == part.batch.operations.length == len(part.indices)
    assert sorted(index for part in parts for index in part.indices.tolist()) == list(range(200))


@pytest.mark.parametrize(
    ("kind", "positions"),
    [
        (RowOpKind.UPSERT, [2, 3, 4]),
        (RowOpKind.UPDATE, [2, 3, 4]),
        (RowOpKind.INSERT_IGNORE, [0, 1, 2]),
        (RowOpKind.DELETE, [0, 1, 2]),
    ],
)
def test_of_rows_with_one_key_the_first_or_the_last_counts(
    kind: RowOpKind, positions: list[int]
) -> None:
    rows = deduplicate(HASHED, routed(kind, [7, 8, 9, 7, 8]))
    assert rows.positions.tolist() == positions
    assert len(rows.keys) == len(rows.tablets) == rows.operations.length == 3


def test_an_insert_that_names_a_key_twice_is_refused_by_it() -> None:
    with pytest.raises(AlreadyPresentError, match=r"key given twice .*\(id\) = \(8\)"):
        deduplicate(HASHED, routed(RowOpKind.INSERT, [7, 8, 9, 8]))


def test_distinct_keys_stay_the_rows_that_they_are() -> None:
    rows = routed(RowOpKind.INSERT, [3, 1, 2])
    assert deduplicate(HASHED, rows) is rows


def table_without_partitions() -> TableInfo:
    return new_table("u", SCHEMA, PartitionSchema((), (), ()), "", {})


def test_the_only_tablet_takes_the_rows_without_a_copy() -> None:
    table = table_without_partitions()
    operations = RowOperations(RowOpKind.DELETE, {ID: pa.array([1, 2])}, 2)
    rows = route(complete(table, operations), raise_first)
    (part,) = split(rows)
    assert part.batch.operations is rows.operations
