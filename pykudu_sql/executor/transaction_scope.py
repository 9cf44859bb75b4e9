"""The transaction of a session: when one begins, what a statement runs in, when it ends.

Without autocommit (PEP 249's rule) the first statement that reads or writes rows begins a
transaction that lasts until commit or rollback. With autocommit each statement is a transaction of
its own, unless BEGIN opened one. Such a statement that loses a race against another session is run
again on a new snapshot, through the retry queue: nobody has seen what it read the first time.

Savepoints are PostgreSQL's and SQLite's: a name may be set again and then hides the one before;
going back to a savepoint keeps it and forgets those behind it; RELEASE forgets it and those behind
it, and keeps what was written. A statement that fails goes back to where it began, and so does one
that was cancelled while it wrote.

Changes of the catalog are no part of a transaction: they take effect at once and for good. They are
refused inside one that BEGIN opened or that has written; one that has only read ends before them.
"""

from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.retry_queue import RetryQueue
from pykudu_sql.storage.errors import (
    OperationalError,
    ReadOnlyError,
    SerializationError,
    TableChangedError,
    UndefinedObjectError,
)

if TYPE_CHECKING:  # The store loads them for the first transaction.
    from pykudu_sql.storage.transaction.transaction import Transaction
    from pykudu_sql.storage.transaction.write_set import Savepoint

MAX_ATTEMPTS = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Named:
    """A savepoint and its name."""

    name: str
    savepoint: "Savepoint"


class TransactionScope:
    """Runs statements in the right transaction. Used by one thread at a time.

    `current`: the open transaction.
    """

    __slots__ = (
        "_autocommit", "_begin", "_cancel_check", "_durable", "_is_explicit", "_read_only",
        "_retry_queue", "_savepoints", "current",
    )  # fmt: skip

    def __init__(
        self,
        begin: "Callable[[], Transaction]",
        cancel_check: Callable[[], None],
        retry_queue: RetryQueue,
        *,
        durable: bool,
        autocommit: bool,
    ) -> None:
        """No transaction is open yet.

        Args:
            begin: a new transaction at the newest snapshot.
            cancel_check: called while a statement writes, and while a commit waits; may raise to
                take that back.
            retry_queue: of the database, for statements that lose races.
            durable: commits return once they survive a power loss.
            autocommit: each statement is a transaction of its own.
        """
        self._begin = begin
        self._cancel_check = cancel_check
        self._retry_queue = retry_queue
        self._durable = durable
        self._autocommit = autocommit
        self.current: Transaction | None = None
        self._is_explicit = False
        self._read_only = False
        self._savepoints: list[_Named] = []

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own."""
        return self._autocommit

    def set_autocommit(self, value: bool) -> None:
        """Change it; switching it on commits an open transaction, as Python's sqlite3 does."""
        if value and not self._autocommit:
            self.commit()
        self._autocommit = value

    @property
    def is_open(self) -> bool:
        """Whether a transaction waits for commit or rollback."""
        return self.current is not None

    @property
    def stands_alone(self) -> bool:
        """Whether the next statement is a transaction of its own."""
        return self._autocommit and self.current is None

    @property
    def gives_way(self) -> bool:
        """Whether a change of the catalog may end the open transaction, which has only read."""
        current = self.current
        return current is not None and not (
            self._is_explicit or self._savepoints or current.has_writes
        )

    def begin(self, *, read_only: bool = False) -> None:
        """BEGIN; in a read-only transaction statements that write are refused.

        Raises OperationalError: a transaction is open already.
        """
        if self.current is not None:
            raise OperationalError(
                "a transaction is open already",
                hint="COMMIT or ROLLBACK it, or set a SAVEPOINT in it",
                sqlstate="25001",
            )
        self.current = self._begin()
        self._is_explicit = True
        self._read_only = read_only

    def set_read_only(self, value: bool | None) -> None:
        """SET TRANSACTION; without autocommit it begins a transaction.

        `value`: None leaves it as it is. Raises OperationalError: no transaction is open, or the
        open one has written, or was READ ONLY before.
        """
        if self.current is None:
            if self._autocommit:
                raise OperationalError(
                    "SET TRANSACTION needs a transaction", hint="BEGIN one", sqlstate="25P01"
                )
            self.current = self._begin()
        if value and self.current.has_writes:
            raise OperationalError(
                "the open transaction has written rows: it cannot be READ ONLY from now on",
                hint="COMMIT or ROLLBACK it first",
                sqlstate="25001",
            )
        if value is False and self._read_only:
            raise OperationalError(
                "the open transaction is READ ONLY and stays so",
                hint="COMMIT it and begin another",
                sqlstate="25001",
            )
        self._read_only = bool(value) or self._read_only

    def commit(self) -> None:
        """Commit the open transaction, if there is one.

        Raises SerializationError: another session changed the same rows first; it is rolled back;
        ReadOnlyError, DiskError: it could not be made durable; QueryCancelledError: it was
        cancelled while it waited; it is rolled back.
        """
        current = self._leave()
        if current is not None:
            current.commit(self._durable, cancel_check=self._cancel_check)

    def rollback(self) -> None:
        """Forget the open transaction, if there is one."""
        current = self._leave()
        if current is not None:
            current.rollback()

    def _leave(self) -> "Transaction | None":
        """The transaction that was open; none is from here on."""
        current, self.current = self.current, None
        self._is_explicit = self._read_only = False
        self._savepoints = []
        return current

    def savepoint(self, name: str) -> None:
        """SAVEPOINT: name the current state of the write set.

        Without autocommit it begins a transaction. Raises OperationalError: no transaction is open.
        """
        if self.current is None:
            if self._autocommit:
                raise OperationalError(
                    "SAVEPOINT needs a transaction", hint="BEGIN one", sqlstate="25P01"
                )
            self.current = self._begin()
        self._savepoints.append(_Named(name, self.current.savepoint()))

    def rollback_to(self, name: str) -> None:
        """ROLLBACK TO: forget what was written since a savepoint, and the savepoints set since.

        Raises UndefinedObjectError: there is none of that name in the open transaction.
        """
        number = self._number_of(name)
        if self.current is not None:
            self.current.rollback_to(self._savepoints[number].savepoint)
        del self._savepoints[number + 1 :]

    def release(self, name: str) -> None:
        """RELEASE: forget a savepoint and those set since; what was written stays.

        Raises UndefinedObjectError: there is none of that name in the open transaction.
        """
        del self._savepoints[self._number_of(name) :]

    def _number_of(self, name: str) -> int:
        for number in range(len(self._savepoints) - 1, -1, -1):
            if self._savepoints[number].name == name:
                return number
        names = ", ".join(dict.fromkeys(savepoint.name for savepoint in self._savepoints))
        raise UndefinedObjectError(
            f"savepoint '{name}' does not exist",
            hint=f"this transaction has {names}" if names else "the transaction has none",
            sqlstate="3B001",
        )

    def end_reading(self) -> None:
        """End the open transaction, if there is one; it must not have written.

        Raises OperationalError: it has.
        """
        if self.current is not None and self.current.has_writes:
            raise OperationalError(
                "the transaction has uncommitted changes",
                hint="COMMIT or ROLLBACK it before refreshing",
                sqlstate="25001",
            )
        self.rollback()

    def reading(self) -> "Transaction":
        """The transaction that a reading statement runs in."""
        current = self.current
        if current is None:
            current = self._begin()
            if not self._autocommit:
                self.current = current
        return current

    def querying(self) -> None:
        """Open a transaction for a query that reads no table, where one is due."""
        if not self._autocommit:
            self.reading()

    def write(self, action: "Callable[[Transaction], T]") -> T:
        """Run a writing statement.

        `action`: writes in a transaction, all or nothing; may be called again after a race. Raises
        SerializationError: it lost every race; ReadOnlyError: the open transaction only reads;
        TableChangedError: it lost one against a change of
        its table, for which it has to be planned anew; QueryCancelledError: it was cancelled;
        Error: whatever `action` raised; nothing of it was done.
        """
        if self.current is None:
            if self._autocommit:
                return self.write_alone(action)
            self.current = self._begin()
        if self._read_only:
            raise ReadOnlyError(
                "the transaction was begun READ ONLY", hint="COMMIT, then BEGIN without READ ONLY"
            )
        current = self.current
        saved = current.savepoint()
        try:
            return self._run_action(action, current)
        except BaseException:
            current.rollback_to(saved)
            raise

    def wait_for_retries(self) -> None:
        """Wait until the statements that are retried after a conflict have ended."""
        self._retry_queue.wait_for_retries(self._cancel_check)

    def passing(self) -> "Transaction":
        """A transaction for a statement that only reads in it, and lets go of it."""
        return self._begin()

    def write_alone(
        self,
        action: "Callable[[Transaction], T]",
        begin: "Callable[[], Transaction] | None" = None,
    ) -> T:
        """Run a writing statement as a transaction of its own; see `write`.

        `begin`: its transactions, where they need not see the tables that it was planned for.
        """
        begin = begin or self._begin
        attempts = 1
        self._retry_queue.wait_for_retries(self._cancel_check)
        started = monotonic()
        with ExitStack() as stack:
            while True:
                transaction = begin()
                try:
                    changed = self._run_action(action, transaction)
                except BaseException:
                    transaction.rollback()
                    raise
                try:
                    transaction.commit(self._durable, cancel_check=self._cancel_check)
                    return changed
                except TableChangedError:
                    raise  # what `action` does was planned for the table as it was
                except SerializationError:
                    if attempts == MAX_ATTEMPTS:
                        raise
                    if attempts == 1:
                        seconds = monotonic() - started
                        stack.enter_context(self._retry_queue.retrying(seconds, self._cancel_check))
                    attempts += 1

    def _run_action(self, action: "Callable[[Transaction], T]", transaction: "Transaction") -> T:
        transaction.cancel_check = self._cancel_check
        result = action(transaction)
        self._cancel_check()
        return result

    def make_way_for(self, statement: str) -> None:
        """Check that a statement may change the catalog: no transaction is open.

        `statement`: its first words. Raises OperationalError: the open transaction was begun by
        BEGIN, or has written.
        """
        if self.current is None:
            return
        if not self.gives_way:
            raise OperationalError(
                f"{statement} cannot run inside a transaction",
                hint="COMMIT or ROLLBACK first: it takes effect at once and cannot be rolled back",
                sqlstate="25001",
            )
        self.rollback()
