"""The clock never goes back, and timestamps read as time."""

import datetime as dt
import os
import re
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql.storage.common.types.hybrid_time import (
    END_OF_TIME,
    EVERYTHING,
    NOTHING,
    HybridClock,
    StatementTime,
    Timestamp,
    bound_at,
    bound_at_micros,
    bound_before,
    first_beyond,
    format_timestamp,
    from_micros,
    last_before,
    to_datetime,
    to_micros,
    wall_micros,
)
from pykudu_sql.storage.errors import ClockError


@given(st.lists(st.integers(0, 2**50), min_size=1))
def test_timestamps_increase_however_the_wall_clock_steps(readings: list[int]) -> None:
    pending = iter(readings)
    clock = HybridClock(lambda: next(pending))
    given_out = [clock.now() for _ in readings]
    assert all(a < b for a, b in pairwise(given_out))
    assert all(to_micros(t) >= r for t, r in zip(given_out, readings, strict=True))


def test_a_clock_that_stands_still_counts_within_the_microsecond() -> None:
    clock = HybridClock(lambda: 5)
    assert [clock.now() for _ in range(3)] == [5 << 12, (5 << 12) + 1, (5 << 12) + 2]


def test_a_timestamp_seen_elsewhere_is_never_given_again() -> None:
    clock = HybridClock(lambda: 5)
    clock.update(from_micros(9))
    assert clock.now() == from_micros(9) + 1
    clock.update(from_micros(1))
    assert clock.now() == from_micros(9) + 2


def test_threads_get_distinct_timestamps() -> None:
    clock = HybridClock(lambda: 5)
    taken: list[int] = []
    threads = [
        threading.Thread(target=lambda: taken.extend([clock.now() for _ in range(500)]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == 2000


def test_the_default_clock_is_the_systems() -> None:
    before = wall_micros()
    assert before <= to_micros(HybridClock().now()) <= wall_micros()


def test_bounds_include_what_was_committed_at_the_moment() -> None:
    timestamp = from_micros(7) + 3
    assert timestamp < bound_at(timestamp) <= bound_at_micros(7)
    assert bound_at_micros(7) <= from_micros(8)


def test_timestamps_read_as_time() -> None:
    moment = dt.datetime(2026, 1, 31, 12, 0, 0, 1)
    micros = (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    assert to_datetime(from_micros(micros)) == moment
    assert format_timestamp(from_micros(micros)) == "2026-01-31 12:00:00.000001"
    assert format_timestamp(from_micros(micros) + 2) == "2026-01-31 12:00:00.000001 (+2)"
    assert format_timestamp(bound_at_micros(micros) - 1) == "2026-01-31 12:00:00.000001"
    assert format_timestamp(from_micros(1 << 60)) == f"{1 << 60} us"


@given(st.integers(0, END_OF_TIME - 1))
def test_a_bound_and_its_timestamps_lead_to_each_other(value: int) -> None:
    timestamp = Timestamp(value)
    assert last_before(bound_at(timestamp)) == timestamp
    assert first_beyond(bound_before(timestamp)) == timestamp
    assert NOTHING <= bound_before(timestamp) < bound_at(timestamp) < EVERYTHING
    assert np.array([timestamp, END_OF_TIME, EVERYTHING], np.uint64).tolist() == [
        timestamp,
        END_OF_TIME,
        EVERYTHING,
    ]


@pytest.mark.parametrize("micros", [END_OF_TIME >> 12, 1 << 52, 253_402_300_799_999_999])
def test_a_clock_past_the_end_of_time_gives_nothing_until_it_is_set(micros: int) -> None:
    readings = [(END_OF_TIME >> 12) - 1, micros, micros, 7]
    clock = HybridClock(lambda: readings.pop(0))
    last = clock.now()
    for give in (clock.now, clock.latest):
        with pytest.raises(ClockError, match="2077-01-12"):
            give()
    assert clock.now() == last + 1 < END_OF_TIME


def test_the_wall_clock_is_read_in_one_place() -> None:
    reads = re.compile(r"\btime\.time_ns\b|\b(datetime|dt)\.(now|utcnow|today)\(|\bdate\.today\(")
    package = Path(pykudu_sql.__file__).parent
    found = []
    for folder, _, names in os.walk(package, followlinks=True):
        sources = (Path(folder, name) for name in names if name.endswith(".py"))
        found += [source for source in sources if reads.search(source.read_text())]
    assert [str(source.relative_to(package)) for source in found] == [
        "storage/common/types/hybrid_time.py"
    ]


def test_the_time_stays_until_the_next_statement() -> None:
    readings = iter([from_micros(5), from_micros(9)])
    time = StatementTime(lambda: next(readings))
    assert (time.micros, time.timestamp, time.micros) == (5, from_micros(5), 5)
    time.restart()
    assert time.micros == 9


def test_without_a_clock_it_is_that_of_the_system() -> None:
    before = wall_micros()
    assert before <= StatementTime().micros <= wall_micros()
