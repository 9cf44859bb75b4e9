"""Partition keys are Kudu's, and the spans of a table's tablets lie side by side."""

from itertools import pairwise

import pytest

from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.partition.partition_key import partition_key_span
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind

SCHEMA = create_schema(
    [ColumnSchema(0, "a", DataType(Kind.INT32)), ColumnSchema(0, "b", DataType(Kind.STRING))],
    ["a", "b"],
)
A, B = (column.id for column in SCHEMA.columns)


def spans(scheme: PartitionSchema) -> list[tuple[str, str]]:
    pairs = (partition_key_span(SCHEMA, scheme, p) for p in scheme.partitions())
    return [(start.hex(), stop.hex()) for start, stop in pairs]


def test_a_table_without_partitions_is_open_at_both_ends() -> None:
    assert spans(PartitionSchema()) == [("", "")]


def test_buckets_are_four_bytes_each() -> None:
    assert spans(PartitionSchema((HashDimension((A,), 3),))) == [
        ("", "00000001"),
        ("00000001", "00000002"),
        ("00000002", ""),
    ]


def test_ranges_follow_the_buckets() -> None:
    scheme = PartitionSchema((HashDimension((B,), 2),), (A,), (RangePartition((1,), (11,)),))
    assert spans(scheme) == [
        ("0000000080000001", "000000008000000b"),
        ("0000000180000001", "000000018000000b"),
    ]


@pytest.mark.parametrize("buckets", [(2,), (2, 3), (3, 2)])
def test_spans_of_hash_dimensions_follow_each_other_without_gaps(buckets: tuple[int, ...]) -> None:
    columns = ((A,), (B,))
    dimensions = tuple(map(HashDimension, columns, buckets))
    found = spans(PartitionSchema(dimensions))
    assert found[0][0] == found[-1][1] == ""
    assert all(left[1] == right[0] for left, right in pairwise(found))
