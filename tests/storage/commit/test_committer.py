"""The committer: when the log is synced, and who may write."""

import pytest

from pykudu_sql.storage.commit.committer import Committer
from pykudu_sql.storage.errors import DiskError, InterfaceError, TransactionResolutionUnknownError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint
from tests.storage.small_store import SmallStore


def committer_of(small: SmallStore) -> Committer:
    return small.store.committer


def test_the_log_is_not_synced_for_a_commit_that_need_not_be_durable() -> None:
    points: list[str] = []

    def note(point: FaultPoint) -> None:
        points.append(point.point)

    small = SmallStore(FaultEnv(MemoryEnv(), note))
    points.clear()
    small.upsert({1: 1})
    assert not [point for point in points if point.endswith("sync")]
    committer_of(small).sync()
    assert [point for point in points if point.endswith("sync")]


def test_an_edit_that_the_disk_refuses_hinders_writers_until_the_disk_works_again() -> None:
    refusing: list[bool] = []

    def refuse(_: FaultPoint) -> FaultAction | None:
        return Fail() if refusing else None

    small = SmallStore(FaultEnv(MemoryEnv(), refuse))
    committer = committer_of(small)
    refusing.append(True)
    with pytest.raises(TransactionResolutionUnknownError):
        small.store.drop_table("t")
    with pytest.raises(DiskError):
        committer.check_writable()
    refusing.clear()
    committer.check_writable()
    assert "t" in small.store.catalog.tables
    small.upsert({1: 1})


def test_a_closed_committer_refuses_writes() -> None:
    small = SmallStore()
    committer_of(small).close()
    with pytest.raises(InterfaceError, match="the database is closed"):
        committer_of(small).check_writable()
