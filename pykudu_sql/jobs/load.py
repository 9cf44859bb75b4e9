"""`load`: files into a table, on Spark, all of it in one commit or none.

Rows that do not fit the table (no number where one must be, NULL where none may be, a line that
cannot be taken apart, a key outside all ranges) end the job, or go to a file of rejects with the
place and the reason of each, up to a limit. With such a file so do rows whose keys do not fit the
operation: a key that is there already, or twice in the files, or missing. The files are then read
twice, so that nothing is written before all rejects are known.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pykudu_sql.dbapi.connection import connect
from pykudu_sql.files.appearing import appearing, remove
from pykudu_sql.jobs.new_table import NO_LAYOUT, TableLayout, create_statement
from pykudu_sql.jobs.rejects import (
    SHOWN,
    Reject,
    SourceFiles,
    counted,
    find_rejects,
    located,
    too_many,
    unfit_rows,
    write_rejects,
)
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.row_check import REASON, RowCheck, columns_in_files
from pykudu_sql.jobs.source_files import (
    FORMATS,
    NUMBER,
    TYPED,
    check_present,
    format_of,
    read_files,
)
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.spark.options import operation_of
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import WriteReport, write_table
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.errors import (
    Error,
    InvalidValueError,
    OperationalError,
    UndefinedTableError,
)
from pykudu_sql.storage.fs import layout as files


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How files are read and written.

    Attributes:
        file_format: csv, parquet, json or orc; None takes it from the names.
        reader: options of Spark's reader, such as `sep`.
        operation: what is done with each row: insert, insert_ignore, upsert, ...
        rejects: the file for rows that do not fit; None makes any such row an error.
        max_rejects: more of them are an error.
        layout: key and partitions of a table that does not exist yet.
    """

    file_format: str | None = None
    reader: Mapping[str, str] = field(default_factory=dict)
    operation: str = "insert"
    rejects: str | None = None
    max_rejects: int = 10_000
    layout: TableLayout = NO_LAYOUT
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)


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
    the table and the files do not go together; OperationalError: there is no Java, no such file, or
    neither a database nor a key to make one with; or another process holds the database.
    """
    load_options = options or LoadOptions()
    file_format = load_options.file_format or format_of(sources)
    if file_format not in FORMATS:
        raise InvalidValueError(
            f"there is no format '{file_format:.40}'", hint="choose one of " + ", ".join(FORMATS)
        )
    operation_of(load_options.operation)
    watch, name = Stopwatch(), table.lower()
    tables = _tables(database)
    target = tables.get(name)
    if target is None and not load_options.layout.primary_key:
        raise _no_table(database, table, tables)
    check_present(sources, load_options.conf)
    spark = start_session(load_options.master, load_options.conf)
    if target is not None:
        written, left_out = _fill(spark, database, target, sources, file_format, load_options)
        return _reported(watch, written, left_out)
    inferred = read_files(spark, sources, file_format, None, load_options.reader)
    statement = create_statement(name, inferred, load_options.layout)
    with _created(database, name, statement) as created:
        written, left_out = _fill(spark, database, created, sources, file_format, load_options)
    return _reported(watch, written, left_out)


def _no_table(database: str, table: str, tables: Mapping[str, TableInfo]) -> Error:
    """The error for files without a table to go to, and without the key of a new one."""
    if not os.path.lexists(files.current_path(database)):
        return OperationalError(
            f"there is no database at '{database}'",
            hint="--primary-key COLUMN,.. makes it, and the table",
            sqlstate="58P01",
        )
    suggestion = near(table.lower(), tables)
    return UndefinedTableError(
        f"table '{table:.80}' does not exist, and a new table needs a primary key",
        hint=(f"{suggestion} " if suggestion else "") + "--primary-key COLUMN,.. makes a new one",
    )


def _reported(watch: Stopwatch, written: WriteReport, left_out: Sequence[Reject]) -> JobReport:
    report = watch.report(written.rows, written.bytes, len(left_out))
    return replace(report, reasons=counted(left_out))


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
    judged = check.judged(rows)
    source = SourceFiles(file_format, options.reader)
    if options.rejects is None:
        _check_all_fit(check, judged, source)
        fit = check.fitting(judged)
        return write_table(fit, database, table.name, operation=options.operation), []
    kind = operation_of(options.operation)
    rejects = find_rejects(check, judged, database, kind, options.max_rejects)
    if len(rejects) > options.max_rejects:
        raise too_many(
            located(rejects[:SHOWN], judged, source),
            f"more than {options.max_rejects:,}",
            "--max-rejects N permits more",
        )
    rejects = located(rejects, judged, source)
    fit = _without(check.fitting(judged, NUMBER), [one.number for one in rejects])
    with appearing(Path(options.rejects)) as unfinished:
        write_rejects(rejects, unfinished)
        return write_table(fit, database, table.name, operation=options.operation), rejects


def _without(rows: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """Rows but for those of some numbers."""
    if numbers:
        left_out = rows.sparkSession.createDataFrame([(n,) for n in numbers], f"{NUMBER} bigint")
        rows = rows.join(f.broadcast(left_out), NUMBER, "left_anti")
    return rows.drop(NUMBER)


def _check_all_fit(check: RowCheck, judged: DataFrame, source: SourceFiles) -> None:
    """See that all rows fit, where those that do not have no place to go.

    Raises DataError: one does not; the message has their count and the first ones.
    """
    first = unfit_rows(check, judged, SHOWN)
    if first:
        count = judged.where(f.col(REASON) != "").count()
        hint = "--rejects FILE puts such rows there and loads the others"
        raise too_many(located(first, judged, source), f"{count:,}", hint)


def _tables(database: str) -> Mapping[str, TableInfo]:
    """The tables as they are now; none if the database is not there yet."""
    from pykudu_sql.database import Database

    if not os.path.lexists(files.current_path(database)):
        return {}
    opened = Database(database, DatabaseSettings(read_only=True, threads=1)).acquire()
    try:
        return opened.store.catalog.tables
    finally:
        opened.release()


@contextmanager
def _created(database: str, table: str, statement: str) -> Iterator[TableInfo]:
    """A new table, which goes if the load does not succeed, and the database with it if it is new.

    Whoever has written to the table meanwhile keeps it.
    """
    is_new = not Path(database).exists()
    try:
        with connect(database, autocommit=True) as connection:
            connection.execute(statement)
        table_info = _tables(database)[table]
        try:
            yield table_info
        except BaseException:
            with suppress(Error):
                _drop_if_empty(database, table_info)
            raise
    except BaseException:
        if is_new and not _tables(database):
            remove(Path(database))
        raise


def _drop_if_empty(database: str, created: TableInfo) -> None:
    name = ".".join(map(quote_name, created.name.split(".")))
    with connect(database, autocommit=True) as connection:
        is_same = _tables(database).get(created.name) == created
        if is_same and not connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall():
            connection.execute(f"DROP TABLE {name}")
