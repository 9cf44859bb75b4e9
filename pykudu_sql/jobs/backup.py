"""`backup`: all tables of a database at one moment, to Parquet, on Spark.

The first step into a folder is full; each later one holds what changed since. A table gets a full
copy then, too, where changes are not enough: it is new, a range partition was added or
dropped, or history does not reach back to the step before. Nothing stops meanwhile: all tables are
read as of one bound, and the database may be written on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pykudu_sql.files.appearing import appearing
from pykudu_sql.jobs.backup_manifest import (
    BackupStep,
    Content,
    TableBackup,
    read_steps,
    step_folder,
    total_bytes,
    written_files,
)
from pykudu_sql.jobs.report import JobReport, RowCounter, Stopwatch
from pykudu_sql.spark.reading.read_plan import open_to_read
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import read_changes, read_table
from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.common.rows.history_columns import CHANGE_TYPE
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, format_timestamp, last_before
from pykudu_sql.storage.errors import HistoryPurgedError, OperationalError
from pykudu_sql.storage.open_store import OpenStore


@dataclass(frozen=True, slots=True)
class BackupOptions:
    """How a step is made. `full`: all rows of all tables, though there are steps before."""

    full: bool = False
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)


def backup(database: str, target: str, options: BackupOptions | None = None) -> JobReport:
    """Add a step to a backup; the first one makes it.

    Args:
        database: its directory.
        target: the folder of the backup.
        options: how; the defaults of `BackupOptions` if None.

    Raises OperationalError: there is no such database, or the backup is of another one;
    CorruptionError: the backup or the database is damaged; HistoryPurgedError: history ended while
    a table was read; take a shorter way, or keep more.
    """
    settings, place = options or BackupOptions(), Path(target)
    watch = Stopwatch()
    opened = open_to_read(database)
    try:
        steps = read_steps(place)
        before = steps[-1] if steps else None
        _check_same(opened.store, before, target)
        job = _Step(
            start_session(settings.master, settings.conf),
            opened.store,
            database,
            before,
            opened.store.history.snapshots.hold_newest().bound,
            settings.full,
        )
        with appearing(step_folder(place, len(steps))) as folder:
            step, rows = job.run(folder, len(steps))
    finally:
        opened.release()
    kinds = {table.content for table in step.tables}
    kind = "changes and rows" if len(kinds) > 1 else "".join(kinds) or "no tables"
    note = f"step {step.number} ({kind}) as of {format_timestamp(last_before(step.bound))}"
    return watch.report(rows, total_bytes(step.tables), note=note)


def _check_same(store: OpenStore, before: BackupStep | None, target: str) -> None:
    if before is not None and before.database_id != store.database_id.hex():
        raise OperationalError(
            f"the backup at '{target}' is of another database",
            hint="give each database a folder of its own",
            sqlstate="55000",
        )


@dataclass(frozen=True, slots=True)
class _Step:
    """One step, being made.

    Attributes:
        store: the database, open to read.
        before: the step before, or None.
        bound: of the moment.
        full: whether all tables get a full copy.
    """

    spark: SparkSession
    store: OpenStore
    path: str
    before: BackupStep | None
    bound: SnapshotBound
    full: bool

    def run(self, folder: Path, number: int) -> tuple[BackupStep, int]:
        """Write all files and the manifest; the step, and how many rows it has."""
        folder.mkdir()
        catalog = self.store.catalog_at(self.bound)
        tables, rows = [], 0
        for table in sorted(catalog.tables.values(), key=lambda one: one.name):
            entry, count = self._write(folder, table)
            tables.append(entry)
            rows += count
        step = BackupStep(
            folder,
            number,
            self.store.database_id.hex(),
            self.bound,
            None if self.before is None else self.before.checksum,
            self.store.definitions.history_max_age,
            tuple(tables),
            tuple(catalog.views.values()),
            tuple(catalog.databases.values()),
        )
        step.write()
        return step, rows

    def _write(self, folder: Path, table: TableInfo) -> tuple[TableBackup, int]:
        since = self._changes_since(table)
        content = Content.ROWS if since is None else Content.CHANGES
        if since is not None and not self._was_touched(table, since):
            return TableBackup(table, content, ()), 0
        rows = self._rows(table) if since is None else self._changes(table, since)
        counter, place = RowCounter(), folder / table.id
        counter.watch(rows).write.parquet(str(place))
        return TableBackup(table, content, written_files(folder, place)), counter.rows

    def _changes_since(self, table: TableInfo) -> SnapshotBound | None:
        """The bound from which on changes describe all of a table; None if they do not."""
        if self.before is None or self.full:
            return None
        entry = self.before.entry(table.id)
        if entry is None or entry.table.tablets != table.tablets:
            return None
        try:
            self.store.history.hold((table,), self.before.bound)
        except HistoryPurgedError:
            return None
        return self.before.bound

    def _was_touched(self, table: TableInfo, since: SnapshotBound) -> bool:
        return any(self.store.tablets[info.id].newest >= since for info in table.tablets)

    def _rows(self, table: TableInfo) -> DataFrame:
        return read_table(self.spark, self.path, table.name, as_of=last_before(self.bound))

    def _changes(self, table: TableInfo, since: SnapshotBound) -> DataFrame:
        changes = read_changes(
            self.spark,
            self.path,
            table.name,
            since=last_before(since),
            until=last_before(self.bound),
        )
        return changes.where(f.col(CHANGE_TYPE) != "update_preimage")
