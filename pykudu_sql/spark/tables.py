"""Tables as DataFrames and back, for a program that has a Spark session.

    df = read_table(spark, "/data/my.db", "t", where="k > 5", as_of="monday")
    write_table(df, "/data/my.db", "t2", operation="upsert")

The difference to `format("pykudu")` alone: the write is committed by this very process, so it may
have the database open; and errors are our own classes.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from pykudu_sql.database import MEMORY
from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.arrow.arrow_types import spark_schema
from pykudu_sql.spark.failures import database_errors
from pykudu_sql.spark.known_source import with_known_source
from pykudu_sql.spark.options import ReadOptions, distinct_names
from pykudu_sql.spark.reading.lease_registry import retain_lease
from pykudu_sql.spark.reading.read_plan import read_planner
from pykudu_sql.spark.reading.table_frame import with_count
from pykudu_sql.spark.reading.token_frame import parallelism, token_frame
from pykudu_sql.spark.sessions.active_session import active_session, is_classic
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.writing.staged_job import WAIT_SECONDS, commit_alone
from pykudu_sql.spark.writing.write_record import read_record
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, last_before
from pykudu_sql.storage.errors import (
    DiskError,
    NotSupportedError,
    ProgrammingError,
)
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import create_staging, remove_staging
from pykudu_sql.storage.log.manifest import no_database
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.remote.staged_commit import WriteReport, commit_staged

__all__ = [
    "SparkTables", "WriteReport", "active_session", "read_changes", "read_table", "write_table",
]  # fmt: skip


def read_table(
    spark: SparkSession,
    path: str,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    as_of: str | int | None = None,
    split_bytes: int | None = None,
) -> DataFrame:
    """A table at one snapshot.

    Args:
        table: its name.
        columns: names of those wanted; all when None.
        where: a condition in our SQL on the columns of the table.
        as_of: a timestamp as text, a hybrid timestamp, or the name of a snapshot; None for now.
        split_bytes: that one task reads, about.

    Raises ProgrammingError: `columns` is one text or names none; Error: there is no such table,
    column or moment.
    """
    if isinstance(columns, str) or (columns is not None and not columns):
        raise ProgrammingError(
            f"columns of table '{table:.80}' are a list of at least one name, not {columns!r:.80}",
            hint='columns=["host", "load"]',
        )
    options = {
        "table": table,
        "where": where,
        "asOf": None if as_of is None else str(as_of),
        "splitBytes": None if split_bytes is None else str(split_bytes),
    }
    present = {name: value for name, value in options.items() if value is not None}
    if not is_classic(spark):
        if columns is not None:
            present["columns"] = ",".join(columns)
        with database_errors():
            read = spark.read.format("pykudu").options(**present)
            return with_known_source(spark, lambda: read.load(path))
    present["tasks"] = str(parallelism(spark))
    read_options = replace(
        ReadOptions.of({**{name.lower(): value for name, value in present.items()}, "path": path}),
        columns=None if columns is None else distinct_names(columns),
    )
    with read_planner(read_options) as planner:
        available = planner.columns()
        plan = planner.plan(available)
    if plan.scan.lease is not None:
        retain_lease(plan.scan.lease)
    location = read_options.location
    frame = token_frame(spark, location, plan, spark_schema(available), available)
    return with_count(frame, location, plan)


def read_changes(
    spark: SparkSession,
    path: str,
    table: str,
    *,
    since: str | int,
    until: str | int | None = None,
    columns: Sequence[str] | None = None,
) -> DataFrame:
    """The changes of a table's rows by commits after one moment and up to another.

    Args:
        table: its name, as of the later moment.
        since: a timestamp as text, a hybrid timestamp, or the name of a snapshot.
        until: the same; None for now.
        columns: names of those wanted; all when None.

    Returns the columns, `_change_type` and `_commit_timestamp`, which is a hybrid time. Raises
    HistoryPurgedError: history does not reach back so far; Error: there is no such table, column or
    moment.
    """
    options = {
        "table": table,
        "readChangeFeed": "true",
        "startingTimestamp": str(since),
        "endingTimestamp": None if until is None else str(until),
        "columns": None if columns is None else ",".join(columns),
    }
    present = {name: value for name, value in options.items() if value is not None}
    with database_errors():
        read = spark.read.format("pykudu").options(**present)
        return with_known_source(spark, lambda: read.load(path))


def write_table(
    frame: DataFrame,
    path: str,
    table: str,
    *,
    operation: str = "insert",
    overwrite: bool = False,
    write_id: str | None = None,
    store: OpenStore | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> WriteReport:
    """Write a DataFrame to a table, all of it at one moment or nothing.

    Args:
        frame: its columns go by name; those left out take their defaults.
        table: its name.
        operation: insert, insert_ignore, upsert, update, update_ignore, delete or delete_ignore.
        overwrite: the rows take the place of all that the table has.
        write_id: a name under which the write is done at most once.
        store: the database, where this process has it open; else it is opened for the commit, once
            the tasks are done.
        wait_seconds: how long to wait then for another process that writes it.

    Raises AlreadyPresentError: a key is in the DataFrame twice, or in the table;
    SerializationError: another commit changed the same rows; LockedError: another process writes
    the database; Error: the DataFrame does not fit; nothing was written.
    """
    env = LocalEnv()
    root = env.resolve(path)
    if not env.exists(layout.current_path(root)):
        raise no_database(env, root, path)
    staging_id, lock = create_staging(env, root)
    try:
        options = {"table": table, "operation": operation, "stagingId": staging_id}
        mode = "overwrite" if overwrite else "append"
        with database_errors(), active_session(frame.sparkSession) as spark:
            write = frame.write.format("pykudu").mode(mode).options(**options)
            with_known_source(spark, lambda: write.save(root))
        batch = None if write_id is None else WriterBatch(write_id, 0)
        staged = read_record(root, staging_id, batch)
        if store is None:
            return commit_alone(staged, wait_seconds)
        return commit_staged(env, store, staged)
    finally:
        with suppress(DiskError):
            remove_staging(env, root, staging_id)
        lock.release()


@dataclass(frozen=True, slots=True)
class SparkTables:
    """The tables of a database that this process has open, on Spark; see `Connection.spark`.

    `moment`: the bound that the connection reads at; None for now.
    """

    session: SparkSession
    store: OpenStore
    moment: Callable[[], SnapshotBound | None]

    def read_table(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        as_of: str | int | None = None,
    ) -> DataFrame:
        """A table at one snapshot: the one that a SELECT of the connection would read.

        See `read_table`. Raises NotSupportedError: the open transaction has changes, and `as_of` is
        not given.
        """
        path, moment = self.store.path, self._moment_or(as_of)
        return read_table(self.session, path, table, columns=columns, where=where, as_of=moment)

    def _moment_or(self, explicit: str | int | None) -> str | int | None:
        """A moment as the caller gave it, or else that of the connection."""
        if explicit is not None:
            return explicit
        bound = self.moment()
        return None if bound is None else last_before(bound)

    def read_changes(
        self,
        table: str,
        *,
        since: str | int,
        until: str | int | None = None,
        columns: Sequence[str] | None = None,
    ) -> DataFrame:
        """What commits did to the rows of a table; see `read_changes`.

        Raises NotSupportedError: the open transaction has changes, and `until` is not given.
        """
        path, last = self.store.path, self._moment_or(until)
        return read_changes(self.session, path, table, since=since, until=last, columns=columns)

    def write_table(
        self,
        frame: DataFrame,
        table: str,
        *,
        operation: str = "insert",
        overwrite: bool = False,
        write_id: str | None = None,
    ) -> WriteReport:
        """Write a DataFrame as a commit of this database; see `write_table`."""
        return write_table(
            frame,
            self.store.path,
            table,
            operation=operation,
            overwrite=overwrite,
            write_id=write_id,
            store=self.store,
        )


def tables_of(
    store: OpenStore,
    path: str,
    master: str,
    conf: Mapping[str, str],
    moment: Callable[[], SnapshotBound | None],
) -> SparkTables:
    """The tables of an open database, in a session that is started if there is none.

    `path`: as it was opened; `master`, `conf`: see `start_session`; `moment`: see `SparkTables`.
    Raises NotSupportedError: it is in memory, where no other process can read; OperationalError:
    there is no Java.
    """
    if path == MEMORY:
        raise NotSupportedError(
            "Spark cannot read a database in memory", hint="open one in a directory"
        )
    return SparkTables(start_session(master, conf), store, moment)
