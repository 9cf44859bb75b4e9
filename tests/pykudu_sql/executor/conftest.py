"""A session on a database in memory, seen from inside: its state, and the plans of statements."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import pytest

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.planner import plan
from pykudu_sql.storage.errors import QueryCancelledError


@pytest.fixture
def connection() -> Iterator[Connection]:
    """Each statement commits itself."""
    with pykudu_sql.connect(":memory:", autocommit=True) as opened:
        yield opened


@pytest.fixture
def state(connection: Connection) -> SessionState:
    """Of the connection's session."""
    return connection._session._state


@pytest.fixture
def planned(connection: Connection) -> Callable[[str], Any]:
    """The plan of a statement, in the connection's catalog as it is then."""
    session = connection._session
    return lambda sql: plan(sql, session._planner.context(session._state.visible_catalog))


@pytest.fixture
def cancelled(state: SessionState) -> Callable[[], AbstractContextManager[None]]:
    """A block in which a statement runs that has been cancelled."""

    @contextmanager
    def block() -> Iterator[None]:
        with state.lock, state.cancellation.at_work:
            state.cancellation.begin(0)
            state.cancellation.request()
            with suppress(QueryCancelledError):
                while True:
                    state.check_cancelled()
            yield
            state.cancellation.end()

    return block
