"""Partition schemas: rules, assignment and words."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.keys.murmur import murmur64a_one
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    Partition,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.partition.partition_assigner import PartitionAssigner
from pykudu_sql.storage.common.partition.partition_text import partition_by_sql, partition_text
from pykudu_sql.storage.common.partition.range_bound import (
    exclusive_upper,
    inclusive_lower,
    increment,
    range_text,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind, decimal_type
from pykudu_sql.storage.errors import (
    DuplicateObjectError,
    InvalidSchemaError,
    UncoveredRangeError,
)
from tests.storage.common.partitionings import partitionings
from tests.storage.common.strategies import cells, column_list, key_schema, rows_of, to_columns

INT8 = DataType(Kind.INT8)
INT64 = DataType(Kind.INT64)
STRING = DataType(Kind.STRING)


@given(partitionings(), st.data())
def test_rows_of_a_batch_go_where_each_row_goes(
    case: tuple[list[DataType], PartitionSchema], data: st.DataObject
) -> None:
    types, partition_schema = case
    schema = key_schema(types)
    rows = data.draw(rows_of(tuple(types)))
    assigner = PartitionAssigner(schema, partition_schema)
    partitions = partition_schema.partitions()
    expected: list[int] = []
    covered: list[tuple[Cell, ...]] = []
    for row in rows:
        try:
            expected.append(assigner.assign_one(dict(enumerate(row))))
            covered.append(row)
        except UncoveredRangeError:
            with pytest.raises(UncoveredRangeError):
                assigner.assign(to_columns(types, [row]))
    for index, row in zip(expected, covered, strict=True):
        assert _belongs(types, partition_schema, partitions[index], row)
        encoded = KeyEncoder(schema.key_columns).encode_one(row)
        assert assigner.assign_key(row, encoded) == index
    for as_dictionary in (False, True):
        columns = to_columns(types, covered, as_dictionary=as_dictionary)
        found = assigner.assign(columns)
        assert found.dtype == np.int32
        assert found.tolist() == expected


def _belongs(
    types: list[DataType],
    partition_schema: PartitionSchema,
    partition: Partition,
    row: tuple[Cell, ...],
) -> bool:
    key = tuple(row[i] for i in partition_schema.range_column_ids)
    span = partition.range
    inside = (span.lower is None or span.lower <= key) and (span.upper is None or key < span.upper)
    columns = column_list(types)
    for dimension, bucket in zip(
        partition_schema.hash_dimensions_of(span), partition.buckets, strict=True
    ):
        encoder = KeyEncoder([columns[i] for i in dimension.column_ids])
        encoded = encoder.encode_one([row[i] for i in dimension.column_ids])
        inside &= murmur64a_one(encoded, dimension.seed) % dimension.buckets == bucket
    return inside


@given(partitionings())
def test_partition_schemas_survive_json(case: tuple[list[DataType], PartitionSchema]) -> None:
    _, partition_schema = case
    assert PartitionSchema.from_json(partition_schema.to_json()) == partition_schema
    for partition in partition_schema.partitions():
        assert Partition.from_json(partition.to_json()) == partition


@given(partitionings())
def test_partitions_are_distinct_and_counted(
    case: tuple[list[DataType], PartitionSchema],
) -> None:
    _, partition_schema = case
    partitions = partition_schema.partitions()
    assert len(set(partitions)) == len(partitions) == partition_schema.offsets[-1]


def test_a_table_without_partitioning_is_one_partition() -> None:
    schema = key_schema([INT64])
    assert PartitionSchema().partitions() == (Partition(RangePartition(), ()),)
    assigner = PartitionAssigner(schema, PartitionSchema())
    assert assigner.assign({0: pa.array([1, 2])}).tolist() == [0, 0]
    assert assigner.assign_one({0: 5}) == 0


def test_a_row_outside_all_ranges_names_its_key() -> None:
    schema = key_schema([INT64, STRING])
    ranges = (RangePartition((0, "a"), (10, "z")),)
    assigner = PartitionAssigner(schema, PartitionSchema((), (0, 1), ranges))
    message = r"no range partition covers \(c0, c1\) = \(10, 'zz'\)"
    with pytest.raises(UncoveredRangeError, match=message) as raised:
        assigner.assign_one({0: 10, 1: "zz"})
    assert raised.value.sqlstate == "23514"
    with pytest.raises(UncoveredRangeError, match=message):
        assigner.assign({0: pa.array([1, 10]), 1: pa.array(["a", "zz"])})


def test_a_table_whose_ranges_are_all_dropped_covers_nothing() -> None:
    schema = key_schema([INT64])
    empty = PartitionSchema((), (0,), (RangePartition((0,), (5,)),)).drop_range(
        schema, RangePartition((0,), (5,))
    )
    assert empty.partitions() == ()
    assigner = PartitionAssigner(schema, empty)
    assert assigner.assign({0: pa.array([], pa.int64())}).tolist() == []
    with pytest.raises(UncoveredRangeError):
        assigner.assign_one({0: 1})
    with pytest.raises(UncoveredRangeError):
        assigner.assign({0: pa.array([1])})


TWO = HashDimension((0,), 2)
OTHER = HashDimension((1,), 2)


@pytest.mark.parametrize(
    ("partition_schema", "message"),
    [
        (PartitionSchema((HashDimension((0,), 1),)), "at least 2"),
        (PartitionSchema((HashDimension((), 2),)), "at least one column"),
        (PartitionSchema((HashDimension((2,), 2),)), "'v' is not part of the primary key"),
        (PartitionSchema((TWO, HashDimension((0, 1), 3))), "is in two hash dimensions"),
        (PartitionSchema((HashDimension((1, 0), 2),)), "in the table's order"),
        (PartitionSchema((), (2,)), "'v' is not part of the primary key"),
        (PartitionSchema((), (0, 0)), "named twice"),
        (PartitionSchema((), (), (RangePartition((1,), None),)), "need range columns"),
        (PartitionSchema((), (0,), (RangePartition((1, "a"), None),)), "2 values for 1 column"),
        (PartitionSchema((), (0,), (RangePartition((None,), None),)), "'c0' is NULL"),
        (PartitionSchema((), (0,), (RangePartition(("a",), None),)), "does not fit column 'c0'"),
        (PartitionSchema((), (0,), (RangePartition((1 << 63,), None),)), "does not fit"),
        (PartitionSchema((), (0,), (RangePartition((5,), (5,)),)), "less than the upper bound"),
        (
            PartitionSchema((), (0,), (RangePartition((0,), (10,)), RangePartition((9,), (20,)))),
            "new range partition conflicts with existing one: 9 <= VALUES < 20 overlaps "
            "0 <= VALUES < 10",
        ),
        (
            PartitionSchema((), (0,), (RangePartition(None, None), RangePartition((9,), (20,)))),
            "conflicts",
        ),
        (
            PartitionSchema((TWO,), (0,), (RangePartition((0,), (1,), (TWO, OTHER)),)),
            "has 2 hash dimensions where the table has 1",
        ),
        (
            PartitionSchema((TWO,), (0,), (RangePartition((0,), (1,), (HashDimension((0,), 1),)),)),
            "at least 2",
        ),
    ],
)
def test_a_broken_rule_is_refused(partition_schema: PartitionSchema, message: str) -> None:
    columns = [*column_list([INT64, STRING]), ColumnSchema(2, "v", INT64)]
    with pytest.raises(InvalidSchemaError, match=message):
        partition_schema.validate(create_schema(columns, ["c0", "c1"]))


def test_ranges_are_added_and_dropped_by_their_bounds() -> None:
    schema = key_schema([INT64])
    first, second, third = (RangePartition((n,), (n + 10,)) for n in (0, 10, 20))
    start = PartitionSchema((), (0,), (first, third))
    grown = start.add_range(schema, second)
    assert grown.ranges == (first, second, third)
    assert start.ranges == (first, third)
    assert grown.drop_range(schema, first).ranges == (second, third)
    with pytest.raises(DuplicateObjectError, match="10 <= VALUES < 20 already exists"):
        grown.add_range(schema, second)
    with pytest.raises(InvalidSchemaError, match="conflicts with existing one"):
        start.add_range(schema, RangePartition((5,), (15,)))
    with pytest.raises(InvalidSchemaError, match="no range partition 10 <= VALUES < 20 to drop"):
        start.drop_range(schema, second)


@given(st.sampled_from((INT8, STRING, decimal_type(3, 1))), st.data())
def test_increment_is_the_next_tuple(kind: DataType, data: st.DataObject) -> None:
    columns = column_list([INT8, kind])
    row, other = (data.draw(st.tuples(cells(INT8), cells(kind))) for _ in range(2))
    following = increment(columns, row)
    assert following is None or row < following
    assert not (row < other and (following is None or other < following))


def test_bounds_of_any_inclusiveness_become_inclusive_lower_and_exclusive_upper() -> None:
    columns = column_list([INT8, INT8])
    assert inclusive_lower(columns, (1, 127)) == (2, -128)
    assert exclusive_upper(columns, (1, 5)) == (1, 6)
    assert exclusive_upper(columns, (127, 127)) is None
    with pytest.raises(InvalidSchemaError, match="must not have the maximum value"):
        inclusive_lower(columns, (127, 127))
    assert inclusive_lower(column_list([STRING]), ("a",)) == ("a\0",)
    assert exclusive_upper(column_list([DataType(Kind.BINARY)]), (b"\xff",)) == (b"\xff\0",)


DAY = DataType(Kind.DATE)
TIME = DataType(Kind.UNIXTIME_MICROS)


@pytest.mark.parametrize(
    ("types", "lower", "upper", "text"),
    [
        ([INT64], None, None, "UNBOUNDED"),
        ([INT64], (10,), (20,), "10 <= VALUES < 20"),
        ([INT64], None, (20,), "VALUES < 20"),
        ([INT64], (10,), None, "10 <= VALUES"),
        ([INT64], (10,), (11,), "VALUE = 10"),
        ([INT64, STRING], (1, "a"), (1, "a\0"), "VALUE = (1, 'a')"),
        ([STRING], ("it's",), None, "'it''s' <= VALUES"),
        ([STRING], ("a\0",), ("b\0",), "'a' < VALUES <= 'b'"),
        ([DataType(Kind.BINARY)], (b"\x01\xff",), None, "X'01FF' <= VALUES"),
        ([DAY], (0,), (31,), "'1970-01-01' <= VALUES < '1970-02-01'"),
        ([TIME], (1,), None, "'1970-01-01 00:00:00.000001' <= VALUES"),
        ([TIME], (-(1 << 63),), None, "-9223372036854775808 <= VALUES"),
        ([decimal_type(38, 10)], (1,), None, "0.0000000001 <= VALUES"),
    ],
)
def test_bounds_read_as_sql(
    types: list[DataType],
    lower: tuple[Cell, ...] | None,
    upper: tuple[Cell, ...] | None,
    text: str,
) -> None:
    assert range_text(column_list(types), lower, upper) == text


def test_partitions_read_as_in_kudu() -> None:
    schema = key_schema([INT64, INT64])
    partition_schema = PartitionSchema(
        (HashDimension((0,), 4),),
        (1,),
        (RangePartition((10,), (20,)), RangePartition((20,), None, (HashDimension((0,), 8),))),
    )
    partition_schema.validate(schema)
    texts = [partition_text(schema, partition_schema, p) for p in partition_schema.partitions()]
    assert len(texts) == 12
    assert texts[3] == "HASH (c0) PARTITION 3, RANGE (c1) PARTITION 10 <= VALUES < 20"
    assert texts[11] == "HASH (c0) PARTITION 7, RANGE (c1) PARTITION 20 <= VALUES"
    assert partition_by_sql(schema, partition_schema) == (
        "PARTITION BY HASH (c0) PARTITIONS 4, RANGE (c1) (\n"
        "  PARTITION 10 <= VALUES < 20,\n"
        "  PARTITION 20 <= VALUES HASH (c0) PARTITIONS 8\n"
        ")"
    )
    assert partition_by_sql(schema, PartitionSchema()) == ""
    assert partition_text(schema, PartitionSchema(), PartitionSchema().partitions()[0]) == ""


def test_partitions_are_listed_range_by_range() -> None:
    ranges = (RangePartition((5,), None), RangePartition(None, (5,)))
    schema = PartitionSchema((HashDimension((0,), 2), HashDimension((1,), 3)), (2,), ranges)
    listed = [(p.range.lower is not None, *p.buckets) for p in schema.partitions()]
    assert len(listed) == 12
    assert all(a < b for a, b in pairwise(listed))


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (((1,), (5,)), ((5,), (9,)), False),
        (((1,), (5,)), ((4,), (9,)), True),
        (((1,), (5,)), ((2,), (3,)), True),
        ((None, (5,)), ((5,), None), False),
        ((None, (5,)), ((4,), None), True),
        ((None, None), ((4,), (5,)), True),
    ],
)
def test_ranges_overlap_where_a_row_may_lie_in_both(
    one: tuple[tuple[int] | None, tuple[int] | None],
    other: tuple[tuple[int] | None, tuple[int] | None],
    overlap: bool,
) -> None:
    first, second = RangePartition(*one), RangePartition(*other)
    assert first.overlaps(second) is second.overlaps(first) is overlap
