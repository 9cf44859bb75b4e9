"""Partition schemas and partitions in words: Kudu's for one tablet, SQL for a whole table."""

from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    Partition,
    PartitionSchema,
    RangePartition,
    schema_columns,
)
from pykudu_sql.storage.common.partition.range_bound import range_text
from pykudu_sql.storage.common.quoted_name import quoted_name
from pykudu_sql.storage.common.types.schema import Schema


def partition_text(schema: Schema, partition_schema: PartitionSchema, partition: Partition) -> str:
    """What a tablet holds: `HASH (a) PARTITION 3, RANGE (ts) PARTITION 10 <= VALUES < 20`.

    The empty text stands for the one partition of a table that is not partitioned.
    """
    dimensions = partition_schema.hash_dimensions_of(partition.range)
    parts = [
        f"HASH ({_names(schema, dimension.column_ids)}) PARTITION {bucket}"
        for dimension, bucket in zip(dimensions, partition.buckets, strict=True)
    ]
    if partition_schema.range_column_ids:
        names = _names(schema, partition_schema.range_column_ids)
        bounds = bounds_text(schema, partition_schema, partition.range)
        parts.append(f"RANGE ({names}) PARTITION {bounds}")
    return ", ".join(parts)


def bounds_text(schema: Schema, partition_schema: PartitionSchema, span: RangePartition) -> str:
    """The bounds of a range: `10 <= VALUES < 20`, `VALUE = 5`, `UNBOUNDED`."""
    columns = schema_columns(schema, partition_schema.range_column_ids)
    return range_text(columns, span.lower, span.upper)


def listed_bounds(schema: Schema, partition_schema: PartitionSchema, span: RangePartition) -> str:
    """The bounds as Impala's SHOW RANGE PARTITIONS lists them: `VALUES >= 10` where open above."""
    text = bounds_text(schema, partition_schema, span)
    low, separator, rest = text.partition(" <= VALUES")
    return f"VALUES >= {low}" if separator and not rest else text


def hash_schema_text(schema: Schema, scheme: PartitionSchema, span: RangePartition) -> str:
    """The hash dimensions of a range: `0 <= VALUES < 10 HASH (id) PARTITIONS 3`.

    Without the bounds where the table has no range dimension.
    """
    dimensions = [_hash_sql(schema, dimension) for dimension in scheme.hash_dimensions_of(span)]
    bounds = [bounds_text(schema, scheme, span)] if scheme.range_column_ids else []
    return " ".join([*bounds, *dimensions])


def partition_by_sql(schema: Schema, partition_schema: PartitionSchema) -> str:
    """The table's PARTITION BY clause, or the empty text when it has none."""
    parts = [_hash_sql(schema, dimension) for dimension in partition_schema.hash_dimensions]
    if partition_schema.range_column_ids:
        names = _names(schema, partition_schema.range_column_ids)
        ranges = [range_sql(schema, partition_schema, span) for span in partition_schema.ranges]
        body = ",\n".join(f"  {text}" for text in ranges)
        parts.append(f"RANGE ({names}) (\n{body}\n)" if ranges else f"RANGE ({names}) ()")
    return "PARTITION BY " + ", ".join(parts) if parts else ""


def range_sql(schema: Schema, partition_schema: PartitionSchema, span: RangePartition) -> str:
    """One range of the clause, with its own hash dimensions."""
    own = [_hash_sql(schema, dimension) for dimension in span.hash_dimensions or ()]
    return " ".join(["PARTITION", bounds_text(schema, partition_schema, span), *own])


def _hash_sql(schema: Schema, dimension: HashDimension) -> str:
    return f"HASH ({_names(schema, dimension.column_ids)}) PARTITIONS {dimension.buckets}"


def _names(schema: Schema, column_ids: tuple[int, ...]) -> str:
    return ", ".join(quoted_name(c.name) for c in schema_columns(schema, column_ids))
