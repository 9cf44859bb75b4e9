"""The rows of a table at one moment, to Parquet or CSV files, on Spark."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType

from pykudu_sql.jobs.on_spark.row_counter import RowCounter
from pykudu_sql.jobs.on_spark.spark_errors import plain_spark_errors
from pykudu_sql.jobs.options import ExportOptions
from pykudu_sql.jobs.report import size_of
from pykudu_sql.jobs.target_folder import atomic_folder
from pykudu_sql.spark.arrow.named_column import cell
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import read_table
from pykudu_sql.storage.errors import InvalidValueError

FORMATS: Final = ("parquet", "csv")
# As `load` reads them back; Spark would leave out microseconds and blanks.
_WRITER: Final = {
    "header": "true",
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def export_on_spark(
    database: str, table: str, target: Path, options: ExportOptions
) -> tuple[int, int]:
    """Write the rows of a table to a folder; how many there were, and bytes of the files.

    `database`: its directory; `table`: its name; `target`: the folder; `options`: what and how.
    """
    counter = RowCounter()
    with plain_spark_errors():
        spark = start_session(options.master, options.conf)
        rows = read_table(
            spark,
            database,
            table,
            columns=options.columns,
            where=options.where,
            as_of=options.as_of,
        )
        size = save_files(counter.watch(rows), target, options.file_format, options.writer)
        return counter.rows, size


def save_files(rows: DataFrame, target: Path, file_format: str, options: Mapping[str, str]) -> int:
    """Write rows to a folder, which appears or is replaced when all are there.

    Args:
        rows: to be written.
        target: the folder.
        file_format: of the files.
        options: of Spark's writer.

    Returns Bytes of the files.
    """
    if file_format not in FORMATS:
        raise InvalidValueError(
            f"Spark writes no files of format '{file_format:.40}'",
            hint="--engine local, or one of " + ", ".join(FORMATS),
        )
    writer_options = {name.lower(): value for name, value in {**_WRITER, **options}.items()}
    with atomic_folder(target) as folder:
        text_rows = _as_text(rows) if file_format == "csv" else rows
        written = text_rows.write.format(file_format).options(**writer_options).mode("overwrite")
        written.save(str(folder))
        return size_of(folder)


def _as_text(rows: DataFrame) -> DataFrame:
    """Rows with bytes as `\\x00ff`, which `load` knows; Spark's own form of them it does not."""
    return rows.select(
        *(
            f.concat(f.lit("\\x"), f.lower(f.hex(cell(one.name)))).alias(one.name)
            if isinstance(one.dataType, BinaryType)
            else cell(one.name)
            for one in rows.schema.fields
        )
    )
