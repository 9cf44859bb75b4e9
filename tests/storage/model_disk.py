"""A disk that forgets what nobody synced, and remembers what nobody synced away.

Bytes without a sync of their file are lost when the power goes, and names without a sync of their
directory. A cut without a sync of its file is undone.
"""

from enum import StrEnum

from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import FaultAction, FaultEnv, FaultPoint, Mutation


class PowerLoss(Exception):
    """The moment the lights go out."""


class Left(StrEnum):
    """What the power leaves of the bytes that were not synced, in files whose name is durable."""

    NONE = "none of them"
    TORN = "every second 16 bytes of them"
    ALL = "all that was ever written, and no cut"


class ModelDisk:
    """A file system in memory that knows which of its state is durable."""

    def __init__(self, lose_power_at: int, cache: MemoryEnv | None = None) -> None:
        """All that `cache` holds is durable; power goes before a call, counted from 1."""
        self.cache = cache or MemoryEnv()
        self.env = FaultEnv(self.cache, self._before)
        self._lose_power_at = lose_power_at
        self._bytes: dict[int, bytes] = {}
        self._before_cut: dict[int, bytes] = {}
        self._names: dict[str, dict[str, int]] = {}
        self._alive: list[object] = []
        for directory in self.cache._directories:
            self._note_names(directory)
        for path in self.cache._files:
            self._bytes[self._content(path)] = self.cache.read_file(path)

    def _before(self, point: FaultPoint) -> FaultAction:
        if point.ordinal >= self._lose_power_at:
            raise PowerLoss
        if point.operation is Mutation.SYNC:
            content = self._content(point.path)
            self._bytes[content] = self.cache.read_file(point.path)
            self._before_cut.pop(content, None)
        elif point.operation is Mutation.TRUNCATE:
            content = self._content(point.path)
            self._before_cut[content] = self._written(content, self.cache.read_file(point.path))
        elif point.operation is Mutation.SYNC_DIR:
            self._note_names(point.path)
        return None

    def _note_names(self, directory: str) -> None:
        paths = {name: f"{directory}/{name}" for name in self.cache.list_dir(directory)}
        self._names[directory] = {
            name: self._content(path) for name, path in paths.items() if path in self.cache._files
        }

    def _content(self, path: str) -> int:
        """What tells a file from another under the same name, as an inode does."""
        content = self.cache._files[path]
        self._alive.append(content)
        return id(content)

    def _written(self, content: int, current: bytes) -> bytes:
        """The bytes of a file as if none had been cut off since its last sync."""
        return current + self._before_cut.get(content, b"")[len(current) :]

    def after_restart(self, left: Left) -> MemoryEnv:
        """What is there when the power is back."""
        disk = MemoryEnv()
        current = {id(content): bytes(content.data) for content in self.cache._files.values()}
        for directory, names in self._names.items():
            disk.make_dir(directory)
            for name, content in names.items():
                durable = self._bytes.get(content, b"")
                bytes_left = self._bytes_left(left, content, durable, current.get(content, durable))
                disk.create(f"{directory}/{name}", point="t").append(bytes_left, point="t")
        return disk

    def _bytes_left(self, left: Left, content: int, durable: bytes, current: bytes) -> bytes:
        match left:
            case Left.NONE:
                return durable
            case Left.TORN:
                return mixed(durable, current)
            case Left.ALL:
                return self._written(content, current)


def copy_of(disk: MemoryEnv) -> MemoryEnv:
    """All that was written, synced or not, which a process finds after another was killed."""
    copy = MemoryEnv()
    for directory in sorted(disk._directories):
        copy.make_dir(directory)
    for path, content in list(disk._files.items()):
        copy.create(path, point="copy").append(bytes(content.data), point="copy")
    return copy


def mixed(old: bytes, new: bytes) -> bytes:
    """Sixteen bytes of the one, sixteen of the other, in turn."""
    size = max(len(old), len(new))
    old, new = old.ljust(size, b"\0"), new.ljust(size, b"\0")
    return b"".join((new if i % 32 else old)[i : i + 16] for i in range(0, size, 16))
