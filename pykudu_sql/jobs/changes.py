"""`changes`: what commits did to the rows of a table between two moments, to a folder of files."""

from pathlib import Path

from pykudu_sql.jobs.engine_choice import choose_engine
from pykudu_sql.jobs.in_process.changes import ChangedRows
from pykudu_sql.jobs.in_process.output_files import spark_only_feature, write_files
from pykudu_sql.jobs.options import ChangesOptions
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.target_folder import atomic_folder, check_target

__all__ = ["ChangesOptions", "changes"]


def changes(
    database: str, table: str, target: str, since: str, options: ChangesOptions | None = None
) -> JobReport:
    """Write the changes of a table's rows by commits after one moment and up to another.

    Args:
        database: its directory, which may be in use.
        table: its name.
        target: the folder, made by this.
        since: a timestamp, a hybrid timestamp or the name of a snapshot.
        options: which and how; the defaults of `ChangesOptions` if None.

    Raises HistoryPurgedError: history does not reach back so far; OperationalError: the target
    exists, or there is no such database, or no Spark where that is asked for; ProgrammingError:
    there is no such table or column.
    """
    watch, settings, place = Stopwatch(), options or ChangesOptions(), Path(target)
    check_target(database, place, settings.file_format, settings.overwrite)
    with ChangedRows.planned(database, table, since, settings) as rows:
        choice = choose_engine(settings.engine, 0, spark_only_feature(settings.writer))
        if not choice.on_spark:
            with atomic_folder(place) as folder:
                count, size = write_files(
                    rows.batches(),
                    rows.schema,
                    folder,
                    settings.file_format,
                    settings.writer,
                    settings.progress,
                )
            return watch.report(count, size, note=choice.reason)
    from pykudu_sql.jobs.on_spark.changes import changes_on_spark

    count, size = changes_on_spark(database, table, place, since, settings)
    return watch.report(count, size, note=choice.reason)
