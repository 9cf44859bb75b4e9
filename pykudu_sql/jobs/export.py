"""`export`: a table, or what it was at some moment, to Parquet or CSV files, on Spark.

The files appear under the target's name together and whole, or not at all.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType

from pykudu_sql.files.appearing import appearing
from pykudu_sql.jobs.report import JobReport, RowCounter, Stopwatch, size_of
from pykudu_sql.spark.arrow.named_column import cell
from pykudu_sql.spark.options import SPLIT_BYTES, ReadOptions, TableLocation, distinct_names
from pykudu_sql.spark.reading.read_plan import read_planner
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import read_table
from pykudu_sql.storage.errors import InvalidValueError, OperationalError

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


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is exported, and how.

    Attributes:
        file_format: parquet or csv.
        columns: names; None for all.
        where: a condition in our SQL, or None.
        as_of: a timestamp, a hybrid timestamp or the name of a snapshot; None for now.
        overwrite: whether a target that exists is replaced.
        writer: options of Spark's writer, such as `compression`.
    """

    file_format: str = "parquet"
    columns: tuple[str, ...] | None = None
    where: str | None = None
    as_of: str | None = None
    overwrite: bool = False
    writer: Mapping[str, str] = field(default_factory=dict)
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)


def export(
    database: str, table: str, target: str, options: ExportOptions | None = None
) -> JobReport:
    """Write the rows of a table to a folder of files.

    Args:
        database: its directory.
        table: its name.
        target: the folder, made by this.
        options: what and how; the defaults of `ExportOptions` if None.

    Raises OperationalError: the target exists, or there is no Java or no such database;
    ProgrammingError: there is no such table or column.
    """
    settings, place = options or ExportOptions(), Path(target)
    check_target(place, settings.file_format, settings.overwrite)
    _check_read(database, table, settings)
    watch, counter = Stopwatch(), RowCounter()
    spark = start_session(settings.master, settings.conf)
    rows = read_table(
        spark, database, table, columns=settings.columns, where=settings.where, as_of=settings.as_of
    )
    size = save_files(counter.watch(rows), place, settings.file_format, settings.writer)
    return watch.report(counter.rows, size)


def _check_read(database: str, table: str, options: ExportOptions) -> None:
    """Check that the rows can be read before Spark starts, which takes many seconds.

    Raises Error: they cannot; see `ReadPlanner`.
    """
    columns = None if options.columns is None else distinct_names(options.columns)
    place = TableLocation(database, table.lower())
    read_options = ReadOptions(place, columns, options.where, options.as_of, SPLIT_BYTES, 1)
    with read_planner(read_options) as planner:
        planner.plan(planner.columns()).scan.release()


def check_target(target: Path, file_format: str, overwrite: bool) -> None:
    """See that files may be written to a folder.

    `target`: the folder; `file_format`: of the files; `overwrite`: whether the folder may exist.
    Raises InvalidValueError: there is no such format; OperationalError: the folder exists.
    """
    if file_format not in FORMATS:
        raise InvalidValueError(
            f"tables are not exported as '{file_format:.40}'",
            hint="choose one of " + ", ".join(FORMATS),
        )
    if target.exists() and not target.is_dir():
        raise OperationalError(
            f"'{target}' is a file, and a folder is to be made", sqlstate="58P02"
        )
    if target.exists() and not overwrite:
        raise OperationalError(
            f"'{target}' exists already", hint="say --overwrite to replace it", sqlstate="58P02"
        )


def save_files(rows: DataFrame, target: Path, file_format: str, options: Mapping[str, str]) -> int:
    """Write rows to a folder, which appears or is replaced when all are there.

    Args:
        rows: to be written.
        target: the folder.
        file_format: of the files.
        options: of Spark's writer.

    Returns Bytes of the files.
    """
    writer_options = {name.lower(): value for name, value in {**_WRITER, **options}.items()}
    with appearing(target) as unfinished:
        shown = _as_text(rows) if file_format == "csv" else rows
        shown.write.format(file_format).options(**writer_options).save(str(unfinished))
        size = size_of(unfinished)
        if target.is_dir():
            shutil.rmtree(target)
    return size


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
