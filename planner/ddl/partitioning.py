"""PARTITION BY from syntax to `PartitionSchema`: names to column ids, bounds to cells."""

from collections.abc import Sequence

from pykudu_sql.planner.ddl.ddl_constants import cell_of
from pykudu_sql.planner.ddl_grammar.syntax import (
    BoundClause,
    Expression,
    HashClause,
    PartitionClause,
    RangeClause,
)
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.partition.partition import (
    HashDimension,
    PartitionSchema,
    RangePartition,
    check_count,
    split_range,
)
from pykudu_sql.storage.common.partition.range_bound import Bound, exclusive_upper, inclusive_lower
from pykudu_sql.storage.common.types.schema import ColumnSchema, Schema
from pykudu_sql.storage.errors import Error, InvalidSchemaError, SourceSpan


def partition_schema(
    clause: PartitionClause, schema: Schema, context: PlanContext
) -> PartitionSchema:
    """The partition schema of a PARTITION BY clause; rules across ranges are checked later.

    Raises UndefinedColumnError, InvalidSchemaError: a clause breaks a rule; DataError: a bound does
    not fit its column.
    """
    hashes = _hashes(clause.hashes, schema)
    if clause.range_columns is None:
        return PartitionSchema(hashes)
    columns = _named(clause.range_columns, schema)
    ids = tuple(column.id for column in columns)
    ranges: tuple[RangePartition, ...] = (RangePartition(),)
    if clause.ranges is not None:
        check_count(len(clause.ranges))  # before each of their bounds is worked out
        ranges = tuple(_range(span, columns, schema, context) for span in clause.ranges)
    for split in clause.splits:
        row = _row(split.values, columns, context)
        with errors_at(SourceSpan(split.start, len(str(split)))):
            ranges = split_range(columns, ranges, row)
    return PartitionSchema(hashes, ids, ranges)


def range_partition(
    clause: RangeClause, schema: Schema, scheme: PartitionSchema, context: PlanContext
) -> RangePartition:
    """The range of an ADD or DROP RANGE PARTITION.

    Raises InvalidSchemaError: the table has no range dimension, or the clause breaks a rule;
    DataError: a bound does not fit its column.
    """
    if not scheme.range_column_ids:
        raise InvalidSchemaError(
            "the table is not partitioned by range",
            hint="ranges can be added only to a table created with PARTITION BY RANGE",
            span=SourceSpan(clause.start),
        )
    columns = tuple(schema.by_id[i] for i in scheme.range_column_ids)
    return _range(clause, columns, schema, context)


def _named(names: Sequence[str], schema: Schema) -> tuple[ColumnSchema, ...]:
    """The columns of a dimension; no names mean the whole declared key."""
    if names:
        return schema.project(names)
    return tuple(column for column in schema.key_columns if not schema.is_hidden(column))


def _hashes(clauses: Sequence[HashClause], schema: Schema) -> tuple[HashDimension, ...]:
    dimensions = []
    for clause in clauses:
        with errors_at(SourceSpan(clause.start, len(str(clause)))):
            columns = _named(clause.columns, schema)
        ids = tuple(sorted(column.id for column in columns))
        dimensions.append(HashDimension(ids, clause.buckets))
    return tuple(dimensions)


def _range(
    clause: RangeClause, columns: Sequence[ColumnSchema], schema: Schema, context: PlanContext
) -> RangePartition:
    hashes = _hashes(clause.hashes, schema) if clause.hashes else None
    try:
        lower = _cells(clause.lower, columns, context)
        if lower is not None and clause.lower is not None and not clause.lower.inclusive:
            lower = inclusive_lower(columns, lower)
        upper = _cells(clause.upper, columns, context)
        if upper is not None and clause.upper is not None and clause.upper.inclusive:
            upper = exclusive_upper(columns, upper)
    except Error as error:
        if error.span is None:
            error.span = SourceSpan(clause.start, len(str(clause)))
        raise
    return RangePartition(lower, upper, hashes)


def _cells(
    bound: BoundClause | None, columns: Sequence[ColumnSchema], context: PlanContext
) -> Bound | None:
    return None if bound is None else _row(bound.values, columns, context)


def _row(
    values: Sequence[Expression], columns: Sequence[ColumnSchema], context: PlanContext
) -> Bound:
    """One cell for each range column."""
    if len(values) != len(columns):
        raise InvalidSchemaError(
            f"range partition bound has {noun_count(len(values), 'value')} for "
            f"{noun_count(len(columns), 'column')}",
            hint=f"give one value for each of {', '.join(c.name for c in columns)}",
            span=SourceSpan(values[0].start),
        )
    cells = []
    for value, column in zip(values, columns, strict=True):
        cell = cell_of(value, column, context)
        if cell is None:
            raise InvalidSchemaError(
                f"range partition bound of column '{column.name}' is NULL", span=value.span
            )
        cells.append(cell)
    return tuple(cells)
