"""What a backup is on disk: numbered steps, each with the files of its tables and a manifest.

    target/0000/manifest.json      what the step holds; the folder has its name once it is whole
    target/0000/<table id>/*.parquet

A step is of one moment for all tables. It holds for each table either all of its rows or the
changes since the step before; the first one holds rows alone. Files name columns as the table did
at that moment; the manifest has the whole description of the table, so the ids of the columns.
The manifest is checksummed, has the checksum of every file, and that of the manifest before it, so
steps of different backups do not mix.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import google_crc32c

from pykudu_sql.storage.catalog.catalog import TableInfo
from pykudu_sql.storage.catalog.namespace import DatabaseInfo, ViewInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import CorruptionError, FormatVersionError, OperationalError
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.ingest.staging import file_checksum

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
_DIGITS: Final = 4


class Content(StrEnum):
    """What the files of a table in a step are."""

    ROWS = "rows"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class BackupFile:
    """One file of a step.

    `path`: from the folder of the step; `size`: bytes; `checksum`: CRC-32C of all of them.
    """

    path: str
    size: int
    checksum: int

    @classmethod
    def of(cls, folder: Path, file: Path) -> "BackupFile":
        """The description of a file that is there."""
        checksum = file_checksum(LocalEnv(), str(file))
        return cls(str(file.relative_to(folder)), file.stat().st_size, checksum)

    def check(self, folder: Path) -> None:
        """See that the file is what was written.

        Raises CorruptionError: it is not, or it is gone.
        """
        file = folder / self.path
        if not file.is_file() or BackupFile.of(folder, file) != self:
            raise CorruptionError(
                f"'{file}' of the backup is not what was written",
                hint="restore an earlier step, or take the file from another copy",
            )


@dataclass(frozen=True, slots=True)
class TableBackup:
    """A table in a step.

    `table`: as it was; `content`: of the files; `files`: none if there was nothing.
    """

    table: TableInfo
    content: Content
    files: tuple[BackupFile, ...]

    def to_json(self) -> dict[str, Any]:
        """The entry as plain JSON values."""
        files = [[file.path, file.size, file.checksum] for file in self.files]
        return {"table": self.table.to_json(), "content": self.content.value, "files": files}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableBackup":
        """The inverse of `to_json`."""
        files = tuple(BackupFile(str(p), int(s), int(c)) for p, s, c in value["files"])
        return cls(TableInfo.from_json(value["table"]), Content(value["content"]), files)


@dataclass(frozen=True, slots=True)
class BackupStep:
    """One step of a backup.

    Attributes:
        folder: of its files.
        number: from 0 on.
        database_id: the UUID of the database, in hexadecimal digits.
        bound: of the snapshot that it is of.
        before: the checksum of the manifest before; None for the first step.
        history_max_age: seconds, as the database had it.
        tables, views, databases: of that moment.
        checksum: of this manifest.
    """

    folder: Path
    number: int
    database_id: str
    bound: SnapshotBound
    before: int | None
    history_max_age: int | None
    tables: tuple[TableBackup, ...]
    views: tuple[ViewInfo, ...]
    databases: tuple[DatabaseInfo, ...]
    checksum: int = 0

    def entry(self, table_id: str) -> TableBackup | None:
        """What the step has of a table."""
        return next((one for one in self.tables if one.table.id == table_id), None)

    def write(self) -> None:
        """Write the manifest into the folder, which has all files already.

        Raises DiskError: the disk refused.
        """
        content = {
            "format": FORMAT,
            "number": self.number,
            "database_id": self.database_id,
            "bound": self.bound,
            "before": self.before,
            "history_max_age": self.history_max_age,
            "tables": [table.to_json() for table in self.tables],
            "views": [view.to_json() for view in self.views],
            "databases": [database.to_json() for database in self.databases],
        }
        text = json.dumps({"checksum": _checksum(content), "manifest": content}, indent=1)
        env, path = LocalEnv(), str(self.folder / MANIFEST)
        file = env.create(f"{path}.tmp", point="backup.manifest.create")
        try:
            file.append(text.encode(), point="backup.manifest.append")
            file.sync(point="backup.manifest.sync")
        finally:
            file.close()
        env.rename(f"{path}.tmp", path, point="backup.manifest.rename")

    @classmethod
    def read(cls, folder: Path) -> "BackupStep":
        """The step of a folder.

        Raises CorruptionError: its manifest is not what was written; FormatVersionError: a newer
        release wrote it; DiskError: it cannot be read.
        """
        path = folder / MANIFEST
        try:
            whole = json.loads(LocalEnv().read_file(str(path)))
            content = whole["manifest"]
            if whole["checksum"] != _checksum(content):
                raise ValueError("its checksum is another")
            if content["format"] != FORMAT:
                raise FormatVersionError(
                    f"'{path}' has format {content['format']}, this release reads {FORMAT}"
                )
            return cls(
                folder,
                int(content["number"]),
                str(content["database_id"]),
                SnapshotBound(int(content["bound"])),
                content["before"],
                content["history_max_age"],
                tuple(TableBackup.from_json(table) for table in content["tables"]),
                tuple(ViewInfo.from_json(view) for view in content["views"]),
                tuple(DatabaseInfo.from_json(one) for one in content["databases"]),
                int(whole["checksum"]),
            )
        except (ValueError, TypeError, KeyError) as error:
            raise CorruptionError(f"'{path}' is no manifest of a backup: {error}") from error


def step_folder(target: Path, number: int) -> Path:
    """Where a step lies."""
    return target / f"{number:0{_DIGITS}}"


def read_steps(target: Path) -> tuple[BackupStep, ...]:
    """The steps of a backup, oldest first; folders that are not whole are none.

    Raises CorruptionError: a manifest is not what was written, or a step is missing; DiskError: one
    cannot be read.
    """
    folders = sorted(p for p in target.glob("[0-9]" * _DIGITS) if p.is_dir())
    steps = tuple(BackupStep.read(folder) for folder in folders)
    before = None
    for number, step in enumerate(steps):
        if step.number != number or step.before != before:
            raise CorruptionError(
                f"'{step.folder}' does not follow the step before it",
                hint="all steps of a backup belong together in one folder",
            )
        before = step.checksum
    return steps


def written_files(step_folder: Path, table_folder: Path) -> tuple[BackupFile, ...]:
    """The Parquet files of a table, made durable; what else Spark left there is removed.

    Raises DiskError: the disk refused.
    """
    env, files = LocalEnv(), []
    for path in sorted(table_folder.iterdir()):
        if path.suffix != ".parquet":
            path.unlink()
            continue
        file = env.open_writable(str(path))
        try:
            file.sync(point="backup.file.sync")
        finally:
            file.close()
        files.append(BackupFile.of(step_folder, path))
    return tuple(files)


def chain_of(steps: Sequence[BackupStep], table_id: str) -> list[tuple[BackupStep, TableBackup]]:
    """What is needed of a table for the last of some steps: its rows, then changes, oldest first.

    Raises CorruptionError: its rows are in none of the steps.
    """
    chain: list[tuple[BackupStep, TableBackup]] = []
    for step in reversed(steps):
        entry = step.entry(table_id)
        if entry is None:
            break
        chain.append((step, entry))
        if entry.content is Content.ROWS:
            return chain[::-1]
    raise CorruptionError(f"the backup has no rows of table {table_id}")


def total_bytes(tables: Iterable[TableBackup]) -> int:
    """Of all files of some tables."""
    return sum(file.size for table in tables for file in table.files)


def existing_steps(target: Path) -> tuple[BackupStep, ...]:
    """`read_steps` of a backup that must be there. Raises OperationalError: there is none."""
    steps = read_steps(target)
    if not steps:
        raise OperationalError(f"there is no backup at '{target}'", sqlstate="58P01")
    return steps


def _checksum(content: Mapping[str, Any]) -> int:
    return int(google_crc32c.value(json.dumps(content, sort_keys=True).encode()))
