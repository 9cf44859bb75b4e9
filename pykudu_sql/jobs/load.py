"""`load`: files into a table, all of it in one commit or none.

Rows that do not fit the table (no number where one must be, NULL where none may be, a line that
cannot be taken apart, a key outside all ranges) end the job, or go to a file of rejects with the
place and the reason of each, up to a limit. With such a file so do rows whose keys do not fit the
operation: a key that is there already, or twice in the files, or missing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pykudu_sql.dataclass import dataclass
from pykudu_sql.jobs.engine_choice import choose_engine
from pykudu_sql.jobs.in_process.source_files import (
    check_no_source,
    source_bytes,
    spark_only_feature,
)
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.jobs.rejects import Reject, counted
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.target_folder import check_file
from pykudu_sql.jobs.target_table import created, existing_tables, no_table
from pykudu_sql.spark.options import operation_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import ProgrammingError

__all__ = ["LoadOptions", "load"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did. `rows`: written; `bytes`: of files; `rejects`: rows left out."""

    rows: int
    bytes: int
    rejects: Sequence[Reject]


class Loader(Protocol):
    """Reads the files of one load, on either engine."""

    def columns(self) -> Mapping[str, str]:
        """The columns of a table for the files: SQL types by name in lower case.

        Raises InvalidSchemaError: one is of a type that no table has.
        """

    def fill(self, table: TableInfo) -> Loaded:
        """Load the files into a table that is there. Raises Error: nothing was loaded."""


def load(
    database: str, table: str, sources: Sequence[str], options: LoadOptions | None = None
) -> JobReport:
    """Load files into a table; creates the database and the table where they are missing.

    Args:
        database: its directory.
        table: its name.
        sources: paths, folders or globs, of one format.
        options: how; the defaults of `LoadOptions` if None.

    Raises DataError: rows do not fit, and `rejects` is None, or they are more than `max_rejects`;
    IntegrityError: a key is there already, or twice, and the operation is insert; ProgrammingError:
    the table and the files do not go together; OperationalError: there is no such file, neither a
    database nor a key to make one with, or no Spark where that is asked for; LockedError: another
    process writes the database; FileAccessError: rejects would replace a file of a database, or one
    that is loaded.
    """
    watch, name = Stopwatch(), table.lower()
    load_options = options or LoadOptions()
    operation_of(load_options.operation)
    if isinstance(sources, str):
        raise ProgrammingError(
            f"the files to load are a list of paths, not {sources!r:.80}", hint='["rows.csv"]'
        )
    if load_options.rejects is not None:
        check_file(database, Path(load_options.rejects))
        check_no_source(load_options.rejects, sources)
    tables = existing_tables(database)
    target = tables.get(name)
    if target is None and not load_options.layout.primary_key:
        raise no_table(database, table, tables)
    alone = spark_only_feature(sources, load_options.reader)
    choice = choose_engine(load_options.engine, source_bytes(sources), alone)
    loader: Loader
    if choice.on_spark:
        from pykudu_sql.jobs.on_spark.load import SparkLoader

        loader = SparkLoader.of(database, sources, load_options)
    else:
        from pykudu_sql.jobs.in_process.load import LocalLoader

        loader = LocalLoader.of(database, sources, load_options)
    if target is not None:
        loaded = loader.fill(target)
    else:
        statement = load_options.layout.create_statement(name, loader.columns())
        with created(database, name, statement) as new:
            loaded = loader.fill(new)
    report = watch.report(loaded.rows, loaded.bytes, len(loaded.rejects), choice.reason)
    return report.because(counted(loaded.rejects))
