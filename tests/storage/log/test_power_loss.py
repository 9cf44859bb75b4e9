"""Power loss before every single call: only what was synced is left, and that is enough.

The model disk below forgets whatever nobody synced: bytes without a sync of their file, names
without a sync of their directory. Each missing sync in the log or the manifest fails one of these
tests, which a kill of the process could not show.
"""

import itertools

import pytest

from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from tests.storage.fault_env import FaultAction, FaultEnv, FaultPoint, Mutation

DATABASE = bytes(range(16))


class PowerLoss(Exception):
    """The moment the lights go out."""


class ModelDisk:
    """A file system in memory that knows which of its state is durable."""

    def __init__(self, lose_power_at: int, cache: MemoryEnv | None = None) -> None:
        """All that `cache` holds is durable; power goes before a call, counted from 1."""
        self.cache = cache or MemoryEnv()
        self.env = FaultEnv(self.cache, self._before)
        self._lose_power_at = lose_power_at
        self._bytes: dict[int, bytes] = {}
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

    def after_restart(self, *, torn: bool) -> MemoryEnv:
        """What is there when the power is back.

        Args:
            torn: every second 16 bytes of what was not synced got through after all, of files
                whose name is durable.
        """
        disk = MemoryEnv()
        current = {id(content): bytes(content.data) for content in self.cache._files.values()}
        for directory, names in self._names.items():
            disk.make_dir(directory)
            for name, content in names.items():
                durable = self._bytes.get(content, b"")
                if torn:
                    durable = mixed(durable, current.get(content, durable))
                disk.create(f"{directory}/{name}", point="t").append(durable, point="t")
        return disk


def mixed(old: bytes, new: bytes) -> bytes:
    """Sixteen bytes of the one, sixteen of the other, in turn."""
    size = max(len(old), len(new))
    old, new = old.ljust(size, b"\0"), new.ljust(size, b"\0")
    return b"".join((new if i % 32 else old)[i : i + 16] for i in range(0, size, 16))


@pytest.mark.parametrize("torn", [False, True])
def test_an_acknowledged_record_survives_power_loss_at_any_moment(torn: bool) -> None:
    for moment in itertools.count(1):
        disk = ModelDisk(moment)
        durable: dict[int, bytes] = {}
        attempted: dict[int, bytes] = {}
        lost_power = False
        try:
            for closed in (True, False, True):
                log = WriteAheadLog.open(disk.env, "/wal", DATABASE, segment_bytes=256)
                # What opening showed to readers must not vanish, a killed process or not.
                durable |= attempted
                for i in range(10):
                    payload = b"commit %d " % i * 4
                    attempted[log.last_sequence + 1] = payload
                    sequence = log.append(payload)
                    if i % 4 == 2:
                        log.sync(sequence)
                        durable |= attempted
                if closed:
                    log.close()
        except PowerLoss:
            lost_power = True
        restarted = disk.after_restart(torn=torn)
        log = WriteAheadLog.open(restarted, "/wal", DATABASE, segment_bytes=256)
        recovered = dict(log.replay(0))
        assert durable.items() <= recovered.items() <= attempted.items()
        assert log.last_sequence >= max(recovered, default=0)
        assert dict(log.replay(0)) == recovered
        if not lost_power:
            break
    assert moment > 60


@pytest.mark.parametrize("torn", [False, True])
def test_dropping_segments_survives_power_loss_at_any_moment(torn: bool) -> None:
    for moment in itertools.count(1):
        disk = ModelDisk(moment)
        flushed = last = 0
        lost_power = False
        try:
            log = WriteAheadLog.open(disk.env, "/wal", DATABASE, segment_bytes=256)
            for _ in range(12):
                sequence = log.append(b"x" * 100)
                log.sync(sequence)
                last = sequence
                if sequence % 4 == 0:
                    flushed = sequence
                    log.drop_before(sequence + 1)
        except PowerLoss:
            lost_power = True
        log = WriteAheadLog.open(
            disk.after_restart(torn=torn), "/wal", DATABASE, segment_bytes=256, after=flushed
        )
        assert set(range(flushed + 1, last + 1)) <= {s for s, _ in log.replay(flushed)}
        if not lost_power:
            break
    assert moment > 30


@pytest.mark.parametrize("torn", [False, True])
def test_a_manifest_survives_power_loss_at_any_moment(torn: bool) -> None:
    for moment in itertools.count(1):
        disk = ModelDisk(moment)
        states: list[list[dict[str, int]]] = [[]]
        attempted: list[dict[str, int]] = []
        lost_power = False
        try:
            attempted = [{"n": 0}]
            manifest = Manifest.create(disk.env, "/db", DATABASE, attempted)
            for n in range(1, 7):
                states.append(attempted)
                attempted = [*attempted, {"n": n}] if n % 3 else [{"n": n}]
                if n % 3:
                    manifest.append({"n": n})
                else:
                    manifest.rewrite(attempted)
            states.append(attempted)
            manifest.close()
        except PowerLoss:
            lost_power = True
        restarted = disk.after_restart(torn=torn)
        if restarted.exists("/db/CURRENT"):
            manifest = Manifest.open(restarted, "/db")
            assert manifest.edits in (states[-1], attempted)
        else:
            assert states == [[]]
        if not lost_power:
            break
    assert moment > 40
