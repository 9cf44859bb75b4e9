"""A moment is read only when every commit before it is visible, and so the same ever after."""

import contextlib
import errno
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.errors import (
    DiskError,
    SnapshotInFutureError,
    TransactionResolutionUnknownError,
)
from pykudu_sql.storage.fs.local_env import LocalEnv
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from tests.storage.fault_env import Fail, FaultAction, FaultEnv, FaultPoint
from tests.storage.recovery.test_database_reader import open_writer, seen


@pytest.fixture
def store() -> Iterator[Store]:
    with contextlib.closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as store:
        yield store


def settling(store: Store, bound: int) -> tuple[threading.Thread, threading.Event]:
    settled = threading.Event()

    def wait() -> None:
        store.wait_until_readable(bound)
        settled.set()

    reader = threading.Thread(target=wait)
    reader.start()
    return reader, settled


def test_a_reader_waits_for_a_commit_that_has_its_time_and_is_not_logged_yet(store: Store) -> None:
    with store.committer.lock:
        store.committer.clock.now()  # the commit's time
        reader, settled = settling(store, store.now())
        assert not settled.wait(0.05)
    reader.join()
    assert settled.is_set()


def test_a_reader_of_what_is_visible_already_waits_for_no_commit(store: Store) -> None:
    with store.committer.lock:
        reader, settled = settling(store, store.committer.mvcc.bound)
        reader.join()
    assert settled.is_set()


def test_a_moment_to_come_is_refused(store: Store) -> None:
    with pytest.raises(SnapshotInFutureError):
        store.wait_until_readable(store.now() + (10_000_000 << 12))


def test_a_reader_that_waits_for_a_commit_is_told_at_once_that_the_log_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs, waits, refuses = threading.Event(), threading.Event(), threading.Event()

    def before(point: FaultPoint) -> FaultAction:
        if point.point == "wal.sync" and not syncs.is_set():
            syncs.set()
            waits.wait()
            refuses.set()
        return Fail(errno.EIO) if refuses.is_set() else None

    store = open_writer(FaultEnv(LocalEnv(), before), str(tmp_path / "db"))
    with contextlib.closing(store):
        mvcc = store.committer.mvcc
        wait_for = mvcc.wait_for

        def wait_and_tell(bound: SnapshotBound, *others: Callable[[], bool]) -> None:
            waits.set()
            wait_for(bound, *others)

        monkeypatch.setattr(mvcc, "wait_for", wait_and_tell)

        def write() -> None:
            with pytest.raises(TransactionResolutionUnknownError):
                store.write_row(store.catalog.table("t"), RowOpKind.INSERT, {0: 1, 1: 1})

        writer = threading.Thread(target=write)
        writer.start()
        syncs.wait()
        now = bound_at(store.now())
        with pytest.raises(DiskError, match="nothing can be read or written now") as caught:
            store.wait_until_readable(now)
        assert caught.value.sqlstate == "58030"
        writer.join()
        refuses.clear()
        store.wait_until_readable(now)
        assert len(seen(store)) == 1
