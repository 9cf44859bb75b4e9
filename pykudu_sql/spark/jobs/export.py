"""`export`: a table, or what it was at some moment, to Parquet or CSV files, on Spark.

The files appear under the target's name together and whole, or not at all.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pykudu_sql.spark.jobs.report import JobReport, RowCounter, Stopwatch, appearing, size_of
from pykudu_sql.spark.session import start_session
from pykudu_sql.spark.tables import read_table
from pykudu_sql.storage.errors import InvalidValueError, OperationalError

FORMATS: Final = ("parquet", "csv")


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
        master: where Spark runs.
        conf: settings of the Spark session.
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

    Raises:
        OperationalError: the target exists, or there is no Java or no such database.
        ProgrammingError: there is no such table or column.
    """
    chosen, place = options or ExportOptions(), Path(target)
    if chosen.file_format not in FORMATS:
        raise InvalidValueError(
            f"tables are not exported as '{chosen.file_format:.40}'",
            hint="choose one of " + ", ".join(FORMATS),
        )
    if place.exists() and not chosen.overwrite:
        raise OperationalError(
            f"'{target}' exists already", hint="say --overwrite to replace it", sqlstate="58P02"
        )
    watch, counter = Stopwatch(), RowCounter()
    spark = start_session(chosen.master, chosen.conf)
    rows = read_table(
        spark, database, table, columns=chosen.columns, where=chosen.where, as_of=chosen.as_of
    )
    with appearing(place) as unfinished:
        writer = counter.watch(rows).write.format(chosen.file_format)
        writer.options(**{"header": "true", **chosen.writer}).save(str(unfinished))
        size = size_of(unfinished)
        if place.is_dir():
            shutil.rmtree(place)
    return watch.report(counter.rows, size)
