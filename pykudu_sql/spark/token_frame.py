"""A scan as a DataFrame: planned by this process, its tokens rows that tasks turn into rows.

What `format("pykudu")` reads, for programs that call us instead of Spark; it takes Spark about half
the work. A Python source costs a planning process for each step, and its rows pass through several
iterators of Spark's one by one; `mapInArrow` has neither. And of an Arrow decimal Spark makes a
BigDecimal for every row, so decimals that fit travel as the 64-bit integers that they are here, and
Spark's own expression puts the point in: no public function does that without arithmetic, so where
this one is not to be had they travel as decimals.

Spark asks of each cell whether it is NULL, and clears a row's bits of that before it writes the
row, unless it was told that no cell of a column is. A plan knows that of its very rows, for columns
that may have NULL too. What such a frame shows is the schema of the table: its columns come out of
`CASE WHEN false THEN NULL`, which for Spark's analysis may be NULL and which its optimizer takes
away.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.classic.column import Column as ClassicColumn

from pykudu_sql.spark.arrow_types import arrow_schema, to_spark
from pykudu_sql.spark.named_column import cell
from pykudu_sql.spark.options import Place
from pykudu_sql.spark.read_plan import ReadPlan
from pykudu_sql.spark.residual import Residual, matching
from pykudu_sql.spark.token_task import read_tokens
from pykudu_sql.storage.common.schema import ColumnSchema

_Read = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_LONG_DIGITS = 18
_TOKENS = "tokens array<string>"


def is_classic(spark: SparkSession) -> bool:
    """Whether a session's JVM belongs to this process; that of Spark Connect does not."""
    return hasattr(spark, "_jsparkSession")


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once in a classic session."""
    return spark.sparkContext.defaultParallelism


def token_frame(
    spark: SparkSession,
    place: Place,
    plan: ReadPlan,
    schema: t.StructType,
    columns: Sequence[ColumnSchema],
) -> DataFrame:
    """The rows of a plan, whose lease must be held for as long as they are read.

    Args:
        spark: a classic session.
        place: the table.
        plan: of the scan.
        schema: of the DataFrame.
        columns: the columns behind it.
    """
    lease = None if plan.scan.lease is None else plan.scan.lease.path
    shares = [([token.to_json() for token in share],) for share in plan.shares]
    rows = spark.sparkContext.parallelize(shares, max(1, len(shares)))
    source = spark.createDataFrame(rows, _TOKENS, verifySchema=False)
    numbered = [_travels_as_long(field) for field in schema.fields]
    chosen = _with_point(spark, schema, numbered) if any(numbered) else None
    if chosen is None:
        numbered = [False] * len(numbered)
        chosen = [cell(field.name) for field in schema.fields]
    full = [column.nullable and column.id not in plan.scan.with_null for column in columns]
    sent = _as_sent(schema, numbered, full)
    expected = _as_longs(arrow_schema(sent, columns), numbered)
    read = _mapped(source, _reader(place, plan.residual, expected, lease), sent)
    if sent == schema:
        return read
    return read.select(*map(_as_shown, schema.fields, chosen, full))


def _as_sent(schema: t.StructType, numbered: Sequence[bool], full: Sequence[bool]) -> t.StructType:
    """The schema of what tasks give.

    Args:
        schema: of the DataFrame.
        numbered: which columns travel as integers.
        full: which may be NULL and are not in any row.
    """
    fields = zip(schema.fields, numbered, full, strict=True)
    return t.StructType(
        [
            t.StructField(
                field.name,
                t.LongType() if is_long else field.dataType,
                field.nullable and not is_full,
            )
            for field, is_long, is_full in fields
        ]
    )


def _as_shown(field: t.StructField, column: Column, is_full: bool) -> Column:
    """A column as the DataFrame shows it: one that may be NULL, though no cell of it is."""
    if not is_full:
        return column
    return f.when(f.lit(False), f.lit(None)).otherwise(column).alias(field.name)


def _mapped(source: DataFrame, read: _Read, schema: t.StructType) -> DataFrame:
    with warnings.catch_warnings():
        # About pandas, which Spark asks for here and which takes no part.
        warnings.filterwarnings("ignore", category=FutureWarning)
        return source.mapInArrow(read, schema)


def _travels_as_long(field: t.StructField) -> bool:
    kind = field.dataType
    return isinstance(kind, t.DecimalType) and kind.precision <= _LONG_DIGITS


def _as_longs(schema: pa.Schema, numbered: Sequence[bool]) -> pa.Schema:
    fields = zip(schema, numbered, strict=True)
    return pa.schema([one.with_type(pa.int64()) if is_long else one for one, is_long in fields])


def _with_point(
    spark: SparkSession, schema: t.StructType, numbered: Sequence[bool]
) -> list[Column] | None:
    """The columns of a schema, decimals made of integers; None if this Spark cannot do that."""
    chosen = []
    try:
        vm: Any = spark._jvm
        sql = vm.org.apache.spark.sql
        for field, is_long in zip(schema.fields, numbered, strict=True):
            column = cell(field.name)
            if is_long:
                kind: Any = field.dataType
                number = sql.classic.ExpressionUtils.expression(column._jc)
                made = sql.catalyst.expressions.MakeDecimal(
                    number, kind.precision, kind.scale, False
                )
                column = ClassicColumn(sql.classic.ExpressionUtils.column(made)).alias(field.name)
            chosen.append(column)
    except (Py4JError, TypeError, AttributeError):
        return None
    return chosen


def _reader(place: Place, residual: Residual | None, schema: pa.Schema, lease: str | None) -> _Read:
    """What tasks do with rows of tokens."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for tokens in batch.column(0).to_pylist():
                for rows in matching(read_tokens(place, tokens, lease), residual):
                    yield to_spark(rows, schema)

    return read
