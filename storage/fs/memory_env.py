"""The environment of a `":memory:"` database: files that live and die with the process.

It keeps every promise of `Env` that can be kept in memory, refusing exactly what a file system
refuses, so the engine above sees no difference; one contract test runs over both. Syncs
have nothing to do. A file stays readable through what was opened before it was unlinked.
"""

import errno
import posixpath
import threading
from collections.abc import Callable
from typing import Self

from pykudu_sql.storage.errors import CorruptionError, NotSupportedError
from pykudu_sql.storage.fs.env import ByteString, FileLock, RandomAccessFile, WritableFile
from pykudu_sql.storage.fs.file_lock import locked_error
from pykudu_sql.storage.fs.os_error import disk_error


class MemoryEnv:
    """A tree of byte arrays; an `Env`. Each instance is a file system of its own."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._directories: dict[str, set[str]] = {"/": set()}
        self._files: dict[str, _Content] = {}
        # Held ones, and whether they are announced.
        self._locks: dict[str, bool] = {}

    def resolve(self, path: str) -> str:
        return posixpath.normpath(posixpath.join("/", path))

    def create(self, path: str, *, point: str) -> WritableFile:
        with self._mutex:
            directory, name = self._place("create", path)
            if name in directory:
                raise _refusal("create", path, errno.EEXIST)
            directory.add(name)
            content = self._files[self.resolve(path)] = _Content()
        return _MemoryWritableFile(path, content)

    def open_writable(self, path: str) -> WritableFile:
        return _MemoryWritableFile(path, self._content(path))

    def open_random(self, path: str) -> RandomAccessFile:
        return _MemoryRandomAccessFile(path, self._content(path))

    def read_file(self, path: str) -> bytes:
        file = self.open_random(path)
        return file.read(0, file.size)

    def size_of(self, path: str) -> int:
        return len(self._content(path).data)

    def rename(self, source: str, target: str, *, point: str) -> None:
        with self._mutex:
            source_folder, name = self._place("rename", source)
            goes_to, new_name = self._place("rename", target)
            content = self._files.get(self.resolve(source))
            if content is None:
                raise _refusal("rename", source, errno.ENOENT)
            if self.resolve(target) in self._directories:
                raise _refusal("rename", source, errno.EISDIR)
            del self._files[self.resolve(source)]
            source_folder.discard(name)
            self._files[self.resolve(target)] = content
            goes_to.add(new_name)

    def unlink(self, path: str, *, point: str) -> None:
        with self._mutex:
            directory, name = self._place("remove", path)
            if self._files.pop(self.resolve(path), None) is None:
                raise _refusal("remove", path, errno.EISDIR if name in directory else errno.ENOENT)
            directory.discard(name)

    def make_dir(self, path: str) -> None:
        """Create a directory and its parents. It may exist already."""
        with self._mutex:
            folder = "/"
            for name in self.resolve(path).split("/")[1:]:
                if not name:
                    continue
                self._directories[folder].add(name)
                folder = posixpath.join(folder, name)
                if folder in self._files:
                    raise _refusal("create directory", path, errno.ENOTDIR)
                self._directories.setdefault(folder, set())

    def sync_dir(self, path: str, *, point: str) -> None:
        """Nothing but the check that the directory is there."""
        self.list_dir(path)

    def list_dir(self, path: str) -> list[str]:
        with self._mutex:
            resolved = self.resolve(path)
            if resolved not in self._directories:
                there = resolved in self._files
                raise _refusal("list", path, errno.ENOTDIR if there else errno.ENOENT)
            return sorted(self._directories[resolved])

    def names_of(self, path: str) -> int:
        self._content(path)
        return 1

    def exists(self, path: str) -> bool:
        """Whether anything has that name."""
        with self._mutex:
            resolved = self.resolve(path)
            return resolved in self._files or resolved in self._directories

    def remove_tree(self, path: str, *, point: str) -> None:
        with self._mutex:
            resolved = self.resolve(path)
            if resolved in self._files:
                raise _refusal("remove", path, errno.ENOTDIR)
            if resolved not in self._directories:
                return
            inside = resolved.rstrip("/") + "/"
            self._files = {k: v for k, v in self._files.items() if not k.startswith(inside)}
            self._directories = {
                k: v
                for k, v in self._directories.items()
                if k != resolved and not k.startswith(inside)
            }
            parent, name = posixpath.split(resolved)
            self._directories.get(parent, set()).discard(name)
            self._directories.setdefault("/", set())

    def lock(self, path: str) -> FileLock:
        """Take the exclusive lock at `path`; the holder can only be this process."""
        with self._mutex:
            directory, name = self._place("lock", path)
            resolved = self.resolve(path)
            if resolved not in self._files:
                directory.add(name)
                self._files[resolved] = _Content()
            return self._take(path, resolved)

    def lock_existing(self, path: str) -> FileLock:
        """Take the lock of a file that is there."""
        with self._mutex:
            self._place("lock", path)
            resolved = self.resolve(path)
            if resolved not in self._files:
                raise _refusal("lock", path, errno.ENOENT)
            return self._take(path, resolved)

    def _take(self, path: str, resolved: str) -> FileLock:
        """The lock of a file; the caller holds the mutex."""
        if resolved in self._locks:
            raise locked_error(path, "this process")
        self._locks[resolved] = False
        return _MemoryFileLock(self, resolved)

    def guard(self, lock: FileLock) -> None:
        """Nothing: nobody else removes files in memory."""

    def check_guard(self) -> None:
        """Nothing."""

    def is_locked(self, path: str) -> bool:
        """Whether this process holds the lock at `path` and has announced it."""
        with self._mutex:
            return self._locks.get(self.resolve(path), False)

    def release_lock(self, path: str) -> None:
        """Let others take the lock at `path`, in its absolute form."""
        with self._mutex:
            self._locks.pop(path, None)

    def announce_lock(self, path: str) -> None:
        """Let `is_locked` know of the lock at `path`, in its absolute form."""
        with self._mutex:
            self._locks[path] = True

    def _content(self, path: str) -> "_Content":
        with self._mutex:
            resolved = self.resolve(path)
            content = self._files.get(resolved)
            if content is None:
                there = resolved in self._directories
                raise _refusal("open", path, errno.EISDIR if there else errno.ENOENT)
            return content

    def _place(self, operation: str, path: str) -> tuple[set[str], str]:
        """The directory a path lies in and the name there; the caller holds the mutex."""
        parent, name = posixpath.split(self.resolve(path))
        if parent not in self._directories:
            raise _refusal(
                operation, path, errno.ENOTDIR if parent in self._files else errno.ENOENT
            )
        return self._directories[parent], name


class _Content:
    """The bytes of a file, shared by all who have it open."""

    __slots__ = ("data", "mutex")

    def __init__(self) -> None:
        self.data = bytearray()
        self.mutex = threading.Lock()


class _MemoryWritableFile:
    """A byte array that grows."""

    __slots__ = ("_content", "path")

    def __init__(self, path: str, content: _Content) -> None:
        self.path = path
        self._content = content

    @property
    def size(self) -> int:
        return len(self._content.data)

    def append(self, data: ByteString, *, point: str) -> None:
        with self._content.mutex:
            self._content.data += data

    def write_at(self, offset: int, data: ByteString, *, point: str) -> None:
        if not 0 <= offset <= self.size:
            raise ValueError(f"offset {offset} is outside '{self.path}' ({self.size} bytes)")
        with self._content.mutex:
            self._content.data[offset : offset + len(data)] = data

    def allocate(self, size: int, *, point: str) -> None:
        with self._content.mutex:
            self._content.data += bytes(max(0, size - len(self._content.data)))

    def truncate(self, size: int, *, point: str) -> None:
        if not 0 <= size <= self.size:
            raise ValueError(f"cannot cut '{self.path}' ({self.size} bytes) to {size} bytes")
        with self._content.mutex:
            del self._content.data[size:]

    def sync(self, *, point: str) -> None:
        """Memory is as durable as it will ever be."""

    def close(self) -> None:
        """Nothing to give back."""


class _MemoryRandomAccessFile:
    """The bytes a file had when it was opened; later appends are not seen."""

    __slots__ = ("_content", "path", "size")

    def __init__(self, path: str, content: _Content) -> None:
        self.path = path
        self._content = content
        self.size = len(content.data)

    def read(self, offset: int, length: int) -> bytes:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise CorruptionError(
                f"'{self.path}' ends early: {length} bytes wanted at offset {offset}, "
                f"the file has {self.size} bytes"
            )
        # The view must be gone before another thread grows the array, hence the mutex.
        with self._content.mutex, memoryview(self._content.data) as view:
            return view[offset : offset + length].tobytes()

    def read_into(self, offset: int, memory: memoryview) -> None:
        memory[:] = self.read(offset, len(memory))

    def close(self) -> None:
        """Nothing to give back."""


class _MemoryFileLock:
    """A name in the set of locks of its file system."""

    def __init__(self, env: MemoryEnv, path: str) -> None:
        self._env = env
        self._path = path
        self.is_held = True

    def check(self) -> None:
        """Nothing: nobody else removes files in memory."""

    def check_path(self) -> None:
        """Nothing."""

    def release(self) -> None:
        if self.is_held:
            self.is_held = False
            self._env.release_lock(self._path)

    def announce(self) -> None:
        """Let `is_locked` know of it."""
        self._env.announce_lock(self._path)

    def hand_over(self, take: Callable[[int], None]) -> None:
        """Files in memory belong to one process; see `FileLock`."""
        raise NotSupportedError(f"'{self._path}' is in memory: no other process can hold its lock")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()


def _refusal(operation: str, path: str, number: int) -> Exception:
    """The error that a file system would have raised."""
    return disk_error(operation, path, OSError(number, ""))
