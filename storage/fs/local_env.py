"""The environment of real files: POSIX calls, durable and suspicious.

Files are opened, renamed and removed without following links, in their own name and in that of the
directory that holds them, and are checked to be plain files before a byte is read or written: a
link planted in a database leads nowhere. A file that is opened for writing has one name: bytes
written to a hard link would change a file outside the database as well.
A name in a freshly made directory is durable because `make_dir` syncs the parents it touched.

`sync` is fdatasync: it brings the bytes and the length to the disk, not the times of access and
change, which saves a journal commit per call. Writes are positioned (`pwrite`), so a file knows its
own end and needs no seek; short writes are continued; interrupted calls are retried by Python.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from pykudu_sql.storage.errors import CorruptionError
from pykudu_sql.storage.fs.descriptor import close_with
from pykudu_sql.storage.fs.env import ByteString, FileLock, RandomAccessFile, WritableFile
from pykudu_sql.storage.fs.file_lock import is_lock_held, take_lock
from pykudu_sql.storage.fs.os_error import disk_error, hard_linked, not_a_file
from pykudu_sql.storage.fs.process import current_process

_SAFELY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_ZEROS = bytes(1 << 16)


class LocalEnv:
    """Files of the operating system; an `Env`. One serves any number of databases, in one process.

    In a child forked from it everything raises InterfaceError, and nothing is touched.
    """

    def __init__(self) -> None:
        """The file system as this process sees it."""
        self._process = current_process()
        self._guard: FileLock | None = None

    def resolve(self, path: str) -> str:
        return os.path.realpath(path)

    def create(self, path: str, *, point: str) -> WritableFile:
        with self._reaching("create", path):
            return _LocalWritableFile(path, _open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL), 0)

    def open_writable(self, path: str) -> WritableFile:
        with self._reaching("open", path):
            descriptor = _open_file(path, os.O_RDWR)
            return _LocalWritableFile(path, descriptor, os.fstat(descriptor).st_size)

    def open_random(self, path: str) -> RandomAccessFile:
        with self._reaching("open", path):
            return _LocalRandomAccessFile(path, _open_file(path, os.O_RDONLY))

    def read_file(self, path: str) -> bytes:
        file = self.open_random(path)
        try:
            return file.read(0, file.size)
        finally:
            file.close()

    def size_of(self, path: str) -> int:
        with self._reaching("look at", path):
            return os.lstat(path).st_size

    def rename(self, source: str, target: str, *, point: str) -> None:
        with (
            self._reaching("rename", source),
            _parent(source) as (source_folder, source_name),
            _parent(target) as (target_folder, target_name),
        ):
            os.rename(source_name, target_name, src_dir_fd=source_folder, dst_dir_fd=target_folder)

    def unlink(self, path: str, *, point: str) -> None:
        with self._reaching("remove", path), _parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def make_dir(self, path: str) -> None:
        """Create a directory and its parents, durably. It may exist already."""
        with self._reaching("create directory", path):
            missing = []
            ancestor = os.path.abspath(path)
            while not os.path.lexists(ancestor):
                missing.append(ancestor)
                ancestor = os.path.dirname(ancestor)
            for directory in reversed(missing):
                os.makedirs(directory, mode=0o700, exist_ok=True)
                try:
                    _sync_directory(os.path.dirname(directory), follow_links=True)
                except OSError:
                    # Found there, it would be taken for durable.
                    with suppress(OSError):
                        os.rmdir(directory)
                    raise
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise not_a_file(path, "directory")

    def sync_dir(self, path: str, *, point: str) -> None:
        with self._reaching("sync directory", path):
            _sync_directory(path, follow_links=False)

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory, sorted; links, pipes and the like among them are refused."""
        with self._reaching("list", path):
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise not_a_file(path, "directory")
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _SAFELY)
            try:
                with os.scandir(descriptor) as entries:
                    return sorted(_plain_name(path, descriptor, entry) for entry in entries)
            finally:
                os.close(descriptor)

    def names_of(self, path: str) -> int:
        with self._reaching("look at", path):
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                raise not_a_file(path, "plain file")
            return status.st_nlink

    def exists(self, path: str) -> bool:
        """Whether anything has that name."""
        with self._reaching("look at", path):
            try:
                os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

    def remove_tree(self, path: str, *, point: str) -> None:
        """Remove a directory with all it holds, following no link."""
        with self._reaching("remove", path):
            if os.path.lexists(path):
                shutil.rmtree(path)

    def lock(self, path: str) -> FileLock:
        with self._reaching("lock", path):
            return take_lock(path, lambda: _open_file(path, os.O_RDWR | os.O_CREAT))

    def lock_existing(self, path: str) -> FileLock:
        with self._reaching("lock", path):
            return take_lock(path, lambda: _open_file(path, os.O_RDWR))

    def guard(self, lock: FileLock) -> None:
        """Refuse all that names a path once the lock's directory is replaced."""
        self._guard = lock

    def check_guard(self) -> None:
        """See that the directory was not removed."""
        if self._guard is not None:
            self._guard.check()

    def is_locked(self, path: str) -> bool:
        """Whether anybody holds the lock at `path`."""
        with self._reaching("look at", path):
            if not os.path.lexists(path):
                return False
            descriptor = _open_file(path, os.O_RDONLY)
            try:
                return is_lock_held(descriptor)
            finally:
                os.close(descriptor)

    def _reaching(self, operation: str, path: str) -> AbstractContextManager[None]:
        """A block that does something to a path; what is refused becomes a `DiskError`."""
        self._process.check()
        if self._guard is not None:
            self._guard.check_path()
        return _reporting(operation, path)


class _LocalWritableFile:
    """A descriptor, the path it was opened by, and the length of the file."""

    __slots__ = ("__weakref__", "_close", "_descriptor", "_process", "path", "size")

    def __init__(self, path: str, descriptor: int, size: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size = size
        self._process = current_process()
        self._close = close_with(self, descriptor)

    def append(self, data: ByteString, *, point: str) -> None:
        self.write_at(self.size, data, point=point)

    def write_at(self, offset: int, data: ByteString, *, point: str) -> None:
        self._process.check()
        length = len(data)
        if not 0 <= offset <= self.size:
            raise ValueError(f"offset {offset} is outside '{self.path}' ({self.size} bytes)")
        try:
            written = os.pwrite(self._descriptor, data, offset)
            if written < length:
                self._write_rest(offset, memoryview(data), written)
        except OSError as error:
            raise disk_error("write", self.path, error) from error
        self.size = max(self.size, offset + length)

    def _write_rest(self, offset: int, data: memoryview, written: int) -> None:
        """Go on after a short write: a signal, or a disk that is nearly full."""
        while written < len(data):
            written += os.pwrite(self._descriptor, data[written:], offset + written)

    def allocate(self, size: int, *, point: str) -> None:
        while self.size < size:
            self.append(_ZEROS[: size - self.size], point=point)

    def truncate(self, size: int, *, point: str) -> None:
        if not 0 <= size <= self.size:
            raise ValueError(f"cannot cut '{self.path}' ({self.size} bytes) to {size} bytes")
        self._process.check()
        with _reporting("truncate", self.path):
            os.ftruncate(self._descriptor, size)
        self.size = size

    def sync(self, *, point: str) -> None:
        self._process.check()
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            raise disk_error("sync", self.path, error) from error

    def close(self) -> None:
        # A descriptor number is reused by the next open: forget it before giving it back.
        self._descriptor = -1
        self._close()


class _LocalRandomAccessFile:
    """A descriptor read with `pread`, which moves no shared position."""

    __slots__ = ("__weakref__", "_close", "_descriptor", "path", "size")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._close = close_with(self, descriptor)
        self.size = os.fstat(descriptor).st_size

    def read(self, offset: int, length: int) -> bytes:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise self._ends_early(offset, length)
        try:
            data = os.pread(self._descriptor, length, offset)
            while len(data) < length:
                more = os.pread(self._descriptor, length - len(data), offset + len(data))
                if not more:
                    raise self._cut(offset + len(data))
                data += more
        except OSError as error:
            raise disk_error("read", self.path, error) from error
        return data

    def read_into(self, offset: int, memory: memoryview) -> None:
        length, done = len(memory), 0
        if offset < 0 or offset + length > self.size:
            raise self._ends_early(offset, length)
        try:
            while done < length:
                count = os.preadv(self._descriptor, [memory[done:]], offset + done)
                if not count:
                    raise self._cut(offset + done)
                done += count
        except OSError as error:
            raise disk_error("read", self.path, error) from error

    def _ends_early(self, offset: int, length: int) -> CorruptionError:
        return CorruptionError(
            f"'{self.path}' ends early: {length} bytes wanted at offset {offset}, "
            f"the file has {self.size} bytes"
        )

    def _cut(self, end: int) -> CorruptionError:
        return CorruptionError(
            f"'{self.path}' ends early: it was cut to {end} bytes "
            f"while {self.size} bytes of it were in use"
        )

    def close(self) -> None:
        self._descriptor = -1
        self._close()


@contextmanager
def _reporting(operation: str, path: str) -> Iterator[None]:
    """Turn what the operating system refuses into a `DiskError`."""
    try:
        yield
    except OSError as error:
        raise disk_error(operation, path, error) from error


@contextmanager
def _parent(path: str) -> Iterator[tuple[int, str]]:
    """A descriptor of the directory that holds a file, and the file's name in it.

    Raises OSError: ENOTDIR where the directory is a link, or no directory.
    """
    directory, name = os.path.split(path)
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(directory or ".", flags)
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)


def _open_file(path: str, flags: int) -> int:
    """A descriptor of a plain file in a real directory; links are refused in both places.

    Raises DiskError: it is no plain file, or is to be written to and has a second name; OSError:
    the system refused.
    """
    with _parent(path) as (folder, name):
        descriptor = os.open(name, flags | _SAFELY, 0o600, dir_fd=folder)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise not_a_file(path, "plain file")
    if status.st_nlink > 1 and flags & os.O_ACCMODE != os.O_RDONLY:
        os.close(descriptor)
        raise hard_linked(path, status.st_nlink)
    return descriptor


def _plain_name(path: str, directory: int, entry: "os.DirEntry[str]") -> str:
    """The name of an entry that is a plain file or a directory, or was until a moment ago.

    Raises DiskError: it is something else.
    """
    name = entry.name
    if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=directory, follow_symlinks=False)
            raise not_a_file(f"{path}/{name}", "plain file or directory")
    return name


def _sync_directory(path: str, *, follow_links: bool) -> None:
    """Sync a directory. Only the parents above a database may be reached through links."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(path, flags if follow_links else flags | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
