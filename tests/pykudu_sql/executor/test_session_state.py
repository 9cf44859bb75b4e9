"""What statements of one session share while they run."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.storage.errors import InterfaceError, QueryCancelledError, UndefinedTableError
from pykudu_sql.storage.fs.process import Process


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
    with state.running():
        assert state.cancellation.running
        number = state.cancellation.number
        with state.running():
            assert state.cancellation.number == number
        assert state.cancellation.running
    assert not state.cancellation.running


def test_a_statement_that_failed_has_ended(state: SessionState) -> None:
    with pytest.raises(ZeroDivisionError), state.running():
        raise ZeroDivisionError
    assert not state.cancellation.running
    state.check_cancelled()


def test_a_cancelled_statement_says_why_whatever_the_engine_said(
    state: SessionState, cancelled: Callable[[], AbstractContextManager[None]]
) -> None:
    with pytest.raises(QueryCancelledError, match="the statement was interrupted"), cancelled():
        raise QueryCancelledError("INTERRUPT Error")
    with state.running():
        state.check_cancelled()


def test_an_engine_that_stops_by_itself_keeps_its_own_reason(state: SessionState) -> None:
    with pytest.raises(QueryCancelledError, match="by itself"), state.running():
        raise QueryCancelledError("by itself")


def test_a_session_of_another_process_runs_nothing(state: SessionState) -> None:
    inherited = replace(state, process=Process())
    inherited.process.is_current = False
    with pytest.raises(InterfaceError), inherited.running():
        raise AssertionError
    assert not inherited.cancellation.running


def test_an_engine_at_rest_may_be_interrupted_and_closed_twice(
    connection: Connection, state: SessionState
) -> None:
    state.interrupt_engines()
    assert connection.execute("SELECT 1 + 1").fetchone() == (2,)
    state.close()
    state.close()
