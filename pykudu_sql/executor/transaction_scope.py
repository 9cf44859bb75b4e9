"""The transaction of a session: when one begins, what a statement runs in, when it ends.

Without autocommit (PEP 249's rule) the first statement that reads or writes rows begins a
transaction that lasts until commit or rollback. With autocommit each statement is a transaction of
its own, unless BEGIN opened one. Such a statement that loses a race against another session is run
again on a new snapshot: nobody has seen what it read the first time.

Changes of the catalog are no part of a transaction: they take effect at once, and are refused for a
table whose rows the open transaction has changed.
"""

from collections.abc import Callable
from typing import TypeVar

from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.errors import OperationalError, SerializationError
from pykudu_sql.storage.transaction import Transaction

MAX_ATTEMPTS = 20

T = TypeVar("T")


class TransactionScope:
    """Runs statements in the right transaction. Used by one thread at a time."""

    __slots__ = ("_autocommit", "_begin", "_current", "_durable", "_written")

    def __init__(
        self, begin: Callable[[], Transaction], *, durable: bool, autocommit: bool
    ) -> None:
        """No transaction is open yet.

        Args:
            begin: a new transaction at the newest snapshot.
            durable: commits return once they survive a power loss.
            autocommit: each statement is a transaction of its own.
        """
        self._begin = begin
        self._durable = durable
        self._autocommit = autocommit
        self._current: Transaction | None = None
        self._written: set[str] = set()

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
        return self._current is not None

    @property
    def stands_alone(self) -> bool:
        """Whether the next statement is a transaction of its own."""
        return self._autocommit and self._current is None

    def begin(self) -> None:
        """BEGIN.

        Raises:
            OperationalError: a transaction is open already.
        """
        if self._current is not None:
            raise OperationalError(
                "a transaction is open already", hint="COMMIT or ROLLBACK it", sqlstate="25001"
            )
        self._current = self._begin()

    def commit(self) -> None:
        """Commit the open transaction, if there is one.

        Raises:
            SerializationError: another session changed the same rows first; it is rolled back.
            ReadOnlyError, DiskError: it could not be made durable.
        """
        current, self._current = self._current, None
        self._written = set()
        if current is not None:
            current.commit(self._durable)

    def rollback(self) -> None:
        """Forget the open transaction, if there is one."""
        current, self._current = self._current, None
        self._written = set()
        if current is not None:
            current.rollback()

    def end_reading(self) -> None:
        """End the open transaction, if there is one; it must not have written.

        Raises:
            OperationalError: it has.
        """
        if self._written:
            raise OperationalError(
                "the transaction has uncommitted changes",
                hint="COMMIT or ROLLBACK it before refreshing",
                sqlstate="25001",
            )
        self.rollback()

    def reading(self) -> Transaction:
        """The transaction that a reading statement runs in."""
        current = self._current
        if current is None:
            current = self._begin()
            if not self._autocommit:
                self._current = current
        return current

    def write(self, table: TableInfo, action: Callable[[Transaction], T]) -> T:
        """Run a writing statement.

        Args:
            table: it writes to.
            action: does so in a transaction, all or nothing; may be called again after a race.

        Raises:
            SerializationError: it lost every race.
            Error: whatever `action` raised; nothing of it was done.
        """
        if self._current is None:
            if self._autocommit:
                return self._write_alone(action)
            self._current = self._begin()
        changed = action(self._current)
        self._written.add(table.id)
        return changed

    def _write_alone(self, action: Callable[[Transaction], T]) -> T:
        attempts = 1
        while True:
            transaction = self._begin()
            try:
                changed = action(transaction)
            except BaseException:
                transaction.rollback()
                raise
            try:
                transaction.commit(self._durable)
                return changed
            except SerializationError:
                if attempts == MAX_ATTEMPTS:
                    raise
                attempts += 1

    def check_alterable(self, table: TableInfo) -> None:
        """See that the catalog may change under a table.

        Raises:
            OperationalError: the open transaction has changed rows of it.
        """
        if table.id in self._written:
            raise OperationalError(
                f"table '{table.name}' has uncommitted changes in this transaction",
                hint="COMMIT or ROLLBACK before changing or dropping it",
                sqlstate="25001",
            )
