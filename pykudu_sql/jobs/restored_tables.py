"""Tables of a step of a backup, copied into a database that is there.

The files of the step are made a database of their own for as long, under a hidden name, which is
read as any other.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from uuid import uuid4

from pykudu_sql.database import open_database
from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.atomic_output import remove
from pykudu_sql.jobs.backup_manifest import BackupStep
from pykudu_sql.jobs.file_transfer import transfer_here
from pykudu_sql.jobs.options import RestoreOptions
from pykudu_sql.jobs.report import Progress
from pykudu_sql.jobs.step_files import files_to
from pykudu_sql.settings import DatabaseSettings
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import (
    DiskError,
    DuplicateObjectError,
    OperationalError,
    UndefinedObjectError,
    UndefinedTableError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import (
    StagedFile,
    StageTarget,
    create_staging,
    remove_staging,
    stage_rows,
    staging_chunks,
)
from pykudu_sql.storage.open_store import OpenStore
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.remote.database_image import complete_image
from pykudu_sql.storage.remote.staged_commit import StagedWrite, commit_staged
from pykudu_sql.storage.store_options import StoreOptions

SCRATCH = ".reading-"
_CHUNK_BYTES = 128 << 20


def restore_tables(step: BackupStep, database: str, options: RestoreOptions) -> int:
    """Restore tables of a step; how many rows they have.

    `database`: its directory, made if it is not there; `options`: which, and under which name.
    Raises Error: see `restore`; nothing was restored.
    """
    names = [name.lower() for name in options.tables]
    _check_present(step, names)
    selected = names or list(step.tables)
    with _opened(step, database, selected) as source, _receiving(database) as target:
        job = _Restore(source, target, options.name, options.progress)
        with job.undoing():
            if names:
                return sum(job.table(source.catalog.table(name)) for name in names)
            return job.everything()


def _check_present(step: BackupStep, names: Sequence[str]) -> None:
    for name in names:
        if name not in step.tables:
            raise UndefinedTableError(
                f"the backup has no table '{name}' at step {step.number}",
                hint=f"it has {', '.join(sorted(step.tables))}",
            )


@contextmanager
def _opened(step: BackupStep, database: str, names: Sequence[str]) -> Iterator[OpenStore]:
    """A step as a database to be read, with the files of some of its tables.

    Raises CorruptionError: it is damaged.
    """
    env = LocalEnv()
    tablets = {tablet for name in names for tablet in step.tables[name]}
    tablet_files = [one for one in step.files if one.path.split("/")[1] in tablets]
    with _scratch(step.folder.parent, Path(env.resolve(database)).parent) as root:
        for _ in transfer_here(files_to(step, root, (*step.logs, *tablet_files))):
            pass
        complete_image(env, root, bytes.fromhex(step.database_id), step.live_manifest)
        store = ReaderStore(env, root, StoreOptions(maintenance=False))
        try:
            yield store
        finally:
            store.close()


@contextmanager
def _scratch(*parents: Path) -> Iterator[str]:
    """A hidden folder for as long, in the first of some places that takes one.

    In the folder of the backup files are linked; the next step sweeps what a killed job left.
    """
    env, name = LocalEnv(), f"{SCRATCH}{uuid4().hex}"
    for parent in parents:
        folder = parent / name
        with suppress(OSError):
            folder.mkdir(mode=0o700)
            break
    else:
        raise OperationalError(f"no folder can be made in '{parents[-1]}'", sqlstate="58030")
    lock = env.lock(str(folder / "HELD"))
    try:
        yield str(folder / "db")
    finally:
        lock.release()
        remove(folder)


@contextmanager
def _receiving(database: str) -> Iterator[OpenStore]:
    """A database to restore into; a new one goes if that fails."""
    place = Path(database)
    is_new = not place.exists() or not any(place.iterdir())
    opened = open_database(database, DatabaseSettings())
    try:
        yield opened.store
    except BaseException:
        opened.release()
        if is_new:
            remove(place)
        raise
    opened.release()


@dataclass(slots=True)
class _Restore:
    """One restore, under way.

    Attributes:
        source: the step, open to read.
        store: of the database, open to write.
        name: that the one table gets, or None.
        objects: ids of the views and databases made so far.
        tables: names of the tables made so far.
    """

    source: OpenStore
    store: OpenStore
    name: str | None
    progress: Progress
    objects: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    _restored_rows: int = 0

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

    def everything(self) -> int:
        """Restore all tables, views, databases and settings; how many rows that were."""
        catalog = self.source.catalog
        self._check_free(catalog)
        for name in catalog.databases:
            self._make_database(name)
        rows = sum(self.table(catalog.tables[name]) for name in sorted(catalog.tables))
        for view in catalog.views.values():
            self.store.definitions.put_object(view)
            self.objects.append(view.id)
        self.store.definitions.set_history_max_age(self.source.definitions.history_max_age)
        return rows

    def _check_free(self, restored: Catalog) -> None:
        """See that no name is taken. Raises DuplicateObjectError: one is."""
        catalog = self.store.catalog
        names = sorted((*restored.tables, *restored.views))
        existing = [name for name in names if name in catalog.tables or name in catalog.views]
        if existing:
            raise DuplicateObjectError(
                f"'{existing[0]}' is in the database already",
                hint="restore into a new database, or one table under a new name",
            )

    def table(self, table: TableInfo) -> int:
        """Restore one table; how many rows it has."""
        name = table.name if self.name is None else self.name.lower()
        self._make_database(name.rpartition(".")[0])
        created = self.store.create_table(
            name,
            table.schema,
            table.partition_schema,
            table.comment,
            table.properties,
            table.checks,
        )
        self.tables.append(name)
        env, root = LocalEnv(), self.store.path
        write_id, lock = create_staging(env, root)
        # A hidden counter's numbers are part of the key, and an INSERT would give new ones.
        kind = RowOpKind.UPSERT if table.schema.auto_incrementing else RowOpKind.INSERT
        target = StageTarget(root, self.store.database_id, created, kind, write_id)
        ids = tuple(column.id for column in table.schema.columns)
        try:
            files = self._staged(env, target, table, ids)
            return commit_staged(env, self.store, StagedWrite(target, ids, files)).rows
        finally:
            with suppress(DiskError):
                remove_staging(env, root, write_id)
            lock.release()

    def _make_database(self, name: str) -> None:
        """Make the database that a table is in, as the step has it.

        Raises UndefinedObjectError: neither the step nor the target has it.
        """
        if not name or name in self.store.catalog.databases:
            return
        database = self.source.catalog.databases.get(name)
        if database is None:
            raise UndefinedObjectError(
                f"database '{name:.80}' does not exist", hint=f"CREATE DATABASE {name:.80} first"
            )
        self.store.definitions.put_object(database)
        self.objects.append(database.id)

    def _staged(
        self, env: LocalEnv, target: StageTarget, table: TableInfo, ids: Sequence[int]
    ) -> list[StagedFile]:
        files: list[StagedFile] = []
        transaction = self.source.begin()
        try:
            batches = transaction.scan(table, ScanSpec(tuple(ids))).batches()
            for chunk in staging_chunks(batches, _CHUNK_BYTES):
                columns = dict(zip(ids, chunk.columns, strict=True))
                files += stage_rows(env, target, transaction.coerce(table, columns))
                self._restored_rows += chunk.num_rows
                self.progress(noun_count(self._restored_rows, "row"))
        finally:
            transaction.rollback()
        return files
