"""Rows of files against the columns of a table: which fit, and why the others do not.

The check is one expression over all columns, so Spark runs it beside reading the files.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from pykudu_sql.spark.arrow_types import spark_type
from pykudu_sql.spark.jobs.source_files import CORRUPT
from pykudu_sql.storage.common.schema import ColumnSchema
from pykudu_sql.storage.errors import UndefinedColumnError

REASON: Final = "_reason"


def chosen(rows: DataFrame, columns: Sequence[ColumnSchema], table: str) -> list[ColumnSchema]:
    """The columns of the table that files have, in the files' order.

    Raises:
        UndefinedColumnError: a file has a column that the table has not.
    """
    known = {column.name: column for column in columns}
    found = []
    for name in rows.columns:
        if name == CORRUPT:
            continue
        column = known.get(name.lower())
        if column is None:
            raise UndefinedColumnError(
                f"the files have a column '{name:.80}' that table '{table}' has not",
                hint="its columns are " + ", ".join(known),
            )
        found.append(column)
    return found


def checked(rows: DataFrame, columns: Sequence[ColumnSchema]) -> DataFrame:
    """The rows with a column `REASON`: why a row does not fit, empty if it does."""
    reasons = [_problem(column) for column in columns]
    if CORRUPT in rows.columns:
        torn = f.col(f"`{CORRUPT}`").isNotNull()
        reasons.insert(0, f.when(torn, f.lit("the line cannot be taken apart")))
    return rows.withColumn(REASON, f.concat_ws("; ", *reasons))


def fitting(rows: DataFrame, columns: Sequence[ColumnSchema]) -> DataFrame:
    """Of checked rows those that fit, with the types of the table."""
    return rows.where(f.col(REASON) == "").select(
        *(_cell(column).alias(column.name) for column in columns)
    )


def rejected(rows: DataFrame) -> DataFrame:
    """Of checked rows those that do not fit: JSON of the row as it came, and the reason."""
    names = [name for name in rows.columns if name not in (CORRUPT, REASON)]
    row = f.to_json(
        f.struct(*(f.col(f"`{name}`") for name in names)), {"ignoreNullFields": "false"}
    )
    raw = f.col(f"`{CORRUPT}`") if CORRUPT in rows.columns else f.lit(None)
    return rows.where(f.col(REASON) != "").select(
        f.col(REASON).alias("reason"), f.coalesce(raw, row).alias("row")
    )


def _source(column: ColumnSchema) -> Column:
    return f.col(f"`{column.name}`")


def _cell(column: ColumnSchema) -> Column:
    """The cell as the table has it; NULL when it cannot be that."""
    return _source(column).try_cast(spark_type(column.type))


def _problem(column: ColumnSchema) -> Column:
    """Why a cell does not fit; NULL when it does."""
    source = _source(column)
    shown = f.substring(source.cast("string"), 1, 40)
    wrong = source.isNotNull() & _cell(column).isNull()
    found = f.when(
        wrong, f.concat(f.lit(f"column '{column.name}': '"), shown, f.lit(f"' is no {column.type}"))
    )
    if column.nullable:
        return found
    return found.when(source.isNull(), f.lit(f"column '{column.name}' must not be NULL"))
