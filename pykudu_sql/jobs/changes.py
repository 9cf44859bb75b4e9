"""`changes`: what commits did to the rows of a table between two moments, to files, on Spark."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pykudu_sql.jobs.export import check_target, save_files
from pykudu_sql.jobs.report import JobReport, RowCounter, Stopwatch
from pykudu_sql.spark.changes.change_feed import ChangeFeed
from pykudu_sql.spark.changes.change_options import ChangeOptions
from pykudu_sql.spark.options import TableLocation, distinct_names
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import read_changes


@dataclass(frozen=True, slots=True)
class ChangesOptions:
    """Which changes are written, and how.

    Attributes:
        until: the moment of the last commit; None for now.
        columns: names; None for all.
        file_format: parquet or csv.
        overwrite: whether a target that exists is replaced.
        writer: options of Spark's writer, such as `compression`.
    """

    until: str | None = None
    columns: tuple[str, ...] | None = None
    file_format: str = "parquet"
    overwrite: bool = False
    writer: Mapping[str, str] = field(default_factory=dict)
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)


def changes(
    database: str, table: str, target: str, since: str, options: ChangesOptions | None = None
) -> JobReport:
    """Write the changes of a table's rows by commits after one moment and up to another.

    Args:
        database: its directory.
        table: its name.
        target: the folder, made by this.
        since: a timestamp, a hybrid timestamp or the name of a snapshot.
        options: which and how; the defaults of `ChangesOptions` if None.

    Raises HistoryPurgedError: history does not reach back so far; OperationalError: the target
    exists, or there is no Java or no such database; ProgrammingError: there is no such table or
    column.
    """
    settings, place = options or ChangesOptions(), Path(target)
    check_target(place, settings.file_format, settings.overwrite)
    _check_changes(database, table, since, settings)
    watch, counter = Stopwatch(), RowCounter()
    spark = start_session(settings.master, settings.conf)
    rows = read_changes(
        spark, database, table, since=since, until=settings.until, columns=settings.columns
    )
    size = save_files(counter.watch(rows), place, settings.file_format, settings.writer)
    return watch.report(counter.rows, size)


def _check_changes(database: str, table: str, since: str, options: ChangesOptions) -> None:
    """Check that the changes can be read before Spark starts, which takes many seconds.

    Raises Error: they cannot; see `ChangeFeed`.
    """
    columns = None if options.columns is None else distinct_names(options.columns)
    place = TableLocation(database, table.lower())
    feed = ChangeFeed(ChangeOptions(place, columns, since, options.until))
    try:
        low, high = feed.window()
        feed.schema(high)
        feed.check_history(feed.named_table(high), low)
    finally:
        feed.close()
