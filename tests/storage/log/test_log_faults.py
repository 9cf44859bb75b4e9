"""Disk errors and crashes at every step: what was acknowledged is there, nothing is half there."""

import errno
import itertools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pykudu_sql.storage.errors import DiskError, TransactionResolutionUnknownError
from pykudu_sql.storage.fs.env import Env, WritableFile
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.durable_mark import DurableEnd, DurableMark
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
from tests.storage.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultHook,
    FaultPoint,
    Mutation,
    ShortWrite,
)

DATABASE = bytes(range(16))


class FailOnce:
    """A hook that fails the next mutation at a point, once told to."""

    def __init__(self, point: str, action: FaultAction) -> None:
        self.armed = False
        self._point = point
        self._action = action

    def __call__(self, point: FaultPoint) -> FaultAction:
        if self.armed and point.point == self._point:
            self.armed = False
            return self._action
        return None


class FailWhile:
    """A hook that fails every mutation of a kind of file while it is told to."""

    def __init__(self, prefix: str, action: FaultAction) -> None:
        self.armed = False
        self._prefix = prefix
        self._action = action

    def __call__(self, point: FaultPoint) -> FaultAction:
        if self.armed and point.point.startswith(self._prefix):
            return self._action if isinstance(self._action, Fail) else Fail()
        return None


@pytest.mark.parametrize(
    ("point", "action"),
    [
        ("wal.append", Fail(errno.ENOSPC)),
        ("wal.append", ShortWrite(10)),
        ("wal.append", ShortWrite(30)),
        ("wal.allocate", Fail(errno.ENOSPC)),
    ],
)
def test_a_write_that_fails_once_is_taken_back_and_the_log_goes_on(
    point: str, action: FaultAction
) -> None:
    inner = MemoryEnv()
    hook = FailOnce(point, action)
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE)
    payload = b"x" * 40_000
    log.append(payload)
    hook.armed = True
    with pytest.raises(DiskError, match="nothing was changed"):
        log.append(payload)
    assert log.durable_sequence == 1, "cutting back syncs what came before"
    assert dict(WriteAheadLog.read(inner, "/wal", DATABASE)) == {1: payload}
    log.sync(log.append(b"goes on"))
    assert dict(WriteAheadLog.read(inner, "/wal", DATABASE)) == {1: payload, 2: b"goes on"}
    assert len(log._segments) == 1


def test_after_a_failed_sync_a_new_segment_takes_over_what_no_sync_confirmed() -> None:
    inner = MemoryEnv()
    hook = FailOnce("wal.sync", Fail(errno.EIO))
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE)
    log.sync(log.append(b"durable"))
    log.append(b"in flight")
    hook.armed = True
    with pytest.raises(DiskError):
        log.sync(log.append(b"failed"))
    assert log.is_broken and log.durable_sequence == 1
    with pytest.raises(DiskError, match="Input/output error"):
        log.sync(3)
    log.repair()
    assert log.durable_sequence == 3 and not log.is_broken
    log.sync(3)
    log.sync(log.append(b"goes on"))
    wanted = {1: b"durable", 2: b"in flight", 3: b"failed", 4: b"goes on"}
    assert dict(WriteAheadLog.read(inner, "/wal", DATABASE)) == wanted
    assert len(log._segments) == 2
    log.close()
    again = WriteAheadLog.open(inner, "/wal", DATABASE)
    assert dict(again.replay(0)) == wanted
    assert dict(again.replay(2)) == {3: b"failed", 4: b"goes on"}


def test_what_a_segment_holds_behind_the_begin_of_the_next_one_never_counts() -> None:
    inner = MemoryEnv()
    hook = FailWhile("wal.cut_back", Fail(errno.EIO))
    faulty = FaultEnv(inner, hook)
    log = WriteAheadLog.open(faulty, "/wal", DATABASE)
    log.sync(log.append(b"durable"))
    hook.armed = True
    refuse = FailOnce("wal.append", ShortWrite(31))  # all but a byte of zeros behind the payload
    refuse.armed = True
    log._writer._file = FaultEnv(inner, refuse).open_writable("/wal/1.log")
    log._writer._file = _Both(log._writer._file, faulty.open_writable("/wal/1.log"))
    with pytest.raises(DiskError, match="nothing was changed"):
        log.append(b"refused")
    assert inner.read_file("/wal/1.log").find(b"refused") > 0
    assert dict(WriteAheadLog.read(inner, "/wal", DATABASE)) == {1: b"durable"}
    log.sync(log.append(b"another"))
    assert dict(WriteAheadLog.read(inner, "/wal", DATABASE)) == {1: b"durable", 2: b"another"}


class _Both:
    """A file that is written through one environment and cut through another."""

    def __init__(self, written: WritableFile, cut: WritableFile) -> None:
        self.write_at = written.write_at
        self.allocate = written.allocate
        self.truncate = cut.truncate
        self.sync = cut.sync
        self.close = cut.close
        self.path = written.path

    @property
    def size(self) -> int:
        return 1 << 16


def test_a_log_that_cannot_be_repaired_yet_refuses_and_goes_on_as_soon_as_it_can() -> None:
    inner = MemoryEnv()
    hook = FailWhile("wal.", Fail(errno.EIO))
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE)
    log.append(b"first")
    hook.armed = True
    with pytest.raises(TransactionResolutionUnknownError) as caught:
        log.append(b"second")
    assert caught.value.sqlstate == "08007"
    for _ in range(3):
        with pytest.raises(DiskError, match="nothing was changed"):
            log.append(b"refused")
        with pytest.raises(DiskError):
            log.sync(1)
        with pytest.raises(DiskError):
            log.repair()
    hook.armed = False
    log.sync(log.append(b"goes on"))
    log.close()
    records = dict(WriteAheadLog.open(inner, "/wal", DATABASE).replay(0))
    assert records == {1: b"first", 2: b"goes on"}


@pytest.mark.parametrize(
    "point", ["wal.create", "wal.header", "wal.create.rename", "wal.create.sync_dir"]
)
def test_a_segment_that_cannot_be_started_is_started_by_the_next_append(point: str) -> None:
    hook = FailOnce(point, Fail(errno.ENOSPC))
    inner = MemoryEnv()
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE, segment_bytes=100)
    log.append(b"x" * 100)
    hook.armed = True
    with pytest.raises(DiskError, match=r"No space left.*nothing was changed"):
        log.append(b"y")
    log.append(b"z")
    log.close()
    again = WriteAheadLog.open(inner, "/wal", DATABASE)
    assert dict(again.replay(0)) == {1: b"x" * 100, 2: b"z"}
    assert len(again._segments) == 2


@pytest.mark.parametrize("point", ["wal.trim", "wal.sync"])
def test_rolling_carries_over_what_the_full_segment_could_not_make_durable(point: str) -> None:
    hook = FailOnce(point, Fail(errno.EIO))
    inner = MemoryEnv()
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE, segment_bytes=100)
    log.append(b"x" * 100)
    hook.armed = True
    log.append(b"y")
    assert log.durable_sequence == 1 and len(log._segments) == 2
    log.close()
    assert dict(WriteAheadLog.open(inner, "/wal", DATABASE).replay(0)) == {1: b"x" * 100, 2: b"y"}


def test_a_failed_sync_is_reported_to_everyone_who_waited_for_it() -> None:
    hook = FailOnce("wal.sync", Fail(errno.EIO))
    log = WriteAheadLog.open(FaultEnv(MemoryEnv(), hook), "/wal", DATABASE)
    last = [log.append(b"%d" % i) for i in range(8)][-1]
    hook.armed = True
    outcomes: list[str] = []

    def wait() -> None:
        try:
            log.sync(last)
            outcomes.append("durable")
        except DiskError:
            outcomes.append("refused")

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["refused"] * 8
    assert log.durable_sequence == 0


def fail_at(ordinal: int, action: FaultAction, for_ever: bool, fired: list[str]) -> FaultHook:
    """A hook that fails the call of a number, and notes it."""

    def hook(point: FaultPoint) -> FaultAction:
        if point.ordinal == ordinal or (for_ever and point.ordinal > ordinal):
            fired.append(point.point)
            shortable = point.operation in (Mutation.WRITE, Mutation.ALLOCATE)
            return action if shortable or isinstance(action, Fail) else Fail()
        return None

    return hook


def commit_until_failure(env: Env) -> tuple[list[tuple[int, bytes]], list[bytes]]:
    """What was acknowledged, and what was attempted until a fault ended it."""
    acknowledged: list[tuple[int, bytes]] = []
    attempted: list[bytes] = []
    try:
        log = WriteAheadLog.open(env, "/wal", DATABASE, segment_bytes=256)
        for i in range(12):
            attempted.append(b"commit %d" % i * 4)
            sequence = log.append(attempted[-1])
            log.sync(sequence)
            acknowledged.append((sequence, attempted[-1]))
        log.close()
    except (DiskError, TransactionResolutionUnknownError):
        pass
    return acknowledged, attempted


@pytest.mark.parametrize("least_large", [1 << 20, 1])
@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("action", [Fail(errno.EIO), Fail(errno.ENOSPC), ShortWrite(13)])
def test_a_write_ahead_log_survives_a_failure_of_each_single_call(
    action: FaultAction, for_ever: bool, least_large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pykudu_sql.storage.log.log_writer._LARGE_BYTES", least_large)
    for ordinal in itertools.count(1):
        inner = MemoryEnv()
        fired: list[str] = []
        env = FaultEnv(inner, fail_at(ordinal, action, for_ever, fired))
        acknowledged, attempted = commit_until_failure(env)
        log = WriteAheadLog.open(inner, "/wal", DATABASE, segment_bytes=256)
        recovered = list(log.replay(0))
        assert recovered[: len(acknowledged)] == acknowledged
        assert [payload for _, payload in recovered] == attempted[: len(recovered)]
        next_sequence = log.append(b"life goes on")
        assert list(log.replay(next_sequence - 1)) == [(next_sequence, b"life goes on")]
        if not fired:
            break
    assert ordinal > 40


Edits = list[dict[str, int]]
LIFE_OF_A_MANIFEST: list[Edits] = [
    [],
    [{"n": 0}],
    [{"n": 0}, {"n": 1}],
    [{"n": 2}],
    [{"n": 2}, {"n": 3}],
]


def edit_until_failure(env: Env) -> int:
    """How many steps of the life were acknowledged until a fault ended it."""
    step = 0
    try:
        manifest = Manifest.create(env, "/db", DATABASE, [{"n": 0}])
        step = 1
        manifest.append({"n": 1})
        step = 2
        manifest.rewrite([{"n": 2}])
        step = 3
        manifest.append({"n": 3})
        step = 4
        manifest.close()
    except (DiskError, TransactionResolutionUnknownError):
        pass
    return step


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("action", [Fail(errno.EIO), ShortWrite(13)])
def test_a_manifest_survives_a_failure_of_each_single_call(
    action: FaultAction, for_ever: bool
) -> None:
    for ordinal in itertools.count(1):
        inner = MemoryEnv()
        fired: list[str] = []
        step = edit_until_failure(FaultEnv(inner, fail_at(ordinal, action, for_ever, fired)))
        if inner.exists("/db/CURRENT"):
            manifest = Manifest.open(inner, "/db")
            assert manifest.edits in LIFE_OF_A_MANIFEST[step : step + 2]
            assert len(inner.list_dir("/db/manifest")) == 1
        else:
            assert step == 0
            manifest = Manifest.create(inner, "/db", DATABASE, [])
        manifest.append({"n": 9})
        manifest.close()
        assert Manifest.open(inner, "/db").edits[-1] == {"n": 9}
        if not fired:
            break
    assert ordinal > 25


COMMITTER = """
import sys
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog
log = WriteAheadLog.open(LocalEnv(), sys.argv[1], bytes(range(16)), segment_bytes=4096)
while True:
    sequence = log.append(b"row %d " % (log.last_sequence + 1) * 20)
    log.sync(sequence)
    print(sequence, flush=True)
"""


def test_a_killed_process_leaves_every_acknowledged_record(tmp_path: Path) -> None:
    directory = str(tmp_path / "wal")
    seen = 0
    for _ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", COMMITTER, directory], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(50)]
            os.kill(process.pid, signal.SIGKILL)
            acknowledged += [int(line) for line in process.stdout if line.endswith(b"\n")]
        records = dict(WriteAheadLog.read(LocalEnv(), directory, DATABASE))
        assert min(acknowledged) > seen
        assert all(records[s] == b"row %d " % s * 20 for s in acknowledged)
        seen = max(records)


def test_a_thread_interrupted_while_it_notes_what_is_durable_keeps_nobody_waiting() -> None:
    class Interrupted(BaseException):
        """As KeyboardInterrupt, at a chosen place."""

    class InterruptedMark(DurableMark):
        def note_log(self, end: DurableEnd) -> None:
            raise Interrupted

    env = MemoryEnv()
    env.make_dir("/db")
    mark = InterruptedMark(env, "/db", DATABASE)
    log = WriteAheadLog.open(env, "/db/wal", DATABASE, mark=mark)
    for _ in range(2):
        with pytest.raises(Interrupted):
            log.sync(log.append(b"x"))
    assert log.durable_sequence == 2
