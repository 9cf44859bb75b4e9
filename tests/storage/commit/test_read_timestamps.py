"""Timestamps to read at: between the commits before and those after."""

import threading

from pykudu_sql.storage.commit.read_timestamps import ReadTimestamps
from pykudu_sql.storage.common.cancellation import never_cancelled
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from tests.storage.small_store import SmallStore


def timestamps_of(small: SmallStore) -> ReadTimestamps:
    return small.store.committer.timestamps


def test_a_pinned_timestamp_lies_between_the_commits_before_and_after_it() -> None:
    small = SmallStore()
    before = small.upsert({1: 1})
    pinned = timestamps_of(small).pin()
    after = small.upsert({2: 2})
    assert before < pinned < after


def test_what_is_below_a_readable_bound_stays_so() -> None:
    small = SmallStore()
    timestamps = timestamps_of(small)
    bound = bound_at(timestamps.pin())
    timestamps.wait_until_readable(bound)
    assert small.upsert({1: 1}) >= bound


def test_a_commit_that_is_applied_is_waited_for_until_it_is_visible() -> None:
    small = SmallStore()
    committer = small.store.committer
    applied = committer.clock.now()
    committer.mvcc.assign(applied)
    waiter = threading.Thread(
        target=committer.timestamps.wait_until_visible, args=(never_cancelled,)
    )
    waiter.start()
    waiter.join(0.05)
    assert waiter.is_alive()
    committer.mvcc.publish(applied)
    waiter.join(10)
    assert not waiter.is_alive()
    committer.timestamps.wait_until_visible(never_cancelled)
