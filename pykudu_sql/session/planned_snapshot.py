"""The snapshot of a statement: that which it is planned for is that which it runs at.

A statement is planned under a catalog, and its transaction begins later. Where a table was changed
between the two, the statement is planned again, on a snapshot that was taken before.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.errors import TableChangedError
from pykudu_sql.storage.open_store import OpenStore

if TYPE_CHECKING:  # The store loads them for the first transaction.
    from pykudu_sql.storage.transaction.transaction import Transaction

T = TypeVar("T")

MAX_PLANS = 20


class PlannedSnapshot:
    """The snapshot that a session's statement is planned for.

    Attributes:
        planned_under: the catalog of the plan; None between statements.
        begun_before: the transaction that began before the statement was planned; None where it
            begins after.
    """

    def __init__(self, store: OpenStore, time: StatementTime) -> None:
        """No statement is planned yet.

        `store`: begins transactions at the newest snapshot; `time`: of the session's statements,
        which write in them.
        """
        self._store = store
        self._time = time
        self.planned_under: Catalog | None = None
        self.begun_before: Transaction | None = None

    def clear(self) -> None:
        """Forget the statement, which has ended."""
        self.planned_under = self.begun_before = None

    def begin(self) -> "Transaction":
        """A transaction at the newest snapshot, for a statement that was planned for its tables.

        Raises TableChangedError: some changed since the statement was planned.
        """
        before, self.begun_before = self.begun_before, None
        transaction = self._store.begin() if before is None else before
        transaction.time = self._time
        if self.planned_under is None or transaction.catalog is self.planned_under:
            return transaction
        transaction.rollback()
        raise TableChangedError(
            "tables were changed by another session meanwhile", hint="run the statement again"
        )

    def run_again(self, run: Callable[[], T]) -> T:
        """Run a statement that lost a race against a change of its table, planned anew each time.

        It gets its snapshot before it is planned, so changes of other tables do not hold it up.
        Raises TableChangedError: it lost that race `MAX_PLANS` times in all.
        """
        for _ in range(MAX_PLANS - 2):
            self.begun_before = self._store.begin()
            with suppress(TableChangedError):
                return run()
        self.begun_before = self._store.begin()
        return run()
