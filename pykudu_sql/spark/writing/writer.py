"""The writers of `format("pykudu")`: tasks stage files, the driver commits them at one moment.

Task retries and speculative copies write files of their own; only those whose messages Spark hands
to `commit` count, and the others go with the folder. If Spark's driver is killed, the lock of the
folder falls, and the next opening of the database removes it.

A stream writes the same way. Spark makes several objects for each batch, and the one that commits
is not the one that was sent to the tasks; so all batches of a stream share a folder whose name
follows from the stream's, and the number of each batch is committed with its rows.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final
from uuid import UUID, uuid4, uuid5

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from pykudu_sql.dataclass import dataclass
from pykudu_sql.spark.options import WriteOptions
from pykudu_sql.spark.reading.keeper import keep_staging
from pykudu_sql.spark.worker_errors import reason_alone
from pykudu_sql.spark.writing.staged_job import StagedJob, commit_alone, read_messages
from pykudu_sql.spark.writing.write_record import write_record
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.errors import DiskError, LockedError, ProgrammingError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import open_staging, remove_staging

_STREAMS: Final = UUID("6d1fb6f2-0d5c-4c39-9d2e-3a1d8f6c9b57")


@dataclass
class StagedMessage(WriterCommitMessage):
    """What one task wrote: files as JSON; see `StagedFile`."""

    files: list[str]


class PykuduWriter(DataSourceArrowWriter):
    """Writes one DataFrame, all of it or nothing."""

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        """Check what can be checked before the tasks start, and make the staging folder.

        `overwrite`: the rows take the place of all that the table has. Raises Error: the DataFrame
        does not fit; see `StagedJob.of`.
        """
        self._options = options
        write_id = options.staging_id or str(uuid4())
        self._job = StagedJob.of(options, schema, write_id, overwrite)
        if options.staging_id is None:
            root = self._job.read_target().root
            keep_staging(root, write_id, open_staging(LocalEnv(), root, write_id))

    @reason_alone()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedMessage:
        """Stage the rows of a task."""
        return StagedMessage(self._job.stage(iterator))

    @reason_alone()
    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit what the tasks wrote; where the caller does, only write down what it is.

        Raises Error: nothing was committed; see `commit_staged`.
        """
        options, files = self._options, read_messages(messages)
        if options.staging_id is not None:
            write_record(self._job, files)
            return
        batch = None if options.write_id is None else WriterBatch(options.write_id, 0)
        commit_alone(self._job.collect(files, batch))

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove what the tasks wrote. What was committed does not lie there any more."""
        target = self._job.read_target()
        with suppress(DiskError):
            remove_staging(LocalEnv(), target.root, target.write_id)


class PykuduStreamWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a stream, each exactly once."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        """Check what can be checked, and see that the staging folder is there.

        Raises ProgrammingError: the stream has no checkpoint, and no name; Error: its rows do not
        fit; see `StagedJob.of`.
        """
        self._writer = stream_name(options)
        env = LocalEnv()
        root = env.resolve(options.location.path)
        write_id = str(uuid5(_STREAMS, f"{self._writer} {options.location.table}"))
        self._job = StagedJob.of(options, schema, write_id, False)
        with suppress(LockedError):  # somebody keeps the folder already
            keep_staging(root, write_id, open_staging(env, root, write_id))

    @reason_alone()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedMessage:
        """Stage the rows of a task."""
        return StagedMessage(self._job.stage(iterator))

    @reason_alone()
    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Commit a batch, unless that was done before.

        Raises Error: nothing was committed; see `commit_staged`.
        """
        table_id = self._job.read_target().table.id
        batch = WriterBatch(f"{self._writer} {table_id}", batchId)
        commit_alone(self._job.collect(read_messages(messages), batch))

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Remove what the tasks of a batch wrote."""
        target = self._job.read_target()
        with suppress(DiskError):
            remove_staging(LocalEnv(), target.root, target.write_id)


def stream_name(options: WriteOptions) -> str:
    """The identity of a stream, which is the same when it is restarted.

    A checkpoint has an id of its own; one that was deleted and begun anew has another, and counts
    its batches from 0 again. Raises ProgrammingError: there is neither a checkpoint nor a name.
    """
    if options.write_id is not None:
        return options.write_id
    if options.checkpoint is None:
        raise ProgrammingError(
            "a stream needs the option 'checkpointLocation', or 'writeId'",
            hint="without it a batch that is retried could not be recognized",
        )
    path = f"{options.checkpoint.removeprefix('file:')}/metadata"
    env = LocalEnv()
    if env.exists(path):
        return str(json.loads(env.read_file(path))["id"])
    return options.checkpoint
