"""Power loss before every single call: only what was synced is left, and that is enough.

The model disk forgets whatever nobody synced (see `model_disk`). Each missing sync in the log or
the manifest fails one of these tests, which a kill of the process could not show.
"""

import itertools

import pytest

from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.log.log_reader import LogReader
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.record_log import LogKind
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from tests.storage.fault_env import Fail, FaultAction, FaultPoint, ShortWrite
from tests.storage.model_disk import Left, ModelDisk, PowerLoss

DATABASE = bytes(range(16))


@pytest.mark.parametrize("left", Left)
def test_an_acknowledged_record_survives_power_loss_at_any_moment(left: Left) -> None:
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
        restarted = disk.after_restart(left)
        log = WriteAheadLog.open(restarted, "/wal", DATABASE, segment_bytes=256)
        recovered = dict(log.replay(0))
        assert durable.items() <= recovered.items() <= attempted.items()
        assert log.last_sequence >= max(recovered, default=0)
        assert dict(log.replay(0)) == recovered
        if not lost_power:
            break
    assert moment > 60


class RefusedSync(ModelDisk):
    """A disk that refuses one sync of the write-ahead log, once told to."""

    def __init__(self) -> None:
        super().__init__(1 << 60)
        self.refuses = False

    def _before(self, point: FaultPoint) -> FaultAction:
        if self.refuses and point.point == "wal.sync":
            self.refuses = False
            return Fail()
        return super()._before(point)


def test_what_a_new_segment_took_over_from_one_that_could_not_be_synced_is_durable() -> None:
    disk = RefusedSync()
    log = WriteAheadLog.open(disk.env, "/wal", DATABASE)
    log.append(b"taken over")
    disk.refuses = True
    with pytest.raises(DiskError):
        log.sync(1)
    log.repair()
    assert log.durable_sequence == 1
    assert dict(WriteAheadLog.read(disk.after_restart(Left.NONE), "/wal", DATABASE)) == {
        1: b"taken over"
    }


@pytest.mark.parametrize("left", Left)
def test_dropping_segments_survives_power_loss_at_any_moment(left: Left) -> None:
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
            disk.after_restart(left), "/wal", DATABASE, segment_bytes=256, after=flushed
        )
        assert set(range(flushed + 1, last + 1)) <= {s for s, _ in log.replay(flushed)}
        if not lost_power:
            break
    assert moment > 30


@pytest.mark.parametrize("left", Left)
def test_a_manifest_survives_power_loss_at_any_moment(left: Left) -> None:
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
        restarted = disk.after_restart(left)
        if restarted.exists("/db/CURRENT"):
            manifest = Manifest.open(restarted, "/db")
            assert manifest.edits in (states[-1], attempted)
        else:
            assert states == [[]]
        if not lost_power:
            break
    assert moment > 40


class DiskWithRefusals(ModelDisk):
    """A disk that refuses every third write at one point, when all of its bytes are written."""

    def __init__(self, lose_power_at: int, refused: str) -> None:
        super().__init__(lose_power_at)
        self._refused = refused
        self._writes = 0

    def _before(self, point: FaultPoint) -> FaultAction:
        super()._before(point)
        if point.point != self._refused:
            return None
        self._writes += 1
        return None if self._writes % 3 else ShortWrite(1 << 30)


@pytest.mark.parametrize("left", Left)
def test_a_record_that_was_taken_back_stays_away_after_power_loss_at_any_moment(
    left: Left,
) -> None:
    for moment in itertools.count(1):
        disk = DiskWithRefusals(moment, "wal.append")
        durable: list[bytes] = []
        kept: list[bytes] = []
        attempted: list[bytes] = []
        lost_power = False
        try:
            log = WriteAheadLog.open(disk.env, "/wal", DATABASE)
            for i in range(12):
                attempted = [*kept, b"commit %d " % i * 4]
                try:
                    log.append(attempted[-1])
                except DiskError:
                    attempted = kept
                    continue
                kept = attempted
                if i % 2:
                    # Perhaps it is durable already: taking back the one before made it so.
                    log.sync(log.last_sequence)
                    durable = kept
        except PowerLoss:
            lost_power = True
        log = WriteAheadLog.open(disk.after_restart(left), "/wal", DATABASE)
        recovered = [payload for _, payload in log.replay(0)]
        assert recovered[: len(durable)] == durable
        assert recovered == attempted[: len(recovered)]
        if not lost_power:
            break
    assert moment > 20


@pytest.mark.parametrize("left", Left)
def test_an_edit_that_was_taken_back_stays_away_after_power_loss_at_any_moment(left: Left) -> None:
    for moment in itertools.count(1):
        disk = DiskWithRefusals(moment, "manifest.append")
        edits: list[dict[str, int]] = []
        attempted: list[dict[str, int]] = []
        lost_power = False
        try:
            manifest = Manifest.create(disk.env, "/db", DATABASE, [])
            for n in range(8):
                attempted = [*edits, {"n": n}]
                try:
                    manifest.append({"n": n})
                except DiskError:
                    attempted = edits
                edits = attempted
        except PowerLoss:
            lost_power = True
        restarted = disk.after_restart(left)
        if restarted.exists("/db/CURRENT"):
            assert Manifest.open(restarted, "/db").edits in (edits, attempted)
        else:
            assert not edits
        if not lost_power:
            break
    assert moment > 20


@pytest.mark.parametrize("left", Left)
def test_a_clean_close_leaves_logs_that_are_sealed_after_a_power_loss(left: Left) -> None:
    disk = ModelDisk(1 << 60)
    manifest = Manifest.create(disk.env, "/db", DATABASE, [{"n": 0}])
    manifest.append({"n": 1})
    manifest.close()
    log = WriteAheadLog.open(disk.env, "/db/wal", DATABASE)
    log.append(b"commit")
    log.close()
    restarted = disk.after_restart(left)
    for path, kind in (("/db/wal/1.log", LogKind.WAL), ("/db/manifest/1.log", LogKind.MANIFEST)):
        reader = LogReader.open(restarted, path, kind, 1, DATABASE)
        assert len(list(reader.records())) >= 1
        assert reader.end.confirmed and reader.end.offset == restarted.size_of(path)
