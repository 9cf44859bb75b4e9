"""What may be said of each job; the defaults are those of the commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pykudu_sql.jobs.report import Progress, silent
from pykudu_sql.jobs.table_layout import NO_LAYOUT, TableLayout


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How files are read and written.

    Attributes:
        file_format: csv, json, parquet, orc or arrow; None takes it from the names.
        reader: options of the reader, such as `sep`.
        operation: what is done with each row: insert, insert_ignore, upsert, ...
        rejects: the file for rows that do not fit; None makes any such row an error.
        max_rejects: more of them are an error.
        layout: key and partitions of a table that does not exist yet.
        master, conf: of the Spark session, where Spark does it.
        engine: auto, local or spark.
        progress: told how far the job is, where this process does it.
    """

    file_format: str | None = None
    reader: Mapping[str, str] = field(default_factory=dict)
    operation: str = "insert"
    rejects: str | None = None
    max_rejects: int = 10_000
    layout: TableLayout = NO_LAYOUT
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    engine: str = "auto"
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is exported, and how.

    Attributes:
        file_format: parquet, csv, json, orc or arrow.
        columns: names; None for all.
        where: a condition in our SQL, or None.
        as_of: a timestamp, a hybrid timestamp or the name of a snapshot; None for now.
        overwrite: whether a target that exists is replaced.
        writer: options of the writer, such as `compression`.
        master, conf, engine, progress: see `LoadOptions`.
    """

    file_format: str = "parquet"
    columns: tuple[str, ...] | None = None
    where: str | None = None
    as_of: str | None = None
    overwrite: bool = False
    writer: Mapping[str, str] = field(default_factory=dict)
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    engine: str = "auto"
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class ChangesOptions:
    """Which changes are written, and how.

    Attributes:
        until: the moment of the last commit; None for now.
        columns: names; None for all.
        file_format, overwrite, writer: see `ExportOptions`.
        master, conf, engine, progress: see `LoadOptions`.
    """

    until: str | None = None
    columns: tuple[str, ...] | None = None
    file_format: str = "parquet"
    overwrite: bool = False
    writer: Mapping[str, str] = field(default_factory=dict)
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    engine: str = "auto"
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class BackupOptions:
    """How a step is made.

    Attributes:
        full: read and check all files again, though steps before have them.
        master, conf, engine, progress: see `LoadOptions`; either engine copies files.
    """

    full: bool = False
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    engine: str = "auto"
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """What is restored.

    Attributes:
        to: the number of a step, or a moment: the last step that is not later; None for the last.
        tables: these alone; empty for everything: databases, tables, views and settings.
        name: that the one table gets; None for the one it had.
        master, conf, engine, progress: see `LoadOptions`; either engine copies files.
    """

    to: str | None = None
    tables: tuple[str, ...] = ()
    name: str | None = None
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    engine: str = "auto"
    progress: Progress = silent
