"""What statements of one session share while they run."""

import gc
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from random import uniform
from time import monotonic, sleep

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.session.point_reads import PointReads
from pykudu_sql.storage.errors import InterfaceError, QueryCancelledError, UndefinedTableError
from pykudu_sql.storage.fs.process import Process


def _stop(reason: str) -> None:
    raise QueryCancelledError(reason)


def test_names_are_resolved_in_the_database_in_use(
    connection: Connection, state: SessionState
) -> None:
    connection.execute("CREATE DATABASE d")
    connection.execute("CREATE TABLE d.t (k INT PRIMARY KEY)")
    with pytest.raises(UndefinedTableError):
        state.catalog.table("t")
    before = state.settings
    state.use_database("d")
    assert state.catalog.table("t").name == "d.t"
    assert state.settings == replace(before, database="d")


def test_a_statement_runs_from_the_beginning_of_its_block_to_the_end(state: SessionState) -> None:
    def work() -> int:
        assert state.cancellation.running
        number = state.cancellation.number
        assert state.run(lambda: state.cancellation.number) == number
        assert state.cancellation.running
        return number

    assert state.run(work) == state.cancellation.number
    assert not state.cancellation.running


def test_a_statement_that_failed_has_ended(state: SessionState) -> None:
    with pytest.raises(ZeroDivisionError):
        state.run(lambda: 1 // 0)
    assert not state.cancellation.running
    state.check_cancelled()


def test_a_cancelled_statement_says_why_whatever_the_engine_said(
    state: SessionState,
) -> None:
    def work() -> None:
        state.cancellation.request()
        with suppress(QueryCancelledError):
            while True:
                state.check_cancelled()
        _stop("INTERRUPT Error")

    with pytest.raises(QueryCancelledError, match="the statement was interrupted"):
        state.run(work)
    state.run(state.check_cancelled)


def test_an_engine_that_stops_by_itself_keeps_its_own_reason(state: SessionState) -> None:
    with pytest.raises(QueryCancelledError, match="by itself"):
        state.run(lambda: _stop("by itself"))


def test_a_session_of_another_process_runs_nothing(state: SessionState) -> None:
    inherited = replace(state, process=Process())
    inherited.process.is_current = False
    with pytest.raises(InterfaceError):
        inherited.run(lambda: pytest.fail("it runs"))
    assert not inherited.cancellation.running


@pytest.fixture
def no_collection_callbacks() -> Iterator[None]:
    """Nothing of other packages is called as garbage is collected: it cannot raise there."""
    callbacks = gc.callbacks.copy()
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)


@pytest.mark.usefixtures("no_collection_callbacks")
@pytest.mark.parametrize("work", ["look-up", "query"])
def test_ctrl_c_at_any_moment_leaves_the_session_free(
    connection: Connection,
    state: SessionState,
    monkeypatch: pytest.MonkeyPatch,
    work: str,
) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    lookup = "SELECT v FROM t WHERE k = ?"
    for _ in range(2):
        connection.execute(lookup, (1,))
    if work == "query":
        monkeypatch.setattr(PointReads, "attempt", lambda *_, **__: None)
    presses = 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        deadline = monotonic() + 1.5
        while monotonic() < deadline:
            try:
                signal.setitimer(signal.ITIMER_REAL, uniform(5e-6, 1e-4))
                try:
                    for _ in range(10):
                        connection.execute(lookup, (1,))
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                presses += 1
            assert not state.cancellation.running
    finally:
        signal.signal(signal.SIGALRM, before)
    assert presses
    with ThreadPoolExecutor(1) as other:  # waits for ever if this thread holds the session
        assert other.submit(state.run, lambda: "free").result(10) == "free"


def test_a_statement_that_waits_leaves_the_error_boundary_to_the_one_that_runs(
    connection: Connection, state: SessionState
) -> None:
    with ThreadPoolExecutor(1) as other:

        def work() -> None:
            boundary = state.error_boundary
            waiting = other.submit(connection.execute, "SELECT 1 + 1")
            sleep(0.05)
            assert not waiting.done()
            connection.execute("SELECT 2 + 2")
            assert state.error_boundary is boundary

        state.run(work)


def test_an_engine_at_rest_may_be_interrupted_and_closed_twice(
    connection: Connection, state: SessionState
) -> None:
    state.interrupt_engines()
    assert connection.execute("SELECT 1 + 1").fetchone() == (2,)
    state.close()
    state.close()
