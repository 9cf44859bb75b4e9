"""A snapshot sees the commits that were published before it, and waits for those on their way."""

import threading

import pytest

from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.errors import OperationalError, QueryCancelledError
from pykudu_sql.storage.tablet.rowset import mvcc
from pykudu_sql.storage.tablet.rowset.mvcc import MvccManager


def test_a_commit_is_visible_from_its_publication_on() -> None:
    manager = MvccManager(bound_at(10))
    manager.assign(11)
    assert manager.bound == bound_at(10)
    manager.publish(11)
    assert manager.bound == bound_at(11)


def test_a_publication_that_comes_late_takes_nothing_back() -> None:
    manager = MvccManager(bound_at(10))
    manager.publish(12)
    manager.publish(11)
    assert manager.bound == bound_at(12)


def test_publish_assigned_shows_all_that_was_applied() -> None:
    manager = MvccManager(bound_at(10))
    manager.assign(11)
    manager.assign(14)
    manager.publish_assigned()
    assert manager.bound == bound_at(14)


def test_a_bound_above_all_commits_on_their_way_is_not_waited_for() -> None:
    MvccManager(bound_at(10)).wait_for(bound_at(99), lambda: False)


def test_a_wait_ends_when_the_commit_is_published() -> None:
    manager = MvccManager(bound_at(10))
    manager.assign(11)
    waiter = threading.Thread(target=manager.wait_for, args=(bound_at(11), lambda: False))
    waiter.start()
    manager.publish(11)
    waiter.join(60)
    assert not waiter.is_alive()


def test_a_wait_in_vain_ends_without_the_commit() -> None:
    manager = MvccManager(bound_at(10))
    manager.assign(11)
    manager.wait_for(bound_at(11), lambda: True)
    assert manager.bound == bound_at(10)


def test_a_wait_can_be_cancelled() -> None:
    def check() -> None:
        raise QueryCancelledError("stop")

    manager = MvccManager(bound_at(10))
    manager.assign(11)
    with pytest.raises(QueryCancelledError):
        manager.wait_for(bound_at(11), lambda: False, check)


def test_a_wait_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mvcc, "_TIMEOUT", 0.0)
    manager = MvccManager(bound_at(10))
    manager.assign(11)
    with pytest.raises(OperationalError, match="did not finish"):
        manager.wait_for(bound_at(11), lambda: False)
