"""Random partition schemas over key columns."""

from itertools import pairwise

from hypothesis import strategies as st

from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.types.types import DataType
from tests.storage.common.strategies import KEY_TYPES, cells, key_schema


@st.composite
def hash_dimensions(draw: st.DrawFn, columns: int) -> tuple[HashDimension, ...]:
    """Up to two dimensions over disjoint columns."""
    ids = draw(st.permutations(range(columns)))
    first = draw(st.integers(0, columns))
    second = draw(st.integers(first, columns))
    groups = [sorted(ids[:first]), sorted(ids[first:second])]
    return tuple(
        HashDimension(tuple(group), draw(st.integers(2, 5)), draw(st.sampled_from((0, 42))))
        for group in groups
        if group
    )


@st.composite
def own_dimensions(
    draw: st.DrawFn, columns: int, of_table: tuple[HashDimension, ...]
) -> tuple[HashDimension, ...]:
    """Dimensions of one range: as many as the table's, over other columns where it falls so."""
    own = draw(hash_dimensions(columns))
    if len(own) == len(of_table):
        return own
    return tuple(HashDimension(d.column_ids, d.buckets + 1, d.seed) for d in of_table)


@st.composite
def partitionings(draw: st.DrawFn) -> tuple[list[DataType], PartitionSchema]:
    """Key column types and a valid partition schema over them."""
    types = draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=3))
    dimensions = draw(hash_dimensions(len(types)))
    range_ids = tuple(draw(st.permutations(range(len(types)))))[: draw(st.integers(0, len(types)))]
    ranges: list[RangePartition] = []
    if range_ids:
        bound = st.tuples(*(cells(types[i]) for i in range_ids))
        points = sorted(draw(st.sets(bound, min_size=1, max_size=5)))
        ends = [None, *points, None]
        for lower, upper in pairwise(ends):
            if draw(st.booleans()):
                own = draw(st.none() | own_dimensions(len(types), dimensions))
                ranges.append(RangePartition(lower, upper, own))
    partition_schema = PartitionSchema(dimensions, range_ids, tuple(ranges))
    partition_schema.validate(key_schema(types))
    return types, partition_schema
