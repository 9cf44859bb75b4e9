"""A lock held on by a process of its own."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pykudu_sql.spark.reading import lease_keeper, lease_registry
from pykudu_sql.spark.reading.keeper import keep_lease
from pykudu_sql.storage.errors import DiskError, LockedError, NotSupportedError
from pykudu_sql.storage.fs.lease import Lease, oldest_lease, renew
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv

ENV = LocalEnv()


@pytest.fixture(autouse=True)
def database(tmp_path: Path) -> None:
    """Leases are taken in databases only."""
    (tmp_path / "CURRENT").touch()


def hand_over(lease: Lease, watched: int, seconds: float) -> "subprocess.Popen[bytes]":
    keepers: list[subprocess.Popen[bytes]] = []

    def start(path: str, descriptor: int) -> None:
        command = [sys.executable, "-I", "-S", str(lease_keeper.__file__)]
        arguments = [path, str(seconds), str(watched)]
        keepers.append(subprocess.Popen([*command, *arguments], pass_fds=[descriptor]))

    lease.hand_over(start)
    return keepers[0]


def sleeper() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )


def test_a_lease_handed_over_holds_until_the_process_watched_ends(tmp_path: Path) -> None:
    lease = Lease.take(ENV, str(tmp_path))
    lease.move_to((3, 5))
    with sleeper() as watched:
        keeper = hand_over(lease, watched.pid, 1e9)
        lease.release()
        assert oldest_lease(ENV, str(tmp_path)) == (3, 5)
        renew(ENV, lease.path)
        assert oldest_lease(ENV, str(tmp_path)) == (3, 5)
        with pytest.raises(LockedError):
            ENV.lock(lease.path)
    assert keeper.wait() == 0
    assert oldest_lease(ENV, str(tmp_path)) is None
    with pytest.raises(DiskError):
        renew(ENV, lease.path)


def test_a_lease_that_nobody_renews_ends(tmp_path: Path) -> None:
    lease = Lease.take(ENV, str(tmp_path))
    with sleeper() as watched:
        assert hand_over(lease, watched.pid, 0.0).wait() == 0
    assert not Path(lease.path).exists()


def test_a_lock_in_memory_stays_in_its_process() -> None:
    env = MemoryEnv()
    env.make_dir("/db")
    env.create("/db/CURRENT", point="test").close()
    lease = Lease.take(env, "/db")
    with pytest.raises(NotSupportedError, match="in memory"):
        lease.hand_over(lambda path, descriptor: None)


def test_a_lease_kept_for_spark_outlives_the_hands_that_took_it(tmp_path: Path) -> None:
    lease = Lease.take(ENV, str(tmp_path))
    lease.move_to((3, 5))
    keep_lease(lease)
    lease.release()
    assert oldest_lease(ENV, str(tmp_path)) == (3, 5)
    Path(lease.path).unlink()
    assert oldest_lease(ENV, str(tmp_path)) is None


def test_a_lease_of_this_process_ends_when_nobody_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_registry, "_TICK", 0.01)
    held = lease_registry._LeaseRegistry()
    first, second = (Lease.take(ENV, str(tmp_path)) for _ in range(2))
    held.hold(first)
    held.hold(second)
    time.sleep(0.05)
    assert Path(first.path).exists()
    monkeypatch.setattr(lease_registry, "IDLE_SECONDS", -1.0)
    while Path(first.path).exists() or Path(second.path).exists():
        time.sleep(0.01)
    assert oldest_lease(ENV, str(tmp_path)) is None
    held.release_all()
