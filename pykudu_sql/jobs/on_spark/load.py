"""Loads on Spark: the files are checked by tasks, then written by tasks, and committed here.

They are read twice, so that nothing is written before all rejects are known. What can be read as by
a load in one process is (`local_files`), and other files by Spark's own readers (`reader_rows`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.atomic_output import atomic_output
from pykudu_sql.files.inferred_table import infer_columns
from pykudu_sql.jobs.in_process.source_files import SourceFile
from pykudu_sql.jobs.load import Loaded
from pykudu_sql.jobs.on_spark.key_check import find_key_conflicts
from pykudu_sql.jobs.on_spark.local_files import checked_files, columns_of, keyed_files, local_files
from pykudu_sql.jobs.on_spark.new_table import column_types
from pykudu_sql.jobs.on_spark.reader_rows import checked_rows, columns_in_files
from pykudu_sql.jobs.on_spark.rejects import (
    LocalPlaces,
    Places,
    ReaderPlaces,
    RejectedRow,
    find_rejects,
)
from pykudu_sql.jobs.on_spark.row_check import KIND, NUMBER, RowCheck
from pykudu_sql.jobs.on_spark.source_files import (
    FORMATS,
    TYPED,
    check_present,
    format_of,
    read_files,
)
from pykudu_sql.jobs.on_spark.spark_errors import plain_spark_errors
from pykudu_sql.jobs.options import LoadOptions
from pykudu_sql.jobs.rejects import MAX_LISTED_REJECTS, unfit_rows_error, write_rejects
from pykudu_sql.spark.options import operation_of
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import WriteReport, write_table
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DataError,
    IntegrityError,
    InvalidValueError,
    RowNotFoundError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import StageTarget


@dataclass(frozen=True, slots=True)
class SparkLoader:
    """A `Loader` in a Spark session.

    Attributes:
        database: its directory.
        sources: as the user names them.
        file_format: of them.
        files: those that are read here; None where Spark reads them.
    """

    spark: SparkSession
    database: str
    sources: Sequence[str]
    file_format: str
    options: LoadOptions
    files: Sequence[SourceFile] | None

    @classmethod
    def of(cls, database: str, sources: Sequence[str], options: LoadOptions) -> "SparkLoader":
        """Check what can be checked, and start Spark.

        Raises InvalidValueError: the format is not known; OperationalError: there is no such file,
        or no Java; Error: see `local_files`.
        """
        check_present(sources, options.conf)
        files = local_files(database, sources, options)
        file_format = files[0].kind.format if files else options.file_format or format_of(sources)
        if files is None and file_format not in FORMATS:
            raise InvalidValueError(
                f"Spark reads no files of format '{file_format:.40}'",
                hint="choose one of " + ", ".join(FORMATS),
            )
        with plain_spark_errors():
            spark = start_session(options.master, options.conf)
        return cls(spark, database, sources, file_format, options, files)

    def columns(self) -> Mapping[str, str]:
        if self.files is not None:
            return infer_columns([(one.file, one.kind) for one in self.files if not one.is_empty])
        with plain_spark_errors():
            rows = read_files(self.spark, self.sources, self.file_format, None, self.options.reader)
            return column_types(rows)

    def fill(self, table: TableInfo) -> Loaded:
        root = LocalEnv().resolve(self.database)
        target = StageTarget(root, b"", table, operation_of(self.options.operation), "")
        with plain_spark_errors():
            rows = self._rows(target)
            if rows is None:
                return _nothing(self.options)
            load = _load if self.options.rejects is None else _load_some
            loaded = load(rows, self.options)
        if self.files is None:
            return loaded
        return replace(loaded, bytes=sum(one.file.size for one in self.files))

    def _rows(self, target: StageTarget) -> "CheckedRows | None":
        """The rows of all files; None if there are none."""
        table, kind = target.table, target.kind
        if self.files is not None:
            files = keyed_files(self.spark, self.files, table, kind)
            columns = columns_of(files, table, kind)
            if not columns:
                return None
            check = RowCheck.of(target, columns)
            checked = checked_files(self.spark, files, check, table)
            return CheckedRows(target, check, checked, LocalPlaces(files, table))
        format_, options = self.file_format, self.options.reader
        rows = read_files(self.spark, self.sources, format_, table.schema.columns, options)
        typed = format_ in TYPED
        columns = columns_in_files(rows, table.schema.columns, table.name, typed)
        check = RowCheck.of(target, columns)
        checked = checked_rows(rows, format_, columns, check, table)
        return CheckedRows(target, check, checked, ReaderPlaces(checked, format_, options))


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """The rows of a load: those that fit, and why others do not.

    `target`: of the load; `checked`: see `RowCheck.schema`; `places`: of the rows.
    """

    target: StageTarget
    check: RowCheck
    checked: DataFrame
    places: Places

    def counts(self) -> tuple[int, int]:
        """How many rows there are, and how many of them do not fit whatever their keys are."""
        (counts,) = self.checked.agg(f.count(f.lit(1)), f.count(KIND)).collect()
        return counts[0], counts[1]

    def write(self, rejected: Sequence[RejectedRow]) -> WriteReport:
        """Load the rows that fit, but for some. Raises Error: see `write_table`."""
        table, rows = self.target.table, self.checked.where(f.col(KIND).isNull())
        if rejected:
            numbers = [(one.number,) for one in rejected]
            left_out = rows.sparkSession.createDataFrame(numbers, f"{NUMBER} bigint")
            rows = rows.join(f.broadcast(left_out), NUMBER, "left_anti")
        names = [table.schema.by_id[i].name for i in self.check.column_ids]
        fit = rows.select(*(f.col(f"c{place}").alias(name) for place, name in enumerate(names)))
        operation = self.target.kind.lower()
        return write_table(fit, self.target.root, table.name, operation=operation)

    def rejects(self, limit: int) -> list[RejectedRow]:
        """The first rows that do not fit; one more than `limit` if there are so many."""
        return find_rejects(self.check, self.checked, self.target, limit)

    def error(self, unfit: int) -> DataError | IntegrityError:
        """What to raise where none may be left out. `unfit`: of `counts`."""
        conflicts = find_key_conflicts(self.check, self.checked, self.target)
        keys = 0 if conflicts is None else conflicts.select(NUMBER).distinct().count()
        first = self.places.located(self.rejects(MAX_LISTED_REJECTS)[:MAX_LISTED_REJECTS])
        return unfit_rows_error(first, unfit + keys, None)


def _load(rows: CheckedRows, options: LoadOptions) -> Loaded:
    """Load all rows, or none.

    Raises DataError, IntegrityError: one does not fit; the message has their count and the first.
    """
    count, unfit = rows.counts()
    if unfit:
        raise rows.error(unfit)
    try:
        return Loaded(count, rows.write(()).bytes, [])
    except (AlreadyPresentError, RowNotFoundError) as error:
        if not rows.rejects(0):
            raise
        raise rows.error(0) from error


def _load_some(rows: CheckedRows, options: LoadOptions) -> Loaded:
    """Load the rows that fit, and write the others to a file.

    Raises DataError: they are more than permitted.
    """
    count, _ = rows.counts()
    rejected = rows.rejects(options.max_rejects)
    if len(rejected) > options.max_rejects:
        first = rows.places.located(rejected[:MAX_LISTED_REJECTS])
        raise unfit_rows_error(first, len(rejected), options.max_rejects)
    rejects = rows.places.located(rejected)
    with atomic_output(Path(str(options.rejects))) as unfinished:
        write_rejects(rejects, unfinished)
        return Loaded(count - len(rejects), rows.write(rejected).bytes, rejects)


def _nothing(options: LoadOptions) -> Loaded:
    """The load of files that have no rows."""
    if options.rejects is not None:
        with atomic_output(Path(options.rejects)) as unfinished:
            write_rejects([], unfinished)
    return Loaded(0, 0, [])
