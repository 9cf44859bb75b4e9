"""`restore`: tables of a backup, as they were at any of its steps, into a database.

Tables are made anew, with the column ids they had, so that later backups and files keep their
meaning; rows come in one commit a table. What goes wrong takes away what this job has made.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from pykudu_sql.database import open_database
from pykudu_sql.files.appearing import remove
from pykudu_sql.jobs.backup_manifest import (
    BackupStep,
    TableBackup,
    chain_of,
    existing_steps,
    total_bytes,
)
from pykudu_sql.jobs.report import JobReport, Stopwatch
from pykudu_sql.jobs.restored_rows import restored_rows
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.spark.sessions.session import start_session
from pykudu_sql.spark.tables import write_table
from pykudu_sql.storage.common.types.cells import to_cell
from pykudu_sql.storage.common.types.hybrid_time import (
    SnapshotBound,
    Timestamp,
    bound_at,
    bound_at_micros,
    format_timestamp,
    last_before,
)
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import (
    DataError,
    DuplicateObjectError,
    InvalidValueError,
    ProgrammingError,
    UndefinedTableError,
)
from pykudu_sql.storage.open_store import OpenStore

_TIME = DataType(Kind.UNIXTIME_MICROS)
_MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """What is restored.

    Attributes:
        to: the number of a step, or a moment: the last step that is not later; None for the last.
        table: one table alone; None for everything: databases, tables, views and settings.
        name: that the one table gets; None for the one it had.
    """

    to: str | None = None
    table: str | None = None
    name: str | None = None
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)


def restore(source: str, database: str, options: RestoreOptions | None = None) -> JobReport:
    """Make tables of a backup in a database, which is made if it is not there.

    Args:
        source: the folder of the backup.
        database: its directory; this process may have it open.
        options: what; the defaults of `RestoreOptions` if None.

    Raises OperationalError: there is no such backup, or another process writes the database;
    CorruptionError: a file of the backup is not what was written; UndefinedTableError: the step has
    no such table; DuplicateObjectError: the database has a table, view or database of that name.
    """
    settings, watch = options or RestoreOptions(), Stopwatch()
    if settings.name is not None and settings.table is None:
        raise ProgrammingError("a new name is for one table", hint="say which: --table t --as u")
    steps = steps_until(existing_steps(Path(source)), settings.to)
    entries = _entries(steps[-1], settings.table)
    chains = [chain_of(steps, entry.table.id) for entry in entries]
    for step, entry in (pair for chain in chains for pair in chain):
        for file in entry.files:
            file.check(step.folder)
    spark = start_session(settings.master, settings.conf)
    with _receiving(database) as store:
        job = _Restore(spark, store, steps[-1], settings.name)
        if settings.table is None:
            rows = job.run_all(chains)
        else:
            with job.undoing():
                rows = job.table(chains[0])
    size = sum(total_bytes([entry]) for chain in chains for _, entry in chain)
    note = f"step {steps[-1].number} as of {format_timestamp(last_before(steps[-1].bound))}"
    return watch.report(rows, size, note=note)


def steps_until(steps: Sequence[BackupStep], to: str | None) -> Sequence[BackupStep]:
    """The steps up to the requested one.

    `steps`: of a backup, oldest first; `to`: see `RestoreOptions`. Raises InvalidValueError: none
    is meant.
    """
    if to is None:
        return steps
    if to.isascii() and to.isdigit() and int(to) < _MOST_STEPS:
        selection = steps[: int(to) + 1] if int(to) < len(steps) else ()
    else:
        bound = _bound_of(to)
        selection = [step for step in steps if step.bound <= bound]
    if not selection:
        raise InvalidValueError(
            f"the backup has no step '{to}'",
            hint="its steps are "
            + ", ".join(f"{s.number} ({format_timestamp(last_before(s.bound))})" for s in steps),
        )
    return selection


def _bound_of(moment: str) -> SnapshotBound:
    """The bound of a hybrid timestamp in digits, or of a time."""
    if moment.isascii() and moment.isdigit():
        return bound_at(Timestamp(int(moment)))
    try:
        micros = to_cell(moment, _TIME)
    except DataError as error:
        raise InvalidValueError(
            f"'{moment:.60}' is neither a step nor a moment",
            hint="write 2, or '2026-01-31 12:00:00', or a hybrid timestamp",
        ) from error
    return bound_at_micros(int(str(micros)))


def _entries(step: BackupStep, name: str | None) -> list[TableBackup]:
    if name is None:
        return list(step.tables)
    entries = [entry for entry in step.tables if entry.table.name == name.lower()]
    if not entries:
        names = ", ".join(entry.table.name for entry in step.tables)
        raise UndefinedTableError(
            f"the backup has no table '{name}' at step {step.number}", hint=f"it has {names}"
        )
    return entries


@contextmanager
def _receiving(database: str) -> Iterator[OpenStore]:
    """A database to restore into; a new one goes if that fails."""
    folder = Path(database)
    is_new = not folder.exists()
    opened = open_database(database, DatabaseSettings())
    try:
        yield opened.store
    except BaseException:
        opened.release()
        if is_new:
            remove(folder)
        raise
    opened.release()


@dataclass(slots=True)
class _Restore:
    """One restore, under way.

    Attributes:
        store: of the database, open to write.
        step: that is restored.
        name: that the one table gets, or None.
        objects: ids of the views and databases made so far.
        tables: names of the tables made so far.
    """

    spark: SparkSession
    store: OpenStore
    step: BackupStep
    name: str | None
    objects: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Take away what was made if something goes wrong."""
        try:
            yield
        except BaseException:
            for object_id in self.objects:
                self.store.definitions.drop_object(object_id)
            for name in self.tables:
                self.store.drop_table(name)
            raise

    def run_all(self, chains: Sequence[Sequence[tuple[BackupStep, TableBackup]]]) -> int:
        """Restore everything; how many rows that were."""
        self._check_free()
        with self.undoing():
            for database in self.step.databases:
                self.store.definitions.put_object(database)
                self.objects.append(database.id)
            rows = sum(self.table(chain) for chain in chains)
            for view in self.step.views:
                self.store.definitions.put_object(view)
                self.objects.append(view.id)
            self.store.definitions.set_history_max_age(self.step.history_max_age)
        return rows

    def _check_free(self) -> None:
        """See that no name is taken. Raises DuplicateObjectError: one is."""
        catalog = self.store.catalog
        names = [*(entry.table.name for entry in self.step.tables)]
        names += [view.name for view in self.step.views]
        existing = [name for name in names if name in catalog.tables or name in catalog.views]
        existing += [one.name for one in self.step.databases if one.name in catalog.databases]
        if existing:
            raise DuplicateObjectError(
                f"'{existing[0]}' is in the database already",
                hint="restore into a new database, or one table under a new name",
            )

    def table(self, chain: Sequence[tuple[BackupStep, TableBackup]]) -> int:
        """Restore one table; how many rows it has."""
        table = chain[-1][1].table
        name = table.name if self.name is None else self.name.lower()
        self.store.create_table(
            name, table.schema, table.partition_schema, table.comment, table.properties
        )
        self.tables.append(name)
        # A hidden counter's numbers are part of the key, and an INSERT would give new ones.
        operation = "upsert" if table.schema.auto_incrementing else "insert"
        rows = restored_rows(self.spark, chain, table)
        path = self.store.path
        return write_table(rows, path, name, operation=operation, store=self.store).rows
