"""What a backup is on disk: files of tablets in one pool, and numbered steps that name them.

    target/LOCK                            held by the process that adds a step
    target/files/<tablet>/N.base.<crc>     a file of a tablet, as it is in the database
    target/0000/manifest.json              what the step is made of
    target/0000/manifest/N.log             the manifest of the database at that moment
    target/0000/wal/N.log                  the write-ahead log up to that moment

A step is of one moment for all tables and names every file of it, so any step is restored without
the others. The manifest is checksummed, has size and checksum of every file, and the checksum of
the manifest before it, so steps of different backups do not mix. A step's folder has its name once
it is whole; a file of the pool has its own once all of its bytes are there.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import google_crc32c

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.errors import CorruptionError, FormatVersionError, OperationalError
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.local_env import LocalEnv

FORMAT: Final = 2
MANIFEST: Final = "manifest.json"
POOL: Final = "files"
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class StepFile:
    """A file of a step.

    `path`: in the directory of the database; `size`: bytes; `checksum`: CRC-32C of all of them.
    """

    path: str
    size: int
    checksum: int

    @property
    def pooled(self) -> str:
        """Where a file of a tablet lies in the folder of the backup."""
        _, tablet, name = self.path.split("/")
        return f"{POOL}/{tablet}/{name}.{self.checksum:08x}"


@dataclass(frozen=True, slots=True)
class BackupStep:
    """One step of a backup.

    Attributes:
        folder: of its logs.
        number: from 0 on.
        database_id: the UUID of the database, in hexadecimal digits.
        bound: of the snapshot that it is of.
        before: the checksum of the manifest before; None for the first step.
        live_manifest: the number of the database's manifest.
        tables: tablets by the names of the tables of that moment.
        logs: manifest and segments of the log, in the folder of the step.
        files: of tablets, in the pool.
        checksum: of this manifest.
    """

    folder: Path
    number: int
    database_id: str
    bound: SnapshotBound
    before: int | None
    live_manifest: int
    tables: Mapping[str, tuple[str, ...]]
    logs: tuple[StepFile, ...]
    files: tuple[StepFile, ...]
    checksum: int = 0

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in (*self.logs, *self.files))

    def write(self) -> None:
        """Write the manifest into the folder, which has all logs already.

        Raises DiskError: the disk refused.
        """
        content = {
            "format": FORMAT,
            "number": self.number,
            "database_id": self.database_id,
            "bound": self.bound,
            "before": self.before,
            "live_manifest": self.live_manifest,
            "tables": {name: list(tablets) for name, tablets in self.tables.items()},
            "logs": [[one.path, one.size, one.checksum] for one in self.logs],
            "files": [[one.path, one.size, one.checksum] for one in self.files],
        }
        text = json.dumps({"checksum": checksum_of(content), "manifest": content}, indent=1)
        env, path = LocalEnv(), str(self.folder / MANIFEST)
        file = env.create(path, point="backup.manifest.create")
        try:
            file.append(text.encode(), point="backup.manifest.append")
            file.sync(point="backup.manifest.sync")
        finally:
            file.close()

    @classmethod
    def read(cls, folder: Path) -> "BackupStep":
        """The step of a folder.

        Raises CorruptionError: its manifest is not what was written; FormatVersionError: another
        release wrote it; DiskError: it cannot be read.
        """
        path = folder / MANIFEST
        try:
            whole = json.loads(LocalEnv().read_file(str(path)))
            content = whole["manifest"]
            if whole["checksum"] != checksum_of(content):
                raise ValueError("its checksum does not match")
            if content["format"] != FORMAT:
                raise FormatVersionError(
                    f"'{path}' has format {content['format']}, this release reads {FORMAT}",
                    hint="restore it by the release that made it",
                )
            return cls(
                folder,
                int(content["number"]),
                str(content["database_id"]),
                SnapshotBound(int(content["bound"])),
                content["before"],
                int(content["live_manifest"]),
                {str(name): tuple(tablets) for name, tablets in content["tables"].items()},
                _files(content["logs"]),
                _files(content["files"]),
                int(whole["checksum"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CorruptionError(f"'{path}' is no manifest of a backup: {error}") from error


def _files(value: Iterable[Any]) -> tuple[StepFile, ...]:
    """Files as a manifest names them. Raises ValueError: one has no name that a database gives."""
    files = tuple(StepFile(str(p), int(s), int(c)) for p, s, c in value)
    for file in files:
        if not layout.is_own("", f"/{file.path}") or ".." in file.path.split("/"):
            raise ValueError(f"'{file.path}' is no file of a database")
    return files


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
                f"'{step.folder}' does not follow the step before it: "
                f"'{step_folder(target, number)}' is missing or of another backup",
                hint="all steps of a backup belong together in one folder",
            )
        before = step.checksum
    return steps


def existing_steps(target: Path) -> tuple[BackupStep, ...]:
    """`read_steps` of a backup that must be there. Raises OperationalError: there is none."""
    steps = read_steps(target)
    if not steps:
        raise OperationalError(f"there is no backup at '{target}'", sqlstate="58P01")
    return steps


def checksum_of(content: Mapping[str, Any]) -> int:
    """The checksum of the content of a manifest."""
    return int(google_crc32c.value(json.dumps(content, sort_keys=True).encode()))
