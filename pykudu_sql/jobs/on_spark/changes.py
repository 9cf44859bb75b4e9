"""What commits did to the rows of a table between two moments, to files, on Spark."""

from pathlib import Path

from pykudu_sql.jobs.on_spark.export import save_files
from pykudu_sql.jobs.on_spark.row_counter import RowCounter
from pykudu_sql.jobs.on_spark.spark_errors import plain_spark_errors
from pykudu_sql.jobs.options import ChangesOptions
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import read_changes


def changes_on_spark(
    database: str, table: str, target: Path, since: str, options: ChangesOptions
) -> tuple[int, int]:
    """Write changes to a folder; how many there were, and bytes of the files.

    Args:
        database: its directory.
        table: its name.
        target: the folder.
        since: see `changes`.
        options: which and how.
    """
    counter = RowCounter()
    with plain_spark_errors():
        spark = start_session(options.master, options.conf)
        rows = read_changes(
            spark, database, table, since=since, until=options.until, columns=options.columns
        )
        size = save_files(counter.watch(rows), target, options.file_format, options.writer)
        return counter.rows, size
