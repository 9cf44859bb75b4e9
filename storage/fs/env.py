"""The one door to the disk: the operations of a file system that the storage uses.

Kudu's `Env`. Everything above this room reads and writes through the protocols here, so the whole
engine runs unchanged over files (`LocalEnv`), over memory (`MemoryEnv`, behind `":memory:"`), and
over either of them with faults injected by the tests (`FaultEnv`).

What every environment guarantees:

* A mutation names its `point`, a dotted word such as `wal.append` or `manifest.sync`. That is
  where tests inject faults, and it costs nothing when they do not.
* What the operating system refuses becomes a `DiskError` naming operation, path and reason.
* Nothing is durable before `sync` (bytes and size of a file) or `sync_dir` (names in a directory)
  has returned. `make_dir` alone makes what it creates durable itself.
* A symbolic link, device or pipe where a file or directory of the database should be is refused
  with a `DiskError`; it is never followed.
"""

from collections.abc import Callable
from typing import Protocol, Self

from pykudu_sql.storage.errors import MissingPathError

ByteString = bytes | bytearray | memoryview


class WritableFile(Protocol):
    """A file being written. Appends belong to one thread at a time; `sync` may run beside them."""

    @property
    def path(self) -> str:
        """Where the file was opened; a later rename does not change it."""

    @property
    def size(self) -> int:
        """Length in bytes, allocated zeros included."""

    def append(self, data: ByteString, *, point: str) -> None:
        """Write `data` at the end."""

    def write_at(self, offset: int, data: ByteString, *, point: str) -> None:
        """Write `data` at `offset` (0 .. size), growing the file when it reaches past the end."""

    def allocate(self, size: int, *, point: str) -> None:
        """Fill with zeros up to `size` bytes; a file as long as that already stays as it is."""

    def truncate(self, size: int, *, point: str) -> None:
        """Cut to `size` bytes, at most the present size."""

    def sync(self, *, point: str) -> None:
        """Make every byte written before this call survive a power loss."""

    def close(self) -> None:
        """Give the file back. Closing twice is allowed; closing does not sync."""


class RandomAccessFile(Protocol):
    """An immutable file, or the part of a log that is written; reads are thread-safe."""

    @property
    def path(self) -> str:
        """Where the file was opened."""

    @property
    def size(self) -> int:
        """Length in bytes when it was opened."""

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset`.

        Raises CorruptionError: the file ends before them. Checked before memory is taken.
        """

    def read_into(self, offset: int, memory: memoryview) -> None:
        """As many bytes from `offset` as some writable bytes are.

        Raises CorruptionError: the file ends before them.
        """

    def close(self) -> None:
        """Give the file back. A file unlinked meanwhile stays readable until then."""


class FileLock(Protocol):
    """An exclusive lock that is held until released or until the process ends, however it ends."""

    @property
    def is_held(self) -> bool:
        """Whether this process holds it: a child forked from the one that took it does not."""

    def announce(self) -> None:
        """Make the lock visible to `Env.is_locked`, which does not see one that was only taken."""

    def check(self) -> None:
        """See that the lock's file, if this process holds the lock, has its name still.

        Raises DirectoryReplacedError: it was removed, with the directory it was in as a rule.
        """
        ...

    def check_path(self) -> None:
        """The same, and that no other file has that name: see `check`, which takes less time."""
        ...

    def release(self) -> None:
        """Let others in. Releasing twice is allowed."""

    def hand_over(self, take: Callable[[int], None]) -> None:
        """Let another process hold the lock on; for this one it is released.

        `take`: starts a process that inherits the descriptor it is given. Raises NotSupportedError:
        the file system is this process's own.
        """

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: object) -> None: ...


class Env(Protocol):
    """A file system as the storage sees it. All methods raise `DiskError` when it refuses."""

    def resolve(self, path: str) -> str:
        """Absolute form of `path`, links followed: what a store does once with its root."""

    def create(self, path: str, *, point: str) -> WritableFile:
        """A new empty file (mode 0600). An existing name is an error."""

    def open_writable(self, path: str) -> WritableFile:
        """An existing file, to go on writing."""

    def open_random(self, path: str) -> RandomAccessFile:
        """An existing file, to read anywhere."""

    def read_file(self, path: str) -> bytes:
        """The whole of a small file."""

    def size_of(self, path: str) -> int:
        """Length of a file in bytes, at this moment; cheaper than opening it."""

    def rename(self, source: str, target: str, *, point: str) -> None:
        """Move a file in one step, replacing `target`."""

    def unlink(self, path: str, *, point: str) -> None:
        """Remove the name of a file."""

    def make_dir(self, path: str) -> None:
        """Create a directory (mode 0700) and its parents, durably. It may exist already."""

    def sync_dir(self, path: str, *, point: str) -> None:
        """Make creations, renames and unlinks in a directory survive a power loss."""

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory, sorted.

        Raises DiskError: it is no directory, or holds what is neither a plain file nor a directory.
        """

    def names_of(self, path: str) -> int:
        """How many names a plain file has; more than one are hard links."""

    def exists(self, path: str) -> bool:
        """Whether anything, be it a dangling link, has that name.

        Raises DiskError: that cannot be found out, as behind a directory that may not be searched.
        """

    def remove_tree(self, path: str, *, point: str) -> None:
        """Remove a directory with all it holds; none of that name is no error."""

    def lock(self, path: str) -> FileLock:
        """Take the exclusive lock at `path` without waiting.

        Raises LockedError: another process, or another opening in this one, holds it.
        """

    def lock_existing(self, path: str) -> FileLock:
        """Take the lock of a file that is there, without waiting; none is made.

        Raises LockedError: as `lock`; DiskError: no file has that name.
        """

    def guard(self, lock: FileLock) -> None:
        """Refuse, while a lock is held, all that names a path once its directory is replaced.

        `lock`: of the database; the one that was given last counts.
        """
        ...

    def check_guard(self) -> None:
        """See that the directory was not removed, before a file is written that is open already.

        Raises DirectoryReplacedError: see `FileLock.check`.
        """
        ...

    def is_locked(self, path: str) -> bool:
        """Whether somebody holds the lock at `path` and has announced it.

        Whoever takes it meanwhile is not disturbed.
        """


def publish(env: Env, temporary: str, final: str, *, point: str) -> None:
    """Give a finished and synced file its name, atomically and durably.

    Args:
        temporary: path of the finished file.
        final: its name; what had that name is replaced.
        point: prefix of the fault points, `<point>.rename` and `<point>.sync_dir`.
    """
    env.rename(temporary, final, point=f"{point}.rename")
    env.sync_dir(parent_of(final), point=f"{point}.sync_dir")


def names_if_there(env: Env, path: str) -> list[str]:
    """Names in a directory, sorted; none if it is not there, be it that it goes just now.

    Raises DiskError: see `Env.list_dir`.
    """
    try:
        return env.list_dir(path)
    except MissingPathError:
        return []


def parent_of(path: str) -> str:
    """The directory that holds `path`; `.` for a bare name."""
    head, _, _ = path.rstrip("/").rpartition("/")
    if head:
        return head
    return "/" if path.startswith("/") else "."
