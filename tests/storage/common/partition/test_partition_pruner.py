"""Pruning: never loses a matching row, keeps only what it must, and the worked example of Kudu."""

from itertools import pairwise, product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
)
from pykudu_sql.storage.common.partition.partition_assigner import PartitionAssigner
from pykudu_sql.storage.common.partition.partition_pruner import prune
from pykudu_sql.storage.common.partition.partition_text import partition_by_sql, partition_text
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    And,
    Comparison,
    InList,
    IsNull,
    Op,
    Or,
    Predicate,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import UncoveredRangeError
from tests.golden import check_golden
from tests.storage.common.partitionings import partitionings
from tests.storage.common.predicates import holds, predicates
from tests.storage.common.strategies import cells, key_schema, rows_of

INT64 = DataType(Kind.INT64)
STRING = DataType(Kind.STRING)

METRICS = create_schema(
    [
        ColumnSchema(0, "host", STRING),
        ColumnSchema(0, "metric", STRING),
        ColumnSchema(0, "time", INT64),
        ColumnSchema(0, "value", DataType(Kind.DOUBLE)),
    ],
    ["host", "metric", "time"],
)
HOST, METRIC, TIME, VALUE = range(4)


@given(partitionings(), st.data())
def test_every_matching_row_lies_in_a_kept_partition(
    case: tuple[list[DataType], PartitionSchema], data: st.DataObject
) -> None:
    types, partition_schema = case
    schema = key_schema(types)
    assigner = PartitionAssigner(schema, partition_schema)
    predicate = data.draw(predicates(types))
    kept = prune(schema, partition_schema, predicate)
    assert list(kept) == sorted(set(kept))
    for row in data.draw(rows_of(tuple(types))):
        if not holds(predicate, row):
            continue
        try:
            partition = assigner.assign_one(dict(enumerate(row)))
        except UncoveredRangeError:
            continue
        assert partition in kept


@given(partitionings(), st.data())
def test_equalities_and_in_lists_keep_only_partitions_of_their_rows(
    case: tuple[list[DataType], PartitionSchema], data: st.DataObject
) -> None:
    types, partition_schema = case
    schema = key_schema(types)
    assigner = PartitionAssigner(schema, partition_schema)
    lists = [data.draw(st.lists(cells(kind), min_size=1, max_size=2)) for kind in types]
    single = all(len(d.column_ids) == 1 for d in partition_schema.hash_dimensions)
    if not single or partition_schema.range_column_ids:
        lists = [values[:1] for values in lists]
    parts = tuple(InList(i, tuple(values)) for i, values in enumerate(lists))
    expected: set[int] = set()
    for row in product(*lists):
        try:
            expected.add(assigner.assign_one(dict(enumerate(row))))
        except UncoveredRangeError:
            continue
    assert set(prune(schema, partition_schema, And(parts))) == expected


def test_no_predicate_keeps_all_and_a_contradiction_none() -> None:
    partition_schema = PartitionSchema((HashDimension((HOST,), 4),))
    assert prune(METRICS, partition_schema, None) == (0, 1, 2, 3)
    assert prune(METRICS, partition_schema, ALWAYS) == (0, 1, 2, 3)
    assert prune(METRICS, partition_schema, NEVER) == ()
    assert prune(METRICS, partition_schema, IsNull(TIME)) == ()
    both = And((Comparison(HOST, Op.EQ, "a"), Comparison(HOST, Op.EQ, "b")))
    assert prune(METRICS, partition_schema, both) == ()


def test_each_side_of_an_or_is_pruned_by_itself() -> None:
    ranges = tuple(RangePartition((n,), (n + 10,)) for n in range(0, 50, 10))
    partition_schema = PartitionSchema((), (TIME,), ranges)
    outside = Or((Comparison(TIME, Op.LT, 5), Comparison(TIME, Op.GE, 45)))
    assert prune(METRICS, partition_schema, outside) == (0, 4)
    narrowed = And((outside, Comparison(TIME, Op.GE, 20)))
    assert prune(METRICS, partition_schema, narrowed) == (4,)


def test_an_in_list_on_a_range_column_skips_the_ranges_between() -> None:
    ranges = tuple(RangePartition((n,), (n + 10,)) for n in range(0, 50, 10))
    partition_schema = PartitionSchema((), (TIME,), ranges)
    assert prune(METRICS, partition_schema, InList(TIME, (1, 44, 99))) == (0, 4)


def test_a_long_in_list_that_fills_all_buckets_stops_early() -> None:
    partition_schema = PartitionSchema((HashDimension((HOST, METRIC), 4),))
    names = tuple(f"n{i}" for i in range(3000))
    everything = And((InList(HOST, names), InList(METRIC, names)))
    assert prune(METRICS, partition_schema, everything) == (0, 1, 2, 3)


YEARS = (1388534400, 1420070400, 1451606400, 1483228800)
"""The first seconds of 2014 to 2017, UTC."""

BOUNDED = tuple(RangePartition((a,), (b,)) for a, b in pairwise(YEARS))
UNBOUNDED = (
    RangePartition(None, (YEARS[1],)),
    RangePartition((YEARS[1],), (YEARS[2],)),
    RangePartition((YEARS[2],), None),
)
HASH_BOTH = HashDimension((HOST, METRIC), 4)

PARTITIONINGS = {
    "range(time), bounded": PartitionSchema((), (TIME,), BOUNDED),
    "range(time), unbounded": PartitionSchema((), (TIME,), UNBOUNDED),
    "hash(host, metric)": PartitionSchema((HASH_BOTH,)),
    "hash(host, metric) and range(time)": PartitionSchema((HASH_BOTH,), (TIME,), BOUNDED),
    "hash(host) and hash(metric)": PartitionSchema(
        (HashDimension((HOST,), 4), HashDimension((METRIC,), 3, 1))
    ),
}


def _is(column_id: int, op: Op, value: Cell) -> Comparison:
    return Comparison(column_id, op, value)


_HOST = _is(HOST, Op.EQ, "host-1")
_METRIC = _is(METRIC, Op.EQ, "cpu")
_IN_2015 = And((_is(TIME, Op.GE, YEARS[1]), _is(TIME, Op.LT, YEARS[2])))

QUERIES: dict[str, Predicate | None] = {
    "(none)": None,
    "time = 1430000000": _is(TIME, Op.EQ, 1430000000),
    "time < 1388534400": _is(TIME, Op.LT, YEARS[0]),
    "time >= 1451606400": _is(TIME, Op.GE, YEARS[2]),
    "time > 1483228799": _is(TIME, Op.GT, YEARS[3] - 1),
    "time in 2015": _IN_2015,
    "time IN (1400000000, 1460000000)": InList(TIME, (1400000000, 1460000000)),
    "host = 'host-1'": _HOST,
    "metric = 'cpu'": _METRIC,
    "host = 'host-1' AND metric = 'cpu'": And((_HOST, _METRIC)),
    "host IN ('host-1', 'host-2') AND metric = 'cpu'": And(
        (InList(HOST, ("host-1", "host-2")), _METRIC)
    ),
    "host = 'host-1' AND metric = 'cpu' AND time in 2015": And((_HOST, _METRIC, _IN_2015)),
    "host = 'host-1' OR metric = 'cpu'": Or((_HOST, _METRIC)),
    "host >= 'host-1' AND metric = 'cpu'": And((_is(HOST, Op.GE, "host-1"), _METRIC)),
    "host = 'host-1' AND host = 'host-2'": And((_HOST, _is(HOST, Op.EQ, "host-2"))),
    "value > 0.5": _is(VALUE, Op.GT, 0.5),
}


def test_the_metrics_table_of_kudus_documentation_prunes_as_recorded() -> None:
    lines = ["metrics (host STRING, metric STRING, time BIGINT, value DOUBLE,"]
    lines += ["         PRIMARY KEY (host, metric, time))", ""]
    for title, partition_schema in PARTITIONINGS.items():
        partition_schema.validate(METRICS)
        partitions = partition_schema.partitions()
        lines += [f"== {title} ==", partition_by_sql(METRICS, partition_schema), ""]
        for index, partition in enumerate(partitions):
            lines.append(f"  {index:2}  {partition_text(METRICS, partition_schema, partition)}")
        lines.append("")
        for query, predicate in QUERIES.items():
            kept = prune(METRICS, partition_schema, predicate)
            shown = " ".join(map(str, kept)) or "none"
            lines.append(f"{query:55} {len(kept):2} of {len(partitions):2}: {shown}")
        lines.append("")
    check_golden(Path(__file__).parent / "metrics_pruning.golden", "\n".join(lines))
