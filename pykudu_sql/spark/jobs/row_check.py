"""Rows of files against the columns of a table: which fit, and why the others do not.

The check is one expression over all columns, so Spark runs it beside reading the files. A number
with a fraction does not fit a whole number, nor a time of day a date: nothing is cut off unseen but
digits behind the scale of a DECIMAL and the length of a VARCHAR, as in any INSERT.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from pykudu_sql.spark.arrow_types import spark_type
from pykudu_sql.spark.jobs.source_files import CORRUPT
from pykudu_sql.spark.named_column import cell
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.common.types import Kind
from pykudu_sql.storage.errors import InvalidSchemaError, UndefinedColumnError

REASON: Final = "_pykudu_reason"

_NESTED: Final = (t.ArrayType, t.MapType, t.StructType, t.VariantType)
_FRACTIONS: Final = (t.FloatType, t.DoubleType, t.DecimalType)
_TIMES: Final = (t.TimestampType, t.TimestampNTZType)
_BYTES: Final = r"^\\x([0-9A-Fa-f]{2})*$"


def chosen(rows: DataFrame, columns: Sequence[ColumnSchema], table: str) -> list[ColumnSchema]:
    """The columns of the table that files have, in the files' order.

    Raises:
        UndefinedColumnError: a file has a column that the table has not.
        InvalidSchemaError: a column is there twice, or is nested.
    """
    known = {column.name: column for column in columns}
    found: list[ColumnSchema] = []
    for one in rows.schema.fields:
        if one.name == CORRUPT:
            continue
        column = known.get(one.name.lower())
        if column is None:
            raise UndefinedColumnError(
                f"the files have a column '{one.name:.80}' that table '{table}' has not",
                hint="its columns are " + ", ".join(known),
            )
        if column in found:
            raise InvalidSchemaError(f"the files have the column '{column.name}' twice")
        if isinstance(one.dataType, _NESTED):
            raise InvalidSchemaError(
                f"column '{one.name:.80}' of the files is {one.dataType.simpleString():.80}, "
                f"not {column.type}",
                hint="flatten the column in Spark, and write the DataFrame",
            )
        found.append(column)
    return found


def checked(rows: DataFrame, columns: Sequence[ColumnSchema]) -> DataFrame:
    """The rows with a column `REASON`: why a row does not fit, empty if it does."""
    types = {one.name.lower(): one.dataType for one in rows.schema.fields}
    reasons = [_problem(column, types[column.name]) for column in columns]
    if CORRUPT in rows.columns:
        torn = f.col(CORRUPT).isNotNull()
        reasons.insert(0, f.when(torn, f.lit("the line cannot be taken apart")))
    return rows.withColumn(REASON, f.concat_ws("; ", *reasons))


def fitting(rows: DataFrame, columns: Sequence[ColumnSchema]) -> DataFrame:
    """Of checked rows those that fit, with the types of the table."""
    types = {one.name.lower(): one.dataType for one in rows.schema.fields}
    return rows.where(f.col(REASON) == "").select(
        *(_converted(column, types[column.name]).alias(column.name) for column in columns)
    )


def rejected(rows: DataFrame) -> DataFrame:
    """Of checked rows those that do not fit: JSON of the row as it came, and the reason."""
    names = [name for name in rows.columns if name not in (CORRUPT, REASON)]
    row = f.to_json(f.struct(*map(cell, names)), {"ignoreNullFields": "false"})
    raw = f.col(CORRUPT) if CORRUPT in rows.columns else f.lit(None)
    return rows.where(f.col(REASON) != "").select(
        f.col(REASON).alias("reason"), f.coalesce(raw, row).alias("row")
    )


def _converted(column: ColumnSchema, source: t.DataType) -> Column:
    """The cell as the table has it; NULL when it cannot be that."""
    given = cell(column.name)
    if column.type.kind is Kind.BINARY and isinstance(source, t.StringType):
        as_bytes = f.unhex(f.substring(given, 3, 2**31 - 1))
        return f.when(given.rlike(_BYTES), as_bytes).otherwise(given.cast("binary"))
    return given.try_cast(spark_type(column.type))


def _problem(column: ColumnSchema, source: t.DataType) -> Column:
    """Why a cell does not fit; NULL when it does."""
    given, made = cell(column.name), _converted(column, source)
    shown = f.substring(given.cast("string"), 1, 40)
    wrong = given.isNotNull() & made.isNull()
    if _may_be_cut(source, spark_type(column.type)):
        wrong = wrong | (made.cast(source) != given)
    found = f.when(
        wrong, f.concat(f.lit(f"column '{column.name}': '"), shown, f.lit(f"' is no {column.type}"))
    )
    if column.nullable:
        return found
    return found.when(given.isNull(), f.lit(f"column '{column.name}' must not be NULL"))


def _may_be_cut(source: t.DataType, target: t.DataType) -> bool:
    """Whether Spark's cast drops a part of a value without a word."""
    if isinstance(target, t.IntegralType):
        return isinstance(source, _FRACTIONS)
    return isinstance(target, t.DateType) and isinstance(source, _TIMES)
