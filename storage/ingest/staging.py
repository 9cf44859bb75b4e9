"""Staging: rows of one write, brought by many processes as finished files, committed by one.

A large write from Spark has many writers and one moment. Each task sorts its rows, by tablet and by
key, and writes them as base files of rowsets, with every checksum they have in the database, to
`staging/<uuid of the write>/`. What it wrote travels as `StagedFile`s to whoever commits (see
`staged_commit`). Files that no commit takes belong to nothing: attempts that failed, copies of
tasks, late ones.

A folder lives as long as somebody holds the lock of the file LOCK in it; the next opening for
writing removes those of which nobody does.

Rows that a counter numbers, those of a table with a hidden one or without a value for its identity
column, get their numbers when they are committed; the files hold others in their place.

Writers share no counter, so they draw the numbers of their files by lot from a range of its own
(`STAGED_NUMBERS` to 2**53). The numbers are covered by the files' checksums.
"""

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final
from uuid import uuid4

import google_crc32c
import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.cfile.container import FileIdentity
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import (
    UNCOMMITTED,
    StatementTime,
    Timestamp,
    system_time,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError, LockedError, NotSupportedError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import Env, FileLock, names_if_there
from pykudu_sql.storage.ingest.auto_increment import check_room, counted_column
from pykudu_sql.storage.ingest.bulk_writer import ROWSET_ROWS
from pykudu_sql.storage.ingest.routing import deduplicate, route
from pykudu_sql.storage.ingest.row_batch import check_columns, complete
from pykudu_sql.storage.ingest.validation import raise_first, validate
from pykudu_sql.storage.tablet.history.row_slice import ColumnGather, ColumnsInMemory
from pykudu_sql.storage.tablet.maintenance.diskrowset_writer import BaseFile, write_base_file
from pykudu_sql.storage.tablet.rowset.tablet_metadata import STAGED_NUMBERS, RowSetMeta

_CHUNK: Final = 4 << 20
_CHUNK_ROWS: Final = 1 << 20
_NUMBERS: Final = ("number", "rows", "size", "checksum")
_HEX = re.compile(r"([0-9a-f]{2})*")


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A task's description of a file that it wrote; checked at the commit.

    Attributes:
        write_id, table_id: UUIDs of the write and of the table it is for.
        tablet_id: whose rows it holds.
        number: of the file.
        rows: in it.
        size: bytes.
        checksum: CRC-32C of all its bytes.
        column_ids: the columns in it.
    """

    write_id: str
    table_id: str
    tablet_id: str
    number: int
    rows: int
    size: int
    checksum: int
    min_key: bytes
    max_key: bytes
    column_ids: tuple[int, ...]

    def meta_of(self, rowset_id: int) -> RowSetMeta:
        """The rowset that the file is, under an id of its tablet."""
        keys = (self.min_key, self.max_key)
        return RowSetMeta(
            rowset_id, self.number, self.rows, self.size, *keys, self.column_ids, UNCOMMITTED
        )

    def to_json(self) -> dict[str, Any]:
        """The description as plain JSON values."""
        return {
            "write": self.write_id,
            "table": self.table_id,
            "tablet": self.tablet_id,
            "number": self.number,
            "rows": self.rows,
            "size": self.size,
            "checksum": self.checksum,
            "min_key": self.min_key.hex(),
            "max_key": self.max_key.hex(),
            "column_ids": list(self.column_ids),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "StagedFile":
        """The inverse of `to_json`. Raises DataError: it is no description of a staged file."""
        try:
            numbers = [value[name] for name in _NUMBERS]
            if any(type(number) is not int or not 0 <= number < 1 << 53 for number in numbers):
                raise ValueError(f"numbers {numbers!r:.80}")
            if value["number"] < STAGED_NUMBERS or not value["rows"]:
                raise ValueError(f"file {value['number']} of {value['rows']} rows")
            layout.staged_path("", value["write"], value["tablet"], value["number"])
            keys = [value["min_key"], value["max_key"]]
            if not all(_HEX.fullmatch(key) for key in keys):
                raise ValueError("its keys are malformed")
            file_key = (value["write"], value["table"], value["tablet"], value["number"])
            content = (value["rows"], value["size"], value["checksum"])
            low, high = map(bytes.fromhex, keys)
            return cls(*file_key, *content, low, high, tuple(int(i) for i in value["column_ids"]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataError(f"this is no staged file: {error}") from error


@dataclass(frozen=True, slots=True)
class StageTarget:
    """Where the rows of one write go.

    `table`: as it was when the write began; `write_id`: a UUID; `time`: of the write, for defaults.
    """

    root: str
    database_id: bytes
    table: TableInfo
    kind: RowOpKind
    write_id: str
    time: Timestamp = field(default_factory=system_time)

    def to_json(self) -> dict[str, Any]:
        """The target as plain JSON values."""
        return {
            "root": self.root,
            "database": self.database_id.hex(),
            "table": self.table.to_json(),
            "kind": self.kind.value,
            "write": self.write_id,
            "time": self.time,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "StageTarget":
        """The inverse of `to_json`."""
        return cls(
            value["root"],
            bytes.fromhex(value["database"]),
            TableInfo.from_json(value["table"]),
            RowOpKind(value["kind"]),
            value["write"],
            Timestamp(value["time"]),
        )

    def statement_time(self) -> StatementTime:
        """The time of the write, as those who complete rows take it."""
        return StatementTime(lambda: self.time)

    def check(self, column_ids: tuple[int, ...]) -> None:
        """See that rows of some columns can be written so.

        Raises NotNullError, ProgrammingError, ValueOutOfRangeError: see `check_columns`;
        NotSupportedError: a number that the rows get only when they are committed decides before
        whether they fit.
        """
        check_columns(self.table, self.kind, column_ids)
        counter = self.counter_beside(column_ids)
        if counter is None:
            return
        deciding = set(self.table.partition_schema.range_column_ids)
        deciding.update(*(check.column_ids for check in self.table.checks))
        if counter.id in deciding:
            raise NotSupportedError(
                f"rows staged for table '{self.table.name}' have no '{counter.name}' yet, of which "
                "a CHECK constraint or the range partitions decide",
                hint=f"give '{counter.name}' values, or write the rows by INSERT",
            )

    def counter_beside(self, column_ids: Collection[int]) -> ColumnSchema | None:
        """The column that rows of some columns get from a counter when they are committed."""
        counter = counted_column(self.table.schema)
        if counter is None or not self.kind.numbers or counter.id in column_ids:
            return None
        return counter

    def with_counter(self, columns: Mapping[int, pa.Array], length: int) -> Mapping[int, pa.Array]:
        """The columns, with any values for the counter if the rows are numbered later.

        `columns`: by id; `length`: rows. Raises ValueOutOfRangeError: it has not so many values.
        """
        counter = self.counter_beside(columns)
        if counter is None:
            return columns
        check_room(self.table, length)
        numbers = np.arange(1, length + 1, dtype=np.int64)
        return {**columns, counter.id: pa.array(numbers, counter.type.arrow)}


def create_staging(env: Env, root: str) -> tuple[str, FileLock]:
    """Make the folder of a new write, and take its lock.

    Returns the id of the write, and the lock that keeps its folder. Raises DiskError: the disk
    refused.
    """
    write_id = str(uuid4())
    return write_id, open_staging(env, root, write_id)


def open_staging(env: Env, root: str, write_id: str) -> FileLock:
    """Make the folder of a write whose id exists already, and take its lock.

    Raises DiskError: the disk refused.
    """
    env.make_dir(layout.staging_directory(root))
    env.make_dir(layout.staging_folder(root, write_id))
    return env.lock(layout.staging_lock(root, write_id))


def remove_staging(env: Env, root: str, write_id: str) -> None:
    """Remove the folder of a write, if it is there. Raises DiskError: the disk refused."""
    folder = layout.staging_folder(root, write_id)
    if env.exists(folder):
        env.remove_tree(folder, point="staging.remove")


def sweep_staging(env: Env, root: str) -> None:
    """Remove the folders of writes that ended without a commit, however they ended.

    Raises DiskError: the disk refused.
    """
    directory = layout.staging_directory(root)
    names = names_if_there(env, directory)
    for folder in layout.subdirectories(root, directory, names):
        try:
            lock = env.lock(f"{folder}/LOCK")
        except LockedError:
            continue
        try:
            env.remove_tree(folder, point="staging.sweep")
        finally:
            lock.release()


def stage_rows(
    env: Env, target: StageTarget, columns: Mapping[int, pa.Array]
) -> Iterator[StagedFile]:
    """Write rows as files of their tablets, sorted by key.

    A key given twice is an error in an INSERT; else one row of it counts, as for `Transaction`.
    `target`: where they go; `columns`: of the table's own types, by id, at least one row. Raises
    AlreadyPresentError: an INSERT names a key twice; UncoveredRangeError: a key lies outside all
    range partitions; NotNullError, ValueTooLargeError: a cell does not fit; DiskError: the disk
    refused, or the folder is gone: the write has ended.
    """
    table = target.table
    length = len(next(iter(columns.values())))
    numbered = target.with_counter(columns, length)
    batch = complete(table, RowOperations(target.kind, numbered, length), target.statement_time())
    rows = deduplicate(table, route(validate(batch, raise_first), raise_first))
    schema = [column for column in table.schema.columns if column.id in rows.operations.columns]
    for index in np.unique(rows.tablets).tolist():
        mine = np.flatnonzero(rows.tablets == index)
        order = mine[rows.keys.take(mine).argsort()]
        for start in range(0, len(order), ROWSET_ROWS):
            indices = order[start : start + ROWSET_ROWS]
            tablet_id, number = table.tablets[index].id, _draw_number()
            path = layout.staged_path(target.root, target.write_id, tablet_id, number)
            identity = FileIdentity(target.database_id, tablet_id, "base", number)
            part_columns = ColumnGather([ColumnsInMemory(rows.operations.columns)], indices)
            file = BaseFile(env, path, identity)
            meta = write_base_file(
                file, 0, schema, part_columns, rows.keys.take(indices), UNCOMMITTED
            )
            file_key = (target.write_id, table.id, tablet_id, number)
            content = (meta.rows, meta.size, file_checksum(env, path))
            yield StagedFile(*file_key, *content, meta.min_key, meta.max_key, meta.column_ids)


def _draw_number() -> int:
    return STAGED_NUMBERS + secrets.randbelow((1 << 53) - STAGED_NUMBERS)


def file_checksum(env: Env, path: str) -> int:
    """The CRC-32C of a file. Raises DiskError: it cannot be read."""
    file = env.open_random(path)
    try:
        crc = 0
        for offset in range(0, file.size, _CHUNK):
            crc = google_crc32c.extend(crc, file.read(offset, min(_CHUNK, file.size - offset)))
        return crc
    finally:
        file.close()


def staging_chunks(batches: Iterable[pa.RecordBatch], most_bytes: int) -> Iterator[pa.Table]:
    """Batches together, so that files are large and memory is bounded.

    `most_bytes`: a chunk ends with the batch that reaches it, or a million rows.
    """
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _CHUNK_ROWS or size >= most_bytes:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)
