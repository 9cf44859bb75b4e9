"""One write of many tasks: what its tasks do, and what the driver does before and after.

The same for batches and streams. It is made on the driver, and travels to the tasks.
"""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.types import StructType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.arrow.conversions import check_type, converted
from pykudu_sql.spark.options import TableLocation, WriteOptions
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.errors import (
    InvalidSchemaError,
    LockedError,
    UndefinedColumnError,
)
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import (
    StagedFile,
    StageTarget,
    stage_rows,
    staging_chunks,
)
from pykudu_sql.storage.log.manifest import no_database
from pykudu_sql.storage.reader_store import ReaderStore
from pykudu_sql.storage.remote.staged_commit import StagedWrite, WriteReport, commit_staged
from pykudu_sql.storage.store import Store
from pykudu_sql.storage.store_options import StoreOptions

CHUNK_BYTES: Final = 256 << 20
WAIT_SECONDS: Final = 60.0
_PAUSE: Final = 0.2


@dataclass(frozen=True, slots=True)
class StagedJob:
    """A write by many tasks. Small, and pickled to each of them.

    Attributes:
        target: as JSON; see `StageTarget`.
        column_ids: of the columns of the DataFrame, in its order.
        replaces: the rows take the place of all that the table has.
    """

    target: str
    column_ids: tuple[int, ...]
    replaces: bool

    @classmethod
    def of(
        cls, options: WriteOptions, schema: StructType, write_id: str, replaces: bool
    ) -> "StagedJob":
        """See that a DataFrame can be written to a table.

        `replaces`: see there. Raises UndefinedTableError, UndefinedColumnError: there is no such
        thing; InvalidSchemaError: a column of the DataFrame is of another type; see `conversions`;
        NotNullError, ProgrammingError, NotSupportedError: the columns do not fit.
        """
        root = LocalEnv().resolve(options.location.path)
        database_id, table = find_table(options.location)
        target = StageTarget(root, database_id, table, options.operation, write_id)
        column_ids = _column_ids(table, schema)
        target.check(column_ids)
        return cls(json.dumps(target.to_json()), column_ids, replaces)

    def read_target(self) -> StageTarget:
        """Where the rows go."""
        return StageTarget.from_json(json.loads(self.target))

    def stage(self, batches: Iterable[pa.RecordBatch]) -> list[str]:
        """Write the rows of a task.

        `batches`: as Spark hands them over. Returns what was written: `StagedFile`s as JSON. Raises
        DataError, IntegrityError: a row does not fit; DiskError: the disk refused, or the write was
        given up.
        """
        env, target = LocalEnv(), self.read_target()
        files: list[StagedFile] = []
        for chunk in staging_chunks(batches, CHUNK_BYTES):
            files += stage_rows(env, target, self._columns(target.table, chunk))
        return [json.dumps(file.to_json()) for file in files]

    def _columns(self, table: TableInfo, chunk: pa.Table) -> dict[int, pa.Array]:
        columns = {}
        for column_id, values in zip(self.column_ids, chunk.columns, strict=True):
            column = table.schema.by_id[column_id]
            columns[column_id] = converted(values, column)
        return columns

    def collect(self, messages: Sequence[str], batch: WriterBatch | None) -> StagedWrite:
        """The write that the messages of its tasks make.

        Raises DataError: one is no message of a task.
        """
        files = [StagedFile.from_json(json.loads(message)) for message in messages]
        return StagedWrite(self.read_target(), self.column_ids, files, self.replaces, batch)


def find_table(location: TableLocation) -> tuple[bytes, TableInfo]:
    """The id of a database and one of its tables, as they are.

    Raises OperationalError: there is no database; UndefinedTableError: it has no such table.
    """
    env = LocalEnv()
    root = env.resolve(location.path)
    if not env.exists(layout.current_path(root)):
        raise no_database(env, root, location.path)
    store = ReaderStore(env, root, StoreOptions(maintenance=False))
    try:
        return store.database_id, store.catalog.table(location.table)
    finally:
        store.close()


def _column_ids(table: TableInfo, schema: StructType) -> tuple[int, ...]:
    column_ids = {column.name: column.id for column in table.schema.columns}
    for name in schema.names:
        if name.lower() not in column_ids:
            raise UndefinedColumnError(
                f"column '{name:.80}' does not exist in table '{table.name}'",
                hint="its columns are " + ", ".join(column_ids),
            )
    lower = [name.lower() for name in schema.names]
    twice = next((name for name in lower if lower.count(name) > 1), None)
    if twice is not None:
        raise InvalidSchemaError(f"the DataFrame has the column '{twice}' twice")
    for field in schema.fields:
        check_type(table.schema.by_name[field.name.lower()], field.dataType)
    return tuple(column_ids[name] for name in lower)


def commit_alone(write: StagedWrite, wait_seconds: float = WAIT_SECONDS) -> WriteReport:
    """Commit a write to a database that this process has not open, which it is for that long.

    Args:
        write: whose tasks are done.
        wait_seconds: how long to wait for another process that writes the database.

    Raises LockedError: it still does; Error: see `commit_staged`.
    """
    env = LocalEnv()
    store = _open_when_free(env, write.target.root, time.monotonic() + wait_seconds)
    try:
        return commit_staged(env, store, write)
    finally:
        store.close()


def _open_when_free(env: LocalEnv, root: str, deadline: float) -> Store:
    while True:
        try:
            return Store(env, root, StoreOptions(maintenance=False))
        except LockedError as error:
            if time.monotonic() >= deadline:
                raise LockedError(
                    error.message,
                    hint="close it there; or write through the connection that has it open: "
                    "conn.spark().write_table(df, table)",
                ) from error
            time.sleep(_PAUSE)


def read_messages(messages: Iterable[Any]) -> list[str]:
    """The files that the messages of tasks name; tasks that failed have none."""
    return [file for message in messages if message is not None for file in message.files]
