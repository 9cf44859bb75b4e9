"""Queries whose one row the planner has computed."""

from collections.abc import Callable
from typing import Any

from pykudu_sql.executor.reading.constants import Constants
from pykudu_sql.executor.session_state import SessionState


def test_each_run_gives_the_row_from_its_beginning(
    state: SessionState, planned: Callable[[str], Any]
) -> None:
    constants = Constants(state, planned("SELECT 1, 'x', TRUE"))
    for _ in range(2):
        outcome = constants(())
        assert outcome.rowcount == 1
        assert outcome.result.fetch(5) == [(1, "x", True)]
        assert outcome.result.fetch(5) == []


def test_a_transaction_begins_where_statements_do_not_commit_themselves(
    state: SessionState, planned: Callable[[str], Any]
) -> None:
    constants = Constants(state, planned("SELECT 1"))
    constants(())
    assert not state.transactions.is_open
    state.transactions.set_autocommit(False)
    constants(())
    assert state.transactions.is_open
