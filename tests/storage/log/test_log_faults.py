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

from pykudu_sql.storage.errors import DiskError, ReadOnlyError
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.fault_env import (
    Fail,
    FaultAction,
    FaultEnv,
    FaultHook,
    FaultPoint,
    Mutation,
    ShortWrite,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.manifest import Manifest
from pykudu_sql.storage.log.write_ahead_log import WriteAheadLog

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


@pytest.mark.parametrize(
    ("point", "action"),
    [
        ("wal.sync", Fail(errno.EIO)),
        ("wal.append", Fail(errno.ENOSPC)),
        ("wal.append", ShortWrite(10)),
    ],
)
def test_after_one_failure_the_log_is_read_only_until_reopened(
    point: str, action: FaultAction
) -> None:
    inner = MemoryEnv()
    hook = FailOnce(point, action)
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE)
    log.sync(log.append(b"acknowledged"))
    hook.armed = True
    with pytest.raises(DiskError):
        log.sync(log.append(b"failed"))
    for attempt in range(3):
        with pytest.raises(ReadOnlyError, match="no more writes after a failure") as caught:
            log.append(b"refused")
        assert isinstance(caught.value.__cause__, DiskError)
        if attempt and log.last_sequence > 1:
            with pytest.raises(ReadOnlyError):
                log.sync(log.last_sequence)
    log.sync(1)
    log.close()
    records = list(WriteAheadLog.open(inner, "/wal", DATABASE).replay(0))
    assert records[0] == (1, b"acknowledged")
    assert records[1:] in ([], [(2, b"failed")])


@pytest.mark.parametrize("point", ["wal.create", "wal.header", "wal.create_sync_dir", "wal.trim"])
def test_a_segment_that_cannot_be_started_ends_the_log(point: str) -> None:
    hook = FailOnce(point, Fail(errno.ENOSPC))
    inner = MemoryEnv()
    log = WriteAheadLog.open(FaultEnv(inner, hook), "/wal", DATABASE, segment_bytes=100)
    log.sync(log.append(b"x" * 100))
    hook.armed = True
    with pytest.raises(DiskError, match="No space left"):
        log.append(b"y")
    with pytest.raises(ReadOnlyError, match="No space left"):
        log.append(b"z")
    log.close()
    assert dict(WriteAheadLog.open(inner, "/wal", DATABASE).replay(0)) == {1: b"x" * 100}


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
        except (DiskError, ReadOnlyError) as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["DiskError"] + ["ReadOnlyError"] * 7
    assert log.durable_sequence == 0


def fail_at(ordinal: int, action: FaultAction, for_ever: bool) -> FaultHook:
    def hook(point: FaultPoint) -> FaultAction:
        if point.ordinal == ordinal or (for_ever and point.ordinal > ordinal):
            shortable = point.operation in (Mutation.WRITE, Mutation.ALLOCATE)
            return action if shortable or isinstance(action, Fail) else Fail()
        return None

    return hook


def commit_until_failure(env: Env) -> tuple[list[tuple[int, bytes]], list[bytes], bool]:
    """What was acknowledged, what was attempted, and whether a fault ended it."""
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
    except (DiskError, ReadOnlyError):
        return acknowledged, attempted, True
    return acknowledged, attempted, False


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("action", [Fail(errno.EIO), Fail(errno.ENOSPC), ShortWrite(13)])
def test_a_write_ahead_log_survives_a_failure_of_each_single_call(
    action: FaultAction, for_ever: bool
) -> None:
    for ordinal in itertools.count(1):
        inner = MemoryEnv()
        env = FaultEnv(inner, fail_at(ordinal, action, for_ever))
        acknowledged, attempted, failed = commit_until_failure(env)
        log = WriteAheadLog.open(inner, "/wal", DATABASE, segment_bytes=256)
        recovered = list(log.replay(0))
        assert recovered[: len(acknowledged)] == acknowledged
        assert [payload for _, payload in recovered] == attempted[: len(recovered)]
        next_sequence = log.append(b"life goes on")
        assert list(log.replay(next_sequence - 1)) == [(next_sequence, b"life goes on")]
        if not failed:
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


def edit_until_failure(env: Env) -> tuple[int, bool]:
    """How many steps of the life were acknowledged, and whether a fault ended it."""
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
    except (DiskError, ReadOnlyError):
        return step, True
    return step, False


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("action", [Fail(errno.EIO), ShortWrite(13)])
def test_a_manifest_survives_a_failure_of_each_single_call(
    action: FaultAction, for_ever: bool
) -> None:
    for ordinal in itertools.count(1):
        inner = MemoryEnv()
        step, failed = edit_until_failure(FaultEnv(inner, fail_at(ordinal, action, for_ever)))
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
        if not failed:
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
