"""What statements of one session share while they run."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pykudu_sql.engine.query_engine import QueryEngine, Relation
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.transaction_scope import TransactionScope
from pykudu_sql.settings import DatabaseSettings, SessionSettings
from pykudu_sql.storage.catalog import Catalog
from pykudu_sql.storage.common.row_result import RowError
from pykudu_sql.storage.store import Store

if TYPE_CHECKING:  # Loaded by the first statement that runs on Spark.
    from pykudu_sql.engine.spark_engine import SparkEngine


@dataclass(slots=True)
class SessionState:
    """The moving parts of a session.

    Attributes:
        store: the tables.
        engine: of this session, the embedded one.
        transactions: of this session.
        database_settings: fixed while the database is open.
        settings: in force; exchanged whole by SET.
        cancellation: tells the running statement when it should stop.
        row_errors: rows that the last writing statement left out.
        spark: the other engine, once a statement ran there.
        in_memory: whether no other process can read the tables.
    """

    store: Store
    engine: QueryEngine[Relation]
    transactions: TransactionScope
    database_settings: DatabaseSettings
    settings: SessionSettings
    cancellation: Cancellation
    row_errors: tuple[RowError, ...] = ()
    spark: "SparkEngine | None" = None
    in_memory: bool = False

    @property
    def catalog(self) -> Catalog:
        """The catalog now, names resolved in the session's database."""
        return self.store.catalog.seen_from(self.settings.database)

    def use_database(self, name: str) -> None:
        """Resolve names in another database from now on."""
        self.settings = replace(self.settings, database=name)

    def interrupt_engines(self) -> None:
        """Stop what the engines do at the moment, if anything. Called from another thread."""
        self.engine.interrupt()
        if self.spark is not None:
            self.spark.interrupt()

    def close(self) -> None:
        """Give up the engines. Closing twice is allowed."""
        self.engine.close()
        if self.spark is not None:
            self.spark.close()

    def checkpoint(self) -> None:
        """A place where a statement can stop without harm.

        Raises:
            QueryCancelledError: it was asked to, or took too long.
        """
        self.cancellation.check()
