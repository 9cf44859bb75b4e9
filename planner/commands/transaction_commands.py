"""BEGIN, COMMIT, ROLLBACK and savepoints, in the forms of PostgreSQL and SQLite."""

from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import (
    Plan,
    SavepointAction,
    SavepointControl,
    TransactionAction,
    TransactionControl,
)


def begin(tokens: TokenStream, context: PlanContext) -> Plan:
    """`BEGIN [IMMEDIATE | ...] [TRANSACTION]`, `START TRANSACTION`.

    SQLite's words for when a transaction locks what mean nothing here: nothing is locked.
    """
    if not tokens.accept("BEGIN"):
        tokens.expect("START", "TRANSACTION")
    elif not tokens.accept("DEFERRED") and not tokens.accept("IMMEDIATE"):
        tokens.accept("EXCLUSIVE")
    return _whole(tokens, TransactionAction.BEGIN)


def commit(tokens: TokenStream, context: PlanContext) -> Plan:
    """`COMMIT [TRANSACTION]`, `END`."""
    tokens.take()
    return _whole(tokens, TransactionAction.COMMIT)


def rollback(tokens: TokenStream, context: PlanContext) -> Plan:
    """`ROLLBACK [TRANSACTION] [TO [SAVEPOINT] name]`."""
    tokens.take()
    _accept_noise(tokens)
    if tokens.accept("TO"):
        return _savepoint_control(tokens, SavepointAction.ROLLBACK_TO)
    tokens.expect_end()
    return TransactionControl(TransactionAction.ROLLBACK)


def savepoint(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SAVEPOINT name`."""
    return _savepoint_control(tokens, SavepointAction.SET)


def release(tokens: TokenStream, context: PlanContext) -> Plan:
    """`RELEASE [SAVEPOINT] name`."""
    tokens.take()
    return _savepoint_control(tokens, SavepointAction.RELEASE)


def _whole(tokens: TokenStream, action: TransactionAction) -> Plan:
    _accept_noise(tokens)
    tokens.expect_end()
    return TransactionControl(action)


def _accept_noise(tokens: TokenStream) -> None:
    if not tokens.accept("TRANSACTION"):
        tokens.accept("WORK")


def _savepoint_control(tokens: TokenStream, action: SavepointAction) -> Plan:
    tokens.accept("SAVEPOINT")
    name = tokens.name("the savepoint's name")
    tokens.expect_end()
    return SavepointControl(action, name)
