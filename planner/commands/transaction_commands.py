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
from pykudu_sql.storage.errors import NotSupportedError

_LEVELS = (
    ("REPEATABLE", "READ"),
    ("SNAPSHOT",),
    ("READ", "COMMITTED"),
    ("READ", "UNCOMMITTED"),
)


def begin(tokens: TokenStream, context: PlanContext) -> Plan:
    """`BEGIN [IMMEDIATE | ...] [TRANSACTION] [modes]`, `START TRANSACTION [modes]`.

    SQLite's words for when a transaction locks what mean nothing here: nothing is locked.
    """
    if not tokens.accept("BEGIN"):
        tokens.expect("START", "TRANSACTION")
    elif not tokens.accept("DEFERRED") and not tokens.accept("IMMEDIATE"):
        tokens.accept("EXCLUSIVE")
    _accept_noise(tokens)
    read_only = _modes(tokens)
    tokens.expect_end()
    return TransactionControl(TransactionAction.BEGIN, read_only)


def set_transaction(tokens: TokenStream, context: PlanContext) -> Plan:
    """`SET TRANSACTION modes`, of the transaction that is open or begins with it."""
    tokens.expect("SET", "TRANSACTION")
    if tokens.at_end():
        raise tokens.error("READ ONLY, READ WRITE, ISOLATION LEVEL")
    read_only = _modes(tokens)
    tokens.expect_end()
    return TransactionControl(TransactionAction.SET_MODES, read_only)


def _modes(tokens: TokenStream) -> bool | None:
    """`READ ONLY | READ WRITE | ISOLATION LEVEL .. | [NOT] DEFERRABLE`, commas optional.

    Returns whether it is READ ONLY; None if neither is said. Raises NotSupportedError: an
    isolation level that transactions do not have.
    """
    read_only = None
    while not tokens.at_end():
        if tokens.accept("READ", "ONLY"):
            read_only = True
        elif tokens.accept("READ", "WRITE"):
            read_only = False
        elif tokens.accept("ISOLATION", "LEVEL"):
            _isolation_level(tokens)
        elif tokens.accept("WITH", "CONSISTENT", "SNAPSHOT"):
            pass  # as every transaction has
        elif not tokens.accept("DEFERRABLE") and not tokens.accept("NOT", "DEFERRABLE"):
            raise tokens.error("READ ONLY, READ WRITE, ISOLATION LEVEL")
        tokens.accept_symbol(",")
    return read_only


def _isolation_level(tokens: TokenStream) -> None:
    """A level that snapshot isolation fulfils."""
    token = tokens.current
    if tokens.accept("SERIALIZABLE"):
        raise NotSupportedError(
            "ISOLATION LEVEL SERIALIZABLE is not supported",
            hint="transactions have SNAPSHOT, which fulfils REPEATABLE READ and those below",
            span=token.span,
        )
    if not any(tokens.accept(*words) for words in _LEVELS):
        raise tokens.error("REPEATABLE READ, SNAPSHOT, READ COMMITTED, READ UNCOMMITTED")


def commit(tokens: TokenStream, context: PlanContext) -> Plan:
    """`COMMIT [TRANSACTION]`, `END`."""
    tokens.take()
    return _whole(tokens, TransactionAction.COMMIT)


def rollback(tokens: TokenStream, context: PlanContext) -> Plan:
    """`ROLLBACK [TRANSACTION] [TO [SAVEPOINT] name]`, PostgreSQL's `ABORT`."""
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
    if not tokens.accept("TRANSACTION") and not tokens.accept("TRAN"):
        tokens.accept("WORK")


def _savepoint_control(tokens: TokenStream, action: SavepointAction) -> Plan:
    tokens.accept("SAVEPOINT")
    name = tokens.name("the savepoint's name")
    tokens.expect_end()
    return SavepointControl(action, name)
