"""What statements of one session share while they run."""

from dataclasses import dataclass, replace

from pykudu_sql.engine.query_engine import QueryEngine
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.transaction_scope import TransactionScope
from pykudu_sql.settings import DatabaseSettings, SessionSettings
from pykudu_sql.storage.catalog import Catalog
from pykudu_sql.storage.common.row_result import RowError
from pykudu_sql.storage.store import Store


@dataclass(slots=True)
class SessionState:
    """The moving parts of a session.

    Attributes:
        store: the tables.
        engine: of this session.
        transactions: of this session.
        database_settings: fixed while the database is open.
        settings: in force; exchanged whole by SET.
        cancellation: tells the running statement when it should stop.
        row_errors: rows that the last writing statement left out.
    """

    store: Store
    engine: QueryEngine
    transactions: TransactionScope
    database_settings: DatabaseSettings
    settings: SessionSettings
    cancellation: Cancellation
    row_errors: tuple[RowError, ...] = ()

    @property
    def catalog(self) -> Catalog:
        """The catalog now, names resolved in the session's database."""
        return self.store.catalog.seen_from(self.settings.database)

    def use_database(self, name: str) -> None:
        """Resolve names in another database from now on."""
        self.settings = replace(self.settings, database=name)

    def checkpoint(self) -> None:
        """A place where a statement can stop without harm.

        Raises:
            QueryCancelledError: it was asked to, or took too long.
        """
        self.cancellation.check()
