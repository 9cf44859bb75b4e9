"""The rows of a table at a step of its backup: those of the last full copy, with changes applied.

Columns are matched by id: one that was dropped since is left out, one that was added since reads as
its read default in older rows, one that was renamed keeps its cells.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from pykudu_sql.jobs.backup_manifest import BackupStep, TableBackup
from pykudu_sql.spark.arrow.arrow_types import spark_schema, spark_type
from pykudu_sql.spark.arrow.named_column import cell
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.rows.history_columns import CHANGE_TYPE, COMMIT_TIMESTAMP
from pykudu_sql.storage.common.types.arrays import cells_to_array
from pykudu_sql.storage.common.types.schema import ColumnSchema

_ORDER = "_order"


def restored_rows(
    spark: SparkSession, chain: Sequence[tuple[BackupStep, TableBackup]], table: TableInfo
) -> DataFrame:
    """The rows of a table.

    `chain`: of `chain_of`: a full copy, then changes; `table`: as of the last of them.
    """
    (first, copy), *later = chain
    rows = _read(spark, first, copy, table, ())
    changes = [
        _read(spark, step, entry, table, (CHANGE_TYPE, COMMIT_TIMESTAMP))
        for step, entry in later
        if entry.files
    ]
    if not changes:
        return rows
    every = changes[0]
    for more in changes[1:]:
        every = every.unionByName(more)
    keys = [column.name for column in table.schema.key_columns]
    newest_first = Window.partitionBy(*map(cell, keys)).orderBy(f.col(COMMIT_TIMESTAMP).desc())
    last = every.withColumn(_ORDER, f.row_number().over(newest_first)).where(f.col(_ORDER) == 1)
    untouched = rows.join(last.select(*map(cell, keys)), keys, "left_anti")
    names = [cell(column.name) for column in table.schema.columns]
    return untouched.select(*names).unionByName(
        last.where(f.col(CHANGE_TYPE) != "delete").select(*names)
    )


def _read(
    spark: SparkSession,
    step: BackupStep,
    entry: TableBackup,
    table: TableInfo,
    change_columns: tuple[str, ...],
) -> DataFrame:
    """The files of a table in a step, with the columns of a later state of it."""
    if not entry.files:
        return spark.createDataFrame([], spark_schema(table.schema.columns))
    files = spark.read.parquet(*(str(step.folder / file.path) for file in entry.files))
    columns = [_column(entry.table, column).alias(column.name) for column in table.schema.columns]
    return files.select(*columns, *(f.col(name) for name in change_columns))


def _column(then: TableInfo, column: ColumnSchema) -> Column:
    """A column of today in a file of then."""
    then_column = then.schema.by_id.get(column.id)
    if then_column is not None:
        return cell(then_column.name)
    (value,) = cells_to_array([column.read_default], column.type).to_pylist()
    simple = value if isinstance(value, bool | int | float | str | bytes | None) else str(value)
    return f.lit(simple).cast(spark_type(column.type))
