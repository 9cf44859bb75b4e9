"""Files of a database into a backup and back: hard links where they work, else copies.

Each file is read once, for its checksum. A copy is durable before it has its name; a link is a name
of what is durable already. The files of tablets are never changed in place, so a link stays what it
was when the database goes on.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import FileIO
from typing import Final
from uuid import uuid4

import google_crc32c

from pykudu_sql.dataclass import dataclass
from pykudu_sql.jobs.backup_manifest import StepFile
from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.os_error import disk_error

_CHUNK: Final = 4 << 20
_TRAILER: Final = 24


@dataclass(frozen=True, slots=True)
class Transfer:
    """A file to be brought to a folder. Small, and pickled to tasks of Spark.

    Attributes:
        source: its path.
        file: what it must be; a checksum of -1 is for the file itself to tell.
        target: where it goes; of a file whose checksum is not known, the folder of the backup.
    """

    source: str
    file: StepFile
    target: str

    def run(self) -> StepFile:
        """Bring it there.

        Returns the file, its checksum known. Raises CorruptionError: it is not what it must be;
        DiskError: the disk refused.
        """
        is_new = self.file.checksum < 0
        folder = f"{self.target}/{os.path.dirname(self.file.pooled)}" if is_new else None
        folder = folder or os.path.dirname(self.target)
        unfinished = f"{folder}/.{uuid4().hex}.unfinished"
        try:
            may_link = self.file.path.startswith("tablets/")
            checksum = _bring(self.source, unfinished, self.file.size, may_link)
            step_file = StepFile(self.file.path, self.file.size, checksum)
            if not is_new and checksum != self.file.checksum:
                raise damaged(self.source)
            os.replace(unfinished, f"{self.target}/{step_file.pooled}" if is_new else self.target)
        except FileNotFoundError as error:
            raise damaged(self.source) from error
        except OSError as error:
            raise disk_error("copy", self.source, error) from error
        finally:
            with suppress(OSError):
                os.unlink(unfinished)
        return step_file


# Brings files, in any order; told what was done of the bytes.
Transport = Callable[[Sequence[Transfer]], Iterator[StepFile]]


def transfer_here(transfers: Sequence[Transfer]) -> Iterator[StepFile]:
    """Bring files by threads of this process, the results in order."""
    with ThreadPool(os.cpu_count() or 1, "pykudu-files") as pool:
        try:
            yield from pool.map(Transfer.run, transfers)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def damaged(path: str) -> CorruptionError:
    """The error for a file that is not what was written."""
    return CorruptionError(
        f"'{path}' is missing or has changed since it was written",
        hint="restore an earlier step, or take the file from another copy",
    )


def is_unchanged(source: str, pooled: str, size: int) -> bool:
    """Whether a file of a tablet is the one that a backup has, by inode or by its end.

    The last bytes of such a file are a checksum of its footer, which has those of all its blocks.
    Raises CorruptionError: the file of the backup is gone or cut.
    """
    try:
        pooled_stat = os.stat(pooled)
    except OSError:
        raise damaged(pooled) from None
    if pooled_stat.st_size != size:
        raise damaged(pooled)
    own = os.stat(source)
    if (own.st_dev, own.st_ino) == (pooled_stat.st_dev, pooled_stat.st_ino):
        return True
    return own.st_size == size and _end_of(source) == _end_of(pooled)


def _end_of(path: str) -> bytes:
    with open(path, "rb") as file:
        file.seek(-min(_TRAILER, os.fstat(file.fileno()).st_size), os.SEEK_END)
        return file.read()


def _bring(source: str, target: str, size: int, may_link: bool) -> int:
    """Copy a plain file of some size, or link one that nobody changes; its checksum."""
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with FileIO(descriptor, "rb") as read:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            raise damaged(source)
        if may_link and _linked(source, target, status):
            return _checksum(read, None)
        with FileIO(target, "xb", opener=_private) as written:
            checksum = _checksum(read, written.write)
            os.fsync(written.fileno())
            return checksum


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _linked(source: str, target: str, status: os.stat_result) -> bool:
    """Whether a file got a second name, on one file system that has such."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        return False
    linked = os.stat(target)
    if (linked.st_dev, linked.st_ino) == (status.st_dev, status.st_ino):
        return True
    os.unlink(target)
    return False


def _checksum(read: FileIO, write: Callable[[memoryview], int | None] | None) -> int:
    crc = 0
    while data := read.read(_CHUNK):
        crc = google_crc32c.extend(crc, data)
        left = memoryview(data)
        while write is not None and left:
            left = left[write(left) or 0 :]
    return int(crc)
