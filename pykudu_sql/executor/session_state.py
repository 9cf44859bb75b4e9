"""What statements of one session share while they run."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.error_boundary import ErrorBoundary
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.computed_types import ComputedTypes
from pykudu_sql.executor.transaction_scope import TransactionScope
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.results.result import Outcome
from pykudu_sql.settings import DatabaseSettings, SessionSettings
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.common.progress import Counter, Progress, Unit, followed
from pykudu_sql.storage.common.rows.row_result import RowError
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, StatementTime, bound_at
from pykudu_sql.storage.errors import NotSupportedError, QueryCancelledError
from pykudu_sql.storage.fs.process import Process
from pykudu_sql.storage.open_store import OpenStore

if TYPE_CHECKING:
    from pykudu_sql.engine.query_engine import Relation, StreamingEngine
    from pykudu_sql.planner.plan.plan import Plan
    from pykudu_sql.planner.plan.prepared_plans import PreparedText
    from pykudu_sql.results.stream_result import Running
    from pykudu_sql.spark.query.spark_engine import SparkEngine

T = TypeVar("T")

# A planned statement in a session, run with parameters.
Prepared = Callable[[ParameterValues], Outcome]


class Planned(Protocol):
    """A statement that was planned: what it means, and what runs it."""

    @property
    def plan(self) -> "Plan":
        """What it means."""

    @property
    def run(self) -> Prepared:
        """Runs it."""


@dataclass(slots=True)
class SessionState:
    """The mutable state of a session.

    Attributes:
        new_engine: gives an embedded engine.
        transactions: of this session.
        database_settings: fixed while the database is open.
        settings: in force; exchanged whole by SET.
        lock: spans each statement.
        cancellation: stops the running statement.
        process: that the session belongs to.
        planned: the plan of a text for some parameters, kept as long as tables and settings are
            the same.
        time: of the running statement.
        prepared: the texts of PREPARE by their names; exchanged whole.
        row_errors: rows that the last writing statement left out.
        spark: the other engine, once a statement ran there.
        error_boundary: of the running statement.
        in_memory: whether no other process can read the tables.
        database_path: the directory of the database, unless that is in memory.
        progress: how far the running statement is.
        computed_types: of numbers computed from parameters.
    """

    store: OpenStore
    new_engine: "Callable[[], StreamingEngine[Relation]]"
    transactions: TransactionScope
    database_settings: DatabaseSettings
    settings: SessionSettings
    lock: threading.RLock
    cancellation: Cancellation
    process: Process
    planned: Callable[[str, ParameterValues], Planned]
    time: StatementTime
    prepared: "Mapping[str, PreparedText]" = field(default_factory=dict)
    row_errors: tuple[RowError, ...] = ()
    spark: "SparkEngine | None" = None
    in_memory: bool = False
    database_path: str = ""
    error_boundary: ErrorBoundary = field(default_factory=lambda: ErrorBoundary("", tuple))
    progress: Progress = field(default_factory=Progress)
    _engine: "StreamingEngine[Relation] | None" = field(default=None, init=False)
    computed_types: ComputedTypes = field(init=False)

    def __post_init__(self) -> None:
        """Ask the engine of the session for types."""
        self.computed_types = ComputedTypes(lambda: self.engine)

    @property
    def engine(self) -> "StreamingEngine[Relation]":
        """The embedded engine of this session, which the first statement that needs one loads."""
        if self._engine is None:
            self._engine = self.new_engine()
        return self._engine

    @property
    def visible_catalog(self) -> Catalog:
        """What the next statement sees of the catalog, the same object until that changes.

        In an open transaction it is the catalog of its snapshot, else that of now.
        """
        current = self.transactions.current
        return self.store.catalog if current is None else current.catalog

    @property
    def read_catalog(self) -> Catalog:
        """The visible catalog, or under `SET as_of` that of then."""
        as_of, current = self.settings.as_of, self.transactions.current
        if as_of is None:
            return self.visible_catalog
        source = self.store if current is None else current
        return source.catalog_at(bound_at(as_of))

    @property
    def catalog(self) -> Catalog:
        """The visible catalog, names resolved in the session's database."""
        return self.visible_catalog.in_database(self.settings.database)

    def read_bound_for_others(self) -> SnapshotBound | None:
        """The bound at which others read what a statement of this session would; None for now.

        Raises NotSupportedError: the open transaction has changes, which only its session sees.
        """
        with self.lock:
            current, as_of = self.transactions.current, self.settings.as_of
            if as_of is not None:
                return bound_at(as_of)
            if current is None:
                return None
            if current.has_writes:
                raise NotSupportedError(
                    "the open transaction has changes that are not committed, which Spark does "
                    "not see",
                    hint="commit or roll back first; or name the moment to be read (as_of)",
                )
            return current.bound

    def use_database(self, name: str) -> None:
        """Resolve names in another database from now on."""
        self.settings = replace(self.settings, database=name)

    def interrupt_engines(self) -> None:
        """Stop what the engines do at the moment, if anything. Called from another thread."""
        if self._engine is not None:
            self._engine.interrupt()
        if self.spark is not None:
            self.spark.interrupt()

    def close(self) -> None:
        """Close the engines. Closing twice is allowed."""
        if self._engine is not None:
            self._engine.close()
        if self.spark is not None:
            self.spark.close()

    def run(
        self,
        work: Callable[[], T],
        errors: ErrorBoundary | None = None,
        start: float | None = None,
    ) -> T:
        """Do the work of one statement, which may be cancelled, or of one that it runs itself.

        Ctrl-C may come anywhere: the next statement, of whatever thread, finds the session free.

        Args:
            work: of the statement.
            errors: its error boundary; None for that of the statement before.
            start: when the statement began, by `time.monotonic`; None if it begins now.

        Raises InterfaceError: this is a child forked from the session's process;
        QueryCancelledError: the statement was cancelled, or took too long.
        """
        if not self.process.is_current:
            self.process.check()  # before the lock, which a thread may have held at the fork
        cancellation = self.cancellation
        with self.lock:
            if cancellation.at_work.locked():  # by a statement that reads the rows of another one
                return self._run_within(work, errors)
            with cancellation.at_work:
                try:
                    elapsed = 0.0 if start is None else time.monotonic() - start
                    cancellation.begin(self.settings.statement_timeout, elapsed)
                    self.error_boundary = errors or self.error_boundary
                    return self._run_stoppable(work)
                finally:
                    cancellation.end()

    def _run_stoppable(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except QueryCancelledError:
            self.cancellation.check()  # says why; the engine knows that it was interrupted
            raise

    def _run_within(self, work: Callable[[], T], errors: ErrorBoundary | None) -> T:
        reading, boundary = self.time.reading, self.error_boundary  # of the other statement
        try:
            self.error_boundary = errors or boundary
            return work()
        finally:
            self.time.restart(reading)
            self.error_boundary = boundary

    def fetching(self) -> "Running":
        """Runs what one fetch reads; all of it may together take as long as a statement.

        Raises InterfaceError: this is a child forked from the session's process.
        """
        self.process.check()
        return partial(self.run, start=time.monotonic())

    def check_cancelled(self) -> None:
        """A place where a statement can stop without harm.

        Raises QueryCancelledError: it was cancelled, or took too long.
        """
        self.cancellation.check()

    def counter(self, activity: str, total: int | None = None, unit: Unit = "rows") -> Counter:
        """A counter of the running statement; see `storage.common.progress`."""
        return self.progress.counter(self.cancellation.number, activity, total, unit)

    def followed(self) -> AbstractContextManager[None]:
        """A block in which what the storage does counts for the running statement."""
        return followed(self.counter)
