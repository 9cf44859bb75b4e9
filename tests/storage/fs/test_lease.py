"""Leases come and go beside the process that looks for them."""

import os
import resource
from pathlib import Path

import pytest

from pykudu_sql.storage.errors import DiskError
from pykudu_sql.storage.fs.env import FileLock
from pykudu_sql.storage.fs.lease import Lease, oldest_lease
from pykudu_sql.storage.fs.local_env import LocalEnv


class _GivenBackMeanwhile(LocalEnv):
    """A disk on which a lease is gone as soon as it is locked."""

    def lock_existing(self, path: str) -> FileLock:
        lock = super().lock_existing(path)
        os.unlink(path)
        return lock


class _GivenBackSinceListed(LocalEnv):
    """A disk on which a lease is gone once it is to be locked; it shows what locking leaves."""

    def lock_existing(self, path: str) -> FileLock:
        os.unlink(path)
        try:
            return super().lock_existing(path)
        finally:
            assert not os.path.lexists(path)


class _Refusing(LocalEnv):
    """A disk that removes nothing."""

    def unlink(self, path: str, *, point: str) -> None:
        raise DiskError(f"cannot remove '{path}'")


@pytest.fixture(autouse=True)
def database(tmp_path: Path) -> None:
    """Leases are taken in databases only."""
    (tmp_path / "CURRENT").touch()


def dead_lease(root: Path) -> Path:
    """What a killed reader leaves."""
    lease = Lease.take(LocalEnv(), str(root))
    text = Path(lease.path).read_bytes()
    lease.release()
    Path(lease.path).write_bytes(text)
    return Path(lease.path)


def test_a_lease_that_is_given_back_while_it_is_looked_at_is_none(tmp_path: Path) -> None:
    dead_lease(tmp_path)
    assert oldest_lease(_GivenBackMeanwhile(), str(tmp_path)) is None


def test_a_lease_that_is_given_back_once_listed_is_not_made_anew(tmp_path: Path) -> None:
    dead_lease(tmp_path)
    assert oldest_lease(_GivenBackSinceListed(), str(tmp_path)) is None
    assert os.listdir(tmp_path / "leases") == []


def test_a_dead_lease_is_removed(tmp_path: Path) -> None:
    dead = dead_lease(tmp_path)
    assert oldest_lease(LocalEnv(), str(tmp_path)) is None
    assert not dead.exists()


def test_a_dead_lease_that_cannot_be_removed_is_an_error(tmp_path: Path) -> None:
    dead_lease(tmp_path)
    with pytest.raises(DiskError, match="cannot remove"):
        oldest_lease(_Refusing(), str(tmp_path))


def test_a_process_without_open_files_left_is_told(tmp_path: Path) -> None:
    # Without a lease its files might go while it reads them.
    env = LocalEnv()
    Lease.take(env, str(tmp_path)).release()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = os.open(tmp_path, os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 1, hard))
    held = []
    try:
        with pytest.raises(DiskError, match="Too many open files"):
            while True:
                held.append(Lease.take_if_possible(env, str(tmp_path)))
                assert held[-1] is not None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(opened)
        for lease in held:
            if lease is not None:
                lease.release()
