"""The words for transactions and savepoints, in the forms of PostgreSQL and SQLite."""

from collections.abc import Callable

import pytest

from pykudu_sql.planner.commands.transaction_commands import (
    begin,
    commit,
    release,
    rollback,
    savepoint,
)
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import (
    Plan,
    SavepointAction,
    SavepointControl,
    TransactionAction,
    TransactionControl,
)
from pykudu_sql.storage.errors import SyntaxError

Planner = Callable[[TokenStream, PlanContext], Plan]


@pytest.mark.parametrize(
    ("planner", "sql", "action"),
    [
        (begin, "begin", TransactionAction.BEGIN),
        (begin, "BEGIN IMMEDIATE TRANSACTION;", TransactionAction.BEGIN),
        (begin, "begin deferred", TransactionAction.BEGIN),
        (begin, "begin exclusive work", TransactionAction.BEGIN),
        (begin, "start transaction", TransactionAction.BEGIN),
        (commit, "commit work", TransactionAction.COMMIT),
        (commit, "end transaction", TransactionAction.COMMIT),
        (rollback, "rollback", TransactionAction.ROLLBACK),
        (rollback, "rollback transaction", TransactionAction.ROLLBACK),
    ],
)
def test_a_transaction_begins_and_ends_by_any_of_its_words(
    context: PlanContext, planner: Planner, sql: str, action: TransactionAction
) -> None:
    assert planner(TokenStream(sql), context) == TransactionControl(action)


@pytest.mark.parametrize(
    ("planner", "sql", "action", "name"),
    [
        (savepoint, "savepoint A", SavepointAction.SET, "a"),
        (savepoint, 'savepoint "A b"', SavepointAction.SET, "a b"),
        (rollback, "rollback to a", SavepointAction.ROLLBACK_TO, "a"),
        (rollback, "rollback work to savepoint a", SavepointAction.ROLLBACK_TO, "a"),
        (release, "release a", SavepointAction.RELEASE, "a"),
        (release, "release savepoint a", SavepointAction.RELEASE, "a"),
    ],
)
def test_a_savepoint_has_a_name_in_lower_case_also_if_it_is_quoted(
    context: PlanContext, planner: Planner, sql: str, action: SavepointAction, name: str
) -> None:
    assert planner(TokenStream(sql), context) == SavepointControl(action, name)


@pytest.mark.parametrize(
    ("planner", "sql"),
    [
        (begin, "begin read"),
        (begin, "start"),
        (commit, "commit to a"),
        (rollback, "rollback to"),
        (savepoint, "savepoint"),
        (savepoint, "savepoint a b"),
        (release, "release 'a'"),
    ],
)
def test_words_too_few_or_too_many_are_refused(
    context: PlanContext, planner: Planner, sql: str
) -> None:
    with pytest.raises(SyntaxError):
        planner(TokenStream(sql), context)


@pytest.mark.parametrize(
    ("sql", "read_only"),
    [
        ("begin read only", True),
        ("begin transaction isolation level snapshot, read only", True),
        ("start transaction read only read write", False),
        ("begin work not deferrable", None),
    ],
)
def test_modes_say_whether_a_transaction_only_reads(
    context: PlanContext, sql: str, read_only: bool | None
) -> None:
    assert begin(TokenStream(sql), context) == TransactionControl(
        TransactionAction.BEGIN, read_only
    )
