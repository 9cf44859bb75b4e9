"""A scan as a DataFrame: planned by this process, its shares numbers that tasks turn into rows.

What `format("pykudu")` reads, for programs that call us instead of Spark; it takes Spark about half
the work. A Python source costs a planning process for each step, and its rows pass through several
iterators of Spark's one by one; `mapInArrow` has neither. And of an Arrow decimal Spark makes a
BigDecimal for every row, so decimals that fit travel as the 64-bit integers that they are here, and
Spark's own expression puts the point in: no public function does that without arithmetic, so where
this one is not to be had they travel as decimals.

Every call of the JVM takes longer than planning a rowset, so what can be said in SQL is said in one
text.

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
from pyspark.sql import types as t
from pyspark.sql.classic.column import Column as ClassicColumn

from pykudu_sql.spark.arrow_types import arrow_schema, to_spark
from pykudu_sql.spark.named_column import cell, quoted
from pykudu_sql.spark.options import Place
from pykudu_sql.spark.read_plan import ReadPlan
from pykudu_sql.spark.residual import matching
from pykudu_sql.spark.token_task import read_tokens
from pykudu_sql.storage.common.schema import ColumnSchema

_Read = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_LONG_DIGITS = 18
_LONG_BYTES = 8
# Of a share that is larger Spark may know as little as that no join copies it to all executors.
_MOST_BITS = 22


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
    lease, residual = plan.scan.lease_path, plan.residual
    numbers = [field.name for field in schema.fields if _travels_as_long(field)]
    decimals = _decimals(spark, schema, numbers)
    numbered = [field.name in decimals for field in schema.fields]
    full = [column.nullable and column.id not in plan.scan.with_null for column in columns]
    sent = _as_sent(schema, numbered, full)
    expected = _as_longs(arrow_schema(sent, columns), numbered)
    longs = plan.size // _LONG_BYTES // max(1, len(plan.shares))
    bits = min(longs.bit_length(), _MOST_BITS)
    shares = tuple(tuple(token.to_json() for token in share) for share in plan.shares)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                tokens = read_tokens(place, shares[number >> bits], lease)
                for rows in matching(tokens, residual):
                    yield to_spark(rows, expected)

    shown = _mapped(_spread(spark, len(shares), bits), read, sent)
    if any(full):
        shown = shown.selectExpr(*map(_as_shown, schema.names, full))
    return shown.withColumns(decimals) if decimals else shown


def _spread(spark: SparkSession, shares: int, bits: int) -> DataFrame:
    """For each share one row in a partition of its own: its number, shifted left by some bits.

    The rows are chosen from a range that takes as many bytes as the scan is to read, twice at most,
    for by that Spark guesses the frame's size when it plans joins, as it does by those of files. It
    looks into no condition, and takes what `mapInArrow` gives for as large as what it is given.
    """
    numbers = spark.range(0, shares << bits, 1, max(1, shares))
    return numbers.where(f"id & {(1 << bits) - 1} = 0")


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


def _as_shown(name: str, is_full: bool) -> str:
    """A column as the DataFrame shows it: one that may be NULL, though no cell of it is."""
    column = quoted(name)
    return f"CASE WHEN false THEN NULL ELSE {column} END AS {column}" if is_full else column


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


def _decimals(spark: SparkSession, schema: t.StructType, names: Sequence[str]) -> dict[str, Column]:
    """Decimals made of the integers that stand for them; none if this Spark cannot do that."""
    kinds: Any = {field.name: field.dataType for field in schema.fields}
    try:
        vm: Any = spark._jvm
        expressions = vm.org.apache.spark.sql.classic.ExpressionUtils
        make_decimal = vm.org.apache.spark.sql.catalyst.expressions.MakeDecimal
        made: dict[str, Column] = {}
        for name in names:
            number = expressions.expression(cell(name)._jc)
            point = make_decimal(number, kinds[name].precision, kinds[name].scale, False)
            made[name] = ClassicColumn(expressions.column(point))
    except (Py4JError, TypeError, AttributeError):
        return {}
    return made
