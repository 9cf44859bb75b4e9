"""An environment that fails on demand: the instrument of every crash and disk-error test.

It wraps another environment and shows each mutation to a hook before it happens. The hook sees
which call it is (operation, named point, path, ordinal since the start) and may answer with an
action. Which faults to try, and that none was forgotten, is the campaign's business: running the
same work with "fail the k-th mutation" for k = 1, 2, 3 ... until nothing fails any more visits
every place where a disk can let the database down.
"""

import errno
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pykudu_sql.storage.fs.env import ByteString, Env, FileLock, RandomAccessFile, WritableFile
from pykudu_sql.storage.fs.os_error import disk_error

CRASH_EXIT_CODE = 85


class Mutation(StrEnum):
    """The kinds of calls that change what is on disk."""

    CREATE = "create"
    WRITE = "write"
    ALLOCATE = "allocate"
    TRUNCATE = "truncate"
    SYNC = "sync"
    RENAME = "rename"
    UNLINK = "unlink"
    SYNC_DIR = "sync_dir"
    REMOVE_TREE = "remove_tree"


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """One mutation about to happen.

    Attributes:
        operation: its kind.
        point: the name the caller gave the place, such as `wal.append`.
        path: the file or directory; for a rename the source.
        ordinal: its number among all mutations of this environment, from 1.
    """

    operation: Mutation
    point: str
    path: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Fail:
    """Refuse the call with this error number; nothing happens on disk."""

    error_number: int = errno.EIO


@dataclass(frozen=True, slots=True)
class ShortWrite:
    """Write only the first `length` bytes, then refuse."""

    length: int
    error_number: int = errno.ENOSPC


@dataclass(frozen=True, slots=True)
class CrashBefore:
    """End the process at once (exit code 85), the call not done."""


@dataclass(frozen=True, slots=True)
class CrashAfter:
    """End the process at once (exit code 85), the call done."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Claim success and do nothing: a disk that lies about a sync."""


FaultAction = Fail | ShortWrite | CrashBefore | CrashAfter | Drop | None
FaultHook = Callable[[FaultPoint], FaultAction]


class FaultEnv:
    """Any environment, with a hook before each mutation. Reads and locks pass untouched."""

    def __init__(self, inner: Env, hook: FaultHook) -> None:
        self._inner = inner
        self._injector = _Injector(hook)

    def resolve(self, path: str) -> str:
        """As the wrapped environment."""
        return self._inner.resolve(path)

    def create(self, path: str, *, point: str) -> WritableFile:
        """As the wrapped environment, after the hook."""
        files: list[WritableFile] = []
        self._injector.run(
            Mutation.CREATE,
            point,
            path,
            lambda: files.append(self._inner.create(path, point=point)),
        )
        return _FaultyWritableFile(files[0], self._injector)

    def open_writable(self, path: str) -> WritableFile:
        """As the wrapped environment; what is written passes the hook."""
        return _FaultyWritableFile(self._inner.open_writable(path), self._injector)

    def open_random(self, path: str) -> RandomAccessFile:
        """As the wrapped environment."""
        return self._inner.open_random(path)

    def read_file(self, path: str) -> bytes:
        """As the wrapped environment."""
        return self._inner.read_file(path)

    def size_of(self, path: str) -> int:
        """As the wrapped environment."""
        return self._inner.size_of(path)

    def rename(self, source: str, target: str, *, point: str) -> None:
        """As the wrapped environment, after the hook."""
        self._injector.run(
            Mutation.RENAME,
            point,
            source,
            lambda: self._inner.rename(source, target, point=point),
        )

    def unlink(self, path: str, *, point: str) -> None:
        """As the wrapped environment, after the hook."""
        self._injector.run(
            Mutation.UNLINK, point, path, lambda: self._inner.unlink(path, point=point)
        )

    def make_dir(self, path: str) -> None:
        """As the wrapped environment."""
        self._inner.make_dir(path)

    def sync_dir(self, path: str, *, point: str) -> None:
        """As the wrapped environment, after the hook."""
        self._injector.run(
            Mutation.SYNC_DIR, point, path, lambda: self._inner.sync_dir(path, point=point)
        )

    def list_dir(self, path: str) -> list[str]:
        """As the wrapped environment."""
        return self._inner.list_dir(path)

    def names_of(self, path: str) -> int:
        """As the wrapped environment."""
        return self._inner.names_of(path)

    def exists(self, path: str) -> bool:
        """As the wrapped environment."""
        return self._inner.exists(path)

    def remove_tree(self, path: str, *, point: str) -> None:
        """As the wrapped environment, after the hook."""
        self._injector.run(
            Mutation.REMOVE_TREE, point, path, lambda: self._inner.remove_tree(path, point=point)
        )

    def lock(self, path: str) -> FileLock:
        """As the wrapped environment."""
        return self._inner.lock(path)

    def lock_existing(self, path: str) -> FileLock:
        """As the wrapped environment."""
        return self._inner.lock_existing(path)

    def guard(self, lock: FileLock) -> None:
        """As the wrapped environment."""
        self._inner.guard(lock)

    def check_guard(self) -> None:
        """As the wrapped environment."""
        self._inner.check_guard()

    def is_locked(self, path: str) -> bool:
        """As the wrapped environment."""
        return self._inner.is_locked(path)


class _Injector:
    """Counts mutations, asks the hook, and carries out its answer."""

    def __init__(self, hook: FaultHook) -> None:
        self._hook = hook
        self._ordinals = itertools.count(1)

    def run(
        self,
        operation: Mutation,
        point: str,
        path: str,
        perform: Callable[[], None],
        write_first: Callable[[int], None] | None = None,
    ) -> None:
        """Let a mutation happen, or what the hook wants instead.

        Args:
            operation, point, path: what the hook is shown.
            perform: does the whole of it.
            write_first: does the first n bytes of it; only a write has that.
        """
        action = self._hook(FaultPoint(operation, point, path, next(self._ordinals)))
        match action:
            case None:
                perform()
            case Fail(number):
                raise _refused(operation, path, number)
            case ShortWrite(length, number) if write_first is not None:
                write_first(length)
                raise _refused(operation, path, number)
            case CrashBefore():
                os._exit(CRASH_EXIT_CODE)
            case CrashAfter():
                perform()
                os._exit(CRASH_EXIT_CODE)
            case Drop() if operation in (Mutation.SYNC, Mutation.SYNC_DIR):
                return
            case _:
                raise ValueError(f"{action} makes no sense for {operation.value} at {point}")


class _FaultyWritableFile:
    """A file whose every mutation passes the hook."""

    __slots__ = ("_injector", "_inner")

    def __init__(self, inner: WritableFile, injector: _Injector) -> None:
        self._inner = inner
        self._injector = injector

    @property
    def path(self) -> str:
        return self._inner.path

    @property
    def size(self) -> int:
        return self._inner.size

    def append(self, data: ByteString, *, point: str) -> None:
        self.write_at(self._inner.size, data, point=point)

    def write_at(self, offset: int, data: ByteString, *, point: str) -> None:
        inner = self._inner
        self._injector.run(
            Mutation.WRITE,
            point,
            inner.path,
            lambda: inner.write_at(offset, data, point=point),
            lambda length: inner.write_at(offset, data[:length], point=point),
        )

    def allocate(self, size: int, *, point: str) -> None:
        if size > self._inner.size:
            self._injector.run(
                Mutation.ALLOCATE,
                point,
                self._inner.path,
                lambda: self._inner.allocate(size, point=point),
                lambda length: self._inner.allocate(
                    min(size, self._inner.size + length), point=point
                ),
            )

    def truncate(self, size: int, *, point: str) -> None:
        self._injector.run(
            Mutation.TRUNCATE,
            point,
            self._inner.path,
            lambda: self._inner.truncate(size, point=point),
        )

    def sync(self, *, point: str) -> None:
        self._injector.run(
            Mutation.SYNC, point, self._inner.path, lambda: self._inner.sync(point=point)
        )

    def close(self) -> None:
        self._inner.close()


def _refused(operation: Mutation, path: str, number: int) -> Exception:
    """The error a refused call ends with, its cause the operating system's as in real life."""
    cause = OSError(number, os.strerror(number), path)
    error = disk_error(operation.value, path, cause)
    error.__cause__ = cause
    return error
