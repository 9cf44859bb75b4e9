"""The transaction of a session: when it begins and ends, and what a statement runs in."""

from collections.abc import Callable, Iterator

import pytest

from pykudu_sql import Connection
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.transaction_scope import MAX_ATTEMPTS, TransactionScope
from pykudu_sql.retry_queue import RetryQueue
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import (
    OperationalError,
    QueryCancelledError,
    SerializationError,
    UndefinedObjectError,
)
from pykudu_sql.storage.transaction.transaction import Transaction

Scopes = Callable[..., TransactionScope]
Put = Callable[[int, int], Callable[[Transaction], int]]


@pytest.fixture(autouse=True)
def table(connection: Connection) -> None:
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")


@pytest.fixture
def scope_of(state: SessionState) -> Iterator[Scopes]:
    """Makes the scope of one more session; its transactions end with the test."""
    made: list[TransactionScope] = []

    def scope_of(
        autocommit: bool = True, cancel_check: Callable[[], None] = lambda: None
    ) -> TransactionScope:
        scope = TransactionScope(
            state.store.begin, cancel_check, RetryQueue(), durable=False, autocommit=autocommit
        )
        made.append(scope)
        return scope

    yield scope_of
    for scope in made:
        scope.rollback()


@pytest.fixture
def put(state: SessionState) -> Put:
    """What writes one row."""
    table = state.catalog.table("t")
    return lambda k, v: lambda t: t.write_row(table, RowOpKind.UPSERT, {0: k, 1: v})


def rows(connection: Connection) -> list[tuple[int, int]]:
    return connection.execute("SELECT * FROM t ORDER BY k").fetchall()


def test_with_autocommit_each_statement_is_a_transaction_of_its_own(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope = scope_of()
    assert scope.stands_alone
    assert scope.write(put(1, 10)) == 1
    scope.reading()
    scope.querying()
    assert not scope.is_open
    assert rows(connection) == [(1, 10)]


def test_without_autocommit_the_first_statement_begins_what_commit_ends(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope = scope_of(autocommit=False)
    assert not scope.is_open and not scope.stands_alone
    first = scope.reading()
    assert scope.reading() is first is scope.current
    scope.write(put(1, 10))
    assert rows(connection) == []
    scope.commit()
    assert not scope.is_open
    assert rows(connection) == [(1, 10)]
    scope.commit()


def test_switching_autocommit_on_commits(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope = scope_of(autocommit=False)
    scope.write(put(1, 10))
    scope.set_autocommit(False)
    assert rows(connection) == []
    scope.set_autocommit(True)
    assert scope.autocommit
    assert rows(connection) == [(1, 10)]


def test_begin_is_refused_within_a_transaction(scope_of: Scopes) -> None:
    scope = scope_of()
    scope.begin()
    with pytest.raises(OperationalError, match="open already"):
        scope.begin()
    scope.rollback()
    scope.begin()


@pytest.mark.parametrize("is_open", [False, True])
def test_a_statement_that_fails_or_is_cancelled_while_it_wrote_leaves_nothing(
    connection: Connection, scope_of: Scopes, put: Put, is_open: bool
) -> None:
    reasons: list[Exception] = []

    def cancel_check() -> None:
        if reasons:
            raise reasons.pop()

    scope = scope_of(cancel_check=cancel_check)
    if is_open:
        scope.begin()
        scope.write(put(1, 10))

    def failing(transaction: Transaction) -> int:
        put(2, 20)(transaction)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scope.write(failing)
    reasons.append(QueryCancelledError("stop"))
    with pytest.raises(QueryCancelledError):
        scope.write(put(3, 30))
    assert scope.is_open == is_open
    scope.commit()
    assert rows(connection) == ([(1, 10)] if is_open else [])


def test_a_statement_that_loses_a_race_runs_again_on_a_new_snapshot(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope, other = scope_of(), scope_of()
    bounds: list[int] = []

    def raced(transaction: Transaction) -> int:
        bounds.append(transaction.bound)
        if len(bounds) <= 3:
            other.write(put(1, len(bounds)))
        return put(1, 100)(transaction)

    assert scope.write(raced) == 1
    assert len(bounds) == 4
    assert bounds == sorted(set(bounds))
    assert rows(connection) == [(1, 100)]


def test_a_statement_that_loses_every_race_gives_up(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope, other = scope_of(), scope_of()
    attempts: list[int] = []

    def raced(transaction: Transaction) -> int:
        attempts.append(len(attempts))
        other.write_alone(put(1, len(attempts)))
        return put(1, 100)(transaction)

    with pytest.raises(SerializationError):
        scope.write(raced)
    assert len(attempts) == MAX_ATTEMPTS
    assert rows(connection) == [(1, MAX_ATTEMPTS)]
    scope.write(put(1, 100))
    assert rows(connection) == [(1, 100)]


def test_a_statement_that_loses_many_races_is_done_in_the_end(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope, other = scope_of(), scope_of()
    races = iter(range(50))

    def raced(transaction: Transaction) -> int:
        for number in races:
            other.write_alone(put(1, number))
            break
        return put(1, 100)(transaction)

    scope.write(raced)
    assert rows(connection) == [(1, 100)]


def test_a_transaction_that_loses_a_race_ends_without_another_try(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope, other = scope_of(), scope_of()
    scope.begin()
    scope.write(put(1, 10))
    other.write(put(1, 20))
    with pytest.raises(SerializationError):
        scope.commit()
    assert not scope.is_open
    assert rows(connection) == [(1, 20)]


def test_going_back_to_a_savepoint_keeps_it_and_forgets_those_behind_it(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope = scope_of()
    scope.begin()
    for number, name in enumerate("aba"):
        scope.savepoint(name)
        scope.write(put(number, 0))
    scope.rollback_to("a")
    scope.rollback_to("b")
    with pytest.raises(UndefinedObjectError, match="'c'") as raised:
        scope.rollback_to("c")
    assert raised.value.hint == "this transaction has a, b"
    scope.write(put(5, 0))
    scope.commit()
    assert rows(connection) == [(0, 0), (5, 0)]


def test_releasing_a_savepoint_keeps_what_was_written(
    connection: Connection, scope_of: Scopes, put: Put
) -> None:
    scope = scope_of()
    scope.begin()
    scope.savepoint("a")
    scope.write(put(1, 10))
    scope.savepoint("b")
    scope.release("a")
    for name in "ab":
        with pytest.raises(UndefinedObjectError):
            scope.release(name)
    scope.commit()
    assert rows(connection) == [(1, 10)]


def test_a_savepoint_begins_a_transaction_only_without_autocommit(scope_of: Scopes) -> None:
    with pytest.raises(OperationalError, match="needs a transaction"):
        scope_of().savepoint("a")
    scope = scope_of(autocommit=False)
    scope.savepoint("a")
    assert scope.is_open
    scope.commit()
    with pytest.raises(UndefinedObjectError):
        scope.rollback_to("a")


def test_reading_ends_unless_something_was_written(scope_of: Scopes, put: Put) -> None:
    scope = scope_of(autocommit=False)
    scope.end_reading()
    scope.reading()
    scope.end_reading()
    assert not scope.is_open
    scope.write(put(1, 10))
    with pytest.raises(OperationalError, match="uncommitted changes"):
        scope.end_reading()
    assert scope.is_open


def test_a_change_of_the_catalog_ends_a_transaction_that_has_only_read(
    scope_of: Scopes, put: Put
) -> None:
    scope = scope_of(autocommit=False)
    scope.make_way_for("DROP TABLE")
    scope.reading()
    scope.make_way_for("DROP TABLE")
    assert not scope.is_open
    for open_transaction in (
        scope.begin,
        lambda: scope.savepoint("a"),
        lambda: scope.write(put(1, 10)),
    ):
        open_transaction()
        with pytest.raises(OperationalError, match="DROP TABLE cannot run inside"):
            scope.make_way_for("DROP TABLE")
        scope.rollback()
