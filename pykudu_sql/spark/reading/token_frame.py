"""A scan as a DataFrame: planned by this process, its shares numbers that tasks turn into rows.

What `format("pykudu")` reads, for programs that call us instead of Spark; it takes Spark about half
the work. A Python source costs a planning process for each step, and its rows pass through several
iterators of Spark's one by one; `mapInArrow` has neither. And of an Arrow decimal Spark makes a
BigDecimal for every row, so decimals that fit travel as the 64-bit integers that they are here, and
Spark's own expression puts the point in: no public function does that without arithmetic, so where
this one is not to be had they travel as decimals.

Every call of the JVM takes longer than planning a rowset, so what can be said in SQL is said in one
text.

Spark checks each cell for NULL, and clears a row's null bits before it writes the row, unless the
schema says NOT NULL. A plan knows which columns have no NULL in its rows, though they may have it.
What such a frame shows is the schema of the table: its columns come out of `CASE WHEN false THEN
NULL`, which for Spark's analysis may be NULL and which its optimizer takes away.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from pykudu_sql.spark.arrow.arrow_types import arrow_schema, to_spark
from pykudu_sql.spark.options import TableLocation
from pykudu_sql.spark.reading.read_plan import ReadPlan
from pykudu_sql.spark.reading.residual import matching
from pykudu_sql.spark.reading.token_task import read_in_task
from pykudu_sql.spark.worker_errors import loaded_by_task
from pykudu_sql.storage.common.types.schema import ColumnSchema

ArrowRows = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_LONG_DIGITS = 18
_LONG_BYTES = 8
# 32 MB: of a share that is larger Spark need not know more than that no join is to copy it.
_MOST_BITS = 22
# A function that is larger Spark hands over as a file, which lies there until the session ends.
_MOST_WITH_FUNCTION = 512 * 1024


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once in a classic session."""
    return spark.sparkContext.defaultParallelism


def token_frame(
    spark: SparkSession,
    location: TableLocation,
    plan: ReadPlan,
    schema: t.StructType,
    columns: Sequence[ColumnSchema],
) -> DataFrame:
    """The rows of a plan, whose lease must be held for as long as they are read.

    `plan`: of the scan.
    """
    # Names in which Spark's SQL finds nothing to make something of; at the end come the true ones.
    aliases = [f"c{number}" for number in range(len(columns))]
    decimals = _decimals(spark, aliases, schema)
    numbered = [name in decimals for name in aliases]
    full = [column.may_show_null and column.id not in plan.scan.with_null for column in columns]
    differs = any(numbered) or any(full)
    wire_schema = _wire_schema(aliases if differs else schema.names, schema, numbered, full)
    frame = _rows(
        spark, location, plan, wire_schema, _as_longs(arrow_schema(wire_schema, columns), numbered)
    )
    if any(full):
        frame = frame.selectExpr(*map(_nullable_column, aliases, full))
    if decimals:
        frame = frame.withColumns(decimals)
    return frame.toDF(*schema.names) if differs else frame


def _rows(
    spark: SparkSession,
    location: TableLocation,
    plan: ReadPlan,
    wire_schema: t.StructType,
    expected: pa.Schema,
) -> DataFrame:
    """The rows as tasks give them.

    Args:
        spark, location, plan: see `token_frame`.
        wire_schema: their schema.
        expected: the same in Arrow.
    """
    shares = tuple(tuple(token.to_json() for token in share) for share in plan.shares)
    longs = plan.size // _LONG_BYTES // max(1, len(shares))
    bits, name = min(longs.bit_length(), _MOST_BITS), plan.describe(location)
    if sum(len(token) for share in shares for token in share) > _MOST_WITH_FUNCTION:
        return mapped_in_arrow(
            _token_rows(spark, shares), _reader(location, plan, expected, tuple), wire_schema, name
        )
    reader = _reader(location, plan, expected, lambda number: shares[number >> bits])
    return mapped_in_arrow(_share_numbers(spark, len(shares), bits), reader, wire_schema, name)


def _reader(
    location: TableLocation,
    plan: ReadPlan,
    expected: pa.Schema,
    tokens_of: Callable[[Any], Sequence[str]],
) -> ArrowRows:
    """The function of tasks over their rows, each of which names a share.

    `location`, `plan`, `expected`: see `_rows`; `tokens_of`: the tokens of a cell.
    """
    lease, residual = plan.scan.lease_path, plan.residual

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for share in batch.column(0).to_pylist():
                for rows in matching(read_in_task(location, tokens_of(share), lease), residual):
                    yield to_spark(rows, expected)

    return read


def _token_rows(spark: SparkSession, shares: Sequence[Sequence[str]]) -> DataFrame:
    """The shares themselves, one in each partition."""
    rows = spark.sparkContext.parallelize([(list(share),) for share in shares], len(shares))
    return spark.createDataFrame(rows, "tokens array<string>", verifySchema=False)


def _share_numbers(spark: SparkSession, shares: int, bits: int) -> DataFrame:
    """For each share one row in a partition of its own: its number, shifted left by some bits.

    The rows are taken from a range that takes as many bytes as the scan is to read, twice at most,
    for by that Spark guesses the frame's size when it plans joins, as it does by those of files. It
    looks into no condition, and takes what `mapInArrow` gives for as large as what it is given.
    """
    numbers = spark.range(0, shares << bits, 1, max(1, shares))
    return numbers.where(f"id & {(1 << bits) - 1} = 0")


def _wire_schema(
    names: Sequence[str], schema: t.StructType, numbered: Sequence[bool], full: Sequence[bool]
) -> t.StructType:
    """The schema of what tasks give.

    Args:
        names: of the columns on the way.
        numbered: which columns travel as integers.
        full: which may be NULL and are not in any row.
    """
    fields = zip(names, schema.fields, numbered, full, strict=True)
    return t.StructType(
        [
            t.StructField(
                name, t.LongType() if is_long else field.dataType, field.nullable and not is_full
            )
            for name, field, is_long, is_full in fields
        ]
    )


def _nullable_column(name: str, is_full: bool) -> str:
    """A column as the DataFrame shows it: one that may be NULL, though no cell of it is."""
    return f"CASE WHEN false THEN NULL ELSE {name} END AS {name}" if is_full else name


def mapped_in_arrow(
    source: DataFrame, read: ArrowRows, schema: t.StructType, name: str
) -> DataFrame:
    """What `source.mapInArrow(read, schema)` gives, under a name that plans of Spark show.

    That method requires pandas, which neither this process nor a worker uses here.
    """
    kind: Any = PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    function = UserDefinedFunction(loaded_by_task(read), schema, name, kind)
    applied: Any = function(*(source[column] for column in source.columns))
    return DataFrame(source._jdf.mapInArrow(applied._jc, False, None), source.sparkSession)


def _as_longs(schema: pa.Schema, numbered: Sequence[bool]) -> pa.Schema:
    fields = zip(schema, numbered, strict=True)
    return pa.schema([one.with_type(pa.int64()) if is_long else one for one, is_long in fields])


def _decimals(spark: SparkSession, names: Sequence[str], schema: t.StructType) -> dict[str, Column]:
    """Decimals made of the integers that they travel as; none if this Spark cannot do that.

    `names`: under which all columns travel.
    """
    columns: dict[str, Column] = {}
    try:
        vm: Any = spark._jvm
        expressions = vm.org.apache.spark.sql.classic.ExpressionUtils
        make_decimal = vm.org.apache.spark.sql.catalyst.expressions.MakeDecimal
        for name, field in zip(names, schema.fields, strict=True):
            kind = field.dataType
            if isinstance(kind, t.DecimalType) and kind.precision <= _LONG_DIGITS:
                number = expressions.expression(f.col(name)._jc)
                point = make_decimal(number, kind.precision, kind.scale, False)
                columns[name] = ClassicColumn(expressions.column(point))
    except (Py4JError, TypeError, AttributeError):
        return {}
    return columns
