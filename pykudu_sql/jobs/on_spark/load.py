"""Loads on Spark: the files are checked, then written by tasks, and committed here.

With a file of rejects they are read twice, so that nothing is written before all rejects are known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pykudu_sql.files.atomic_output import atomic_output
from pykudu_sql.jobs.load import Loaded
from pykudu_sql.jobs.on_spark.new_table import column_types
from pykudu_sql.jobs.on_spark.rejects import SourceFiles, find_rejects, located, unfit_rows
from pykudu_sql.jobs.on_spark.row_check import REASON, RowCheck, columns_in_files
from pykudu_sql.jobs.on_spark.source_files import (
    FORMATS,
    NUMBER,
    TYPED,
    check_present,
    format_of,
    read_files,
)
from pykudu_sql.jobs.on_spark.spark_errors import plain_spark_errors
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.jobs.rejects import MAX_LISTED_REJECTS, Reject, too_many, write_rejects
from pykudu_sql.spark.options import operation_of
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import WriteReport, write_table
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class SparkLoader:
    """A `Loader` in a Spark session. `database`: its directory; `file_format`: of the sources."""

    spark: SparkSession
    database: str
    sources: Sequence[str]
    file_format: str
    options: LoadOptions

    @classmethod
    def of(cls, database: str, sources: Sequence[str], options: LoadOptions) -> "SparkLoader":
        """Check what can be checked, and start Spark.

        Raises InvalidValueError: the format is not known; OperationalError: there is no such file,
        or no Java.
        """
        file_format = options.file_format or format_of(sources)
        if file_format not in FORMATS:
            raise InvalidValueError(
                f"Spark reads no files of format '{file_format:.40}'",
                hint="choose one of " + ", ".join(FORMATS),
            )
        check_present(sources, options.conf)
        with plain_spark_errors():
            spark = start_session(options.master, options.conf)
        return cls(spark, database, sources, file_format, options)

    def columns(self) -> Mapping[str, str]:
        with plain_spark_errors():
            rows = read_files(self.spark, self.sources, self.file_format, None, self.options.reader)
            return column_types(rows)

    def fill(self, table: TableInfo) -> Loaded:
        with plain_spark_errors():
            written, rejects = _fill(
                self.spark, self.database, table, self.sources, self.file_format, self.options
            )
        return Loaded(written.rows, written.bytes, rejects)


def _fill(
    spark: SparkSession,
    database: str,
    table: TableInfo,
    sources: Sequence[str],
    file_format: str,
    options: LoadOptions,
) -> tuple[WriteReport, list[Reject]]:
    """Load files into a table that is there; what was written, and the rows that were not."""
    columns = table.schema.columns
    rows = read_files(spark, sources, file_format, columns, options.reader)
    file_columns = columns_in_files(rows, columns, table.name, typed=file_format in TYPED)
    check = RowCheck.of(rows, table, file_columns)
    checked = check.with_reasons(rows)
    source = SourceFiles(file_format, options.reader)
    if options.rejects is None:
        _check_all_fit(check, checked, source)
        fit = check.fitting(checked)
        return write_table(fit, database, table.name, operation=options.operation), []
    kind = operation_of(options.operation)
    rejected = find_rejects(check, checked, database, kind, options.max_rejects)
    if len(rejected) > options.max_rejects:
        raise too_many(
            located(rejected[:MAX_LISTED_REJECTS], checked, source),
            f"more than {options.max_rejects:,}",
            "--max-rejects N permits more",
        )
    fit = _without(check.fitting(checked, NUMBER), [one.number for one in rejected])
    rejects = located(rejected, checked, source)
    with atomic_output(Path(options.rejects)) as unfinished:
        write_rejects(rejects, unfinished)
        return write_table(fit, database, table.name, operation=options.operation), rejects


def _without(rows: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """Rows but for those of some numbers."""
    if numbers:
        excluded = rows.sparkSession.createDataFrame([(n,) for n in numbers], f"{NUMBER} bigint")
        rows = rows.join(f.broadcast(excluded), NUMBER, "left_anti")
    return rows.drop(NUMBER)


def _check_all_fit(check: RowCheck, checked: DataFrame, source: SourceFiles) -> None:
    """See that all rows fit, where those that do not have no place to go.

    Raises DataError: one does not; the message has their count and the first ones.
    """
    first = unfit_rows(check, checked, MAX_LISTED_REJECTS)
    if first:
        count = checked.where(f.col(REASON) != "").count()
        hint = "--rejects FILE puts such rows there and loads the others"
        raise too_many(located(first, checked, source), f"{count:,}", hint)
