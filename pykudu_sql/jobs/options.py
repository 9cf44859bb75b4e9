"""The options of each job; the defaults are those of the commands."""

from collections.abc import Mapping
from dataclasses import field

from pykudu_sql.dataclass import dataclass
from pykudu_sql.jobs.report import Progress, silent
from pykudu_sql.jobs.table_layout import NO_LAYOUT, TableLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Where a job runs: in this process or on Spark.

    Attributes:
        master, conf: of the Spark session, where Spark does it.
        engine: auto, local or spark.
        progress: called with how far the job is, where this process does it.
    """

    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    engine: str = "auto"
    progress: Progress = silent


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions(RunOptions):
    """How the files of a folder are written.

    Attributes:
        overwrite: whether a target that exists is replaced.
        writer: options of the writer, such as `compression`.
    """

    overwrite: bool = False
    writer: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadOptions(RunOptions):
    """How files are read, and what is done with their rows.

    Attributes:
        file_format: csv, json, parquet, orc or arrow; None takes it from the names.
        reader: options of the reader, such as `sep`.
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


@dataclass(frozen=True, slots=True)
class ExportOptions(OutputOptions):
    """What is exported.

    Attributes:
        file_format: parquet, csv, json, orc or arrow.
        columns: names; None for all.
        where: a condition in our SQL, or None.
        as_of: a timestamp, a hybrid timestamp or the name of a snapshot; None for now.
    """

    file_format: str = "parquet"
    columns: tuple[str, ...] | None = None
    where: str | None = None
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class ChangesOptions(OutputOptions):
    """Which changes are written.

    Attributes:
        until: the moment of the last commit; None for now.
        columns: names; None for all.
        file_format: see `ExportOptions`.
    """

    until: str | None = None
    columns: tuple[str, ...] | None = None
    file_format: str = "parquet"


@dataclass(frozen=True, slots=True)
class BackupOptions(RunOptions):
    """How a step is made; either engine copies files.

    `full`: read and check all files again, though steps before have them.
    """

    full: bool = False


@dataclass(frozen=True, slots=True)
class RestoreOptions(RunOptions):
    """What is restored; either engine copies files.

    Attributes:
        to: the number of a step, or a moment: the last step that is not later; None for the last.
        tables: these alone; empty for everything: databases, tables, views and settings.
        name: that the one table gets; None for the one it had.
    """

    to: str | None = None
    tables: tuple[str, ...] = ()
    name: str | None = None
