"""PARTITION BY from syntax to a partition schema."""

import pytest

from pykudu_sql.planner.ddl.partitioning import partition_schema, range_partition
from pykudu_sql.planner.ddl_grammar.partition_parser import parse_partition_by, parse_range
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.errors import Error, InvalidSchemaError


def scheme(sql: str, context: PlanContext) -> PartitionSchema:
    clause = parse_partition_by(TokenStream(f"partition by {sql}"))
    return partition_schema(clause, context.catalog.table("events").schema, context)


def added(sql: str, table: str, context: PlanContext) -> RangePartition:
    info = context.catalog.table(table)
    clause = parse_range(TokenStream(f"partition {sql}"))
    return range_partition(clause, info.schema, info.partition_schema, context)


def test_hash_without_columns_is_over_the_whole_key_and_ids_are_in_order(
    context: PlanContext,
) -> None:
    whole = scheme("hash partitions 3", context)
    assert whole.hash_dimensions == (HashDimension((0, 1), 3),)
    assert scheme("hash (at, host) partitions 3", context) == whole


def test_bounds_become_cells_with_the_lower_one_inclusive(context: PlanContext) -> None:
    ranged = scheme(
        "range (at) (partition values < 2 + 3, partition 5 <= values <= 9, partition value = 10)",
        context,
    )
    assert [(each.lower, each.upper) for each in ranged.ranges] == [
        (None, (5,)),
        ((5,), (10,)),
        ((10,), (11,)),
    ]
    assert ranged.range_column_ids == (1,)


def test_a_range_without_a_list_has_no_bounds_and_an_empty_list_no_range(
    context: PlanContext,
) -> None:
    assert scheme("range (at)", context).ranges == (RangePartition(),)
    assert scheme("range (at) ()", context).ranges == ()


def test_split_rows_cut_the_range_in_which_they_lie(context: PlanContext) -> None:
    split = scheme("range (at) split rows ((10), (20))", context)
    assert [(each.lower, each.upper) for each in split.ranges] == [
        (None, (10,)),
        ((10,), (20,)),
        ((20,), None),
    ]


def test_a_range_may_have_hashes_of_its_own(context: PlanContext) -> None:
    own = added("5000 <= values < 6000 hash (host) partitions 7", "events", context)
    assert own.hash_dimensions == (HashDimension((0,), 7),)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("range (at) (partition value = (1, 2))", "2 values for 1 column"),
        ("range (at) (partition value = null)", "column 'at' is NULL"),
        ("range (at) (partition value = 'x')", "'at'"),
        ("range (nope) ()", "'nope'"),
        ("hash (nope) partitions 3", "'nope'"),
    ],
)
def test_a_clause_that_breaks_a_rule_names_the_column(
    context: PlanContext, sql: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        scheme(sql, context)


def test_a_range_cannot_be_added_to_a_table_without_ranges(context: PlanContext) -> None:
    with pytest.raises(InvalidSchemaError, match="not partitioned by range") as caught:
        added("value = 1", "t", context)
    assert caught.value.span is not None
