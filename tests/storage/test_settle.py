"""A moment is read only when every commit before it is visible, and so the same ever after."""

import contextlib
import threading
from collections.abc import Iterator

import pytest

from pykudu_sql.storage.errors import SnapshotInFutureError
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions


@pytest.fixture
def store() -> Iterator[Store]:
    with contextlib.closing(Store(MemoryEnv(), "/db", StoreOptions(threads=1))) as store:
        yield store


def settling(store: Store, bound: int) -> tuple[threading.Thread, threading.Event]:
    settled = threading.Event()

    def settle() -> None:
        store.settle(bound)
        settled.set()

    reader = threading.Thread(target=settle)
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
        store.settle(store.now() + (10_000_000 << 12))
