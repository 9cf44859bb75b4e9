"""`export`: a table, or what it was at some moment, to a folder of files.

The files appear under the target's name together and whole, or not at all.
"""

from pathlib import Path

from pykudu_sql.jobs.engine_choice import choose_engine
from pykudu_sql.jobs.in_process.export import TableRows, write_rows
from pykudu_sql.jobs.in_process.output_files import spark_only_feature
from pykudu_sql.jobs.options import ExportOptions
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.target_folder import check_target

__all__ = ["ExportOptions", "export"]


def export(
    database: str, table: str, target: str, options: ExportOptions | None = None
) -> JobReport:
    """Write the rows of a table to a folder of files.

    Args:
        database: its directory, which may be in use.
        table: its name.
        target: the folder, made by this.
        options: what and how; the defaults of `ExportOptions` if None.

    Raises OperationalError: the target exists, or there is no such database, or no Spark where that
    is asked for; ProgrammingError: there is no such table or column.
    """
    watch, settings, place = Stopwatch(), options or ExportOptions(), Path(target)
    check_target(database, place, settings.file_format, settings.overwrite)
    with TableRows.planned(database, table, settings) as rows:
        alone = spark_only_feature(settings.writer)
        choice = choose_engine(settings.engine, rows.size, alone)
        if not choice.on_spark:
            count, size = write_rows(rows, place, settings)
            return watch.report(count, size, note=choice.reason)
    from pykudu_sql.jobs.on_spark.export import export_on_spark

    count, size = export_on_spark(database, table, place, settings)
    return watch.report(count, size, note=choice.reason)
