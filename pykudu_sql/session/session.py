"""A session: one connection's way through the house, from SQL text to an outcome.

It owns the transaction, the settings in force, the engine's cursor and the plan cache. A plan of
the cache holds as long as catalog and settings are the very ones it was planned under. A lock spans
each statement, so threads may share a session.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TypeVar

from pykudu_sql.database import MEMORY, Database
from pykudu_sql.error_boundary import ErrorBoundary, check_text
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.parameter_shape import check_parameter_shape, parameter_rows
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.transaction_scope import TransactionScope
from pykudu_sql.planner.operands.bound_parameters import can_bind, has_list
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.planner.statements import changes_catalog
from pykudu_sql.results.result import Outcome
from pykudu_sql.session.error_names import ErrorNames
from pykudu_sql.session.plan_cache import PlanCache, PreparedStatement
from pykudu_sql.session.planned_snapshot import PlannedSnapshot
from pykudu_sql.session.point_reads import PointReads
from pykudu_sql.session.registered_frames import RegisteredFrames, frame_name
from pykudu_sql.session.statement_planner import StatementPlanner
from pykudu_sql.settings import SessionSettings
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.common.progress import ProgressReport
from pykudu_sql.storage.common.rows.row_result import RowError
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, StatementTime
from pykudu_sql.storage.errors import Error, InterfaceError, TableChangedError

T = TypeVar("T")


class Session:
    """Runs statements. Safe for threads; each statement has the session to itself.

    `database`: whose session it is; `process`: that it belongs to; `counts_statements`: whether
    statements count in the statement log; `total_changes`: rows changed so far; `is_closed`:
    whether it has given the database back.
    """

    def __init__(self, database: Database, settings: SessionSettings, autocommit: bool) -> None:
        """Begin a session on an open database, which it gives back when it closes."""
        self.database = database
        self.process = database.process
        self._store = database.store
        durable = database.settings.durability == "full"
        cancellation = Cancellation(lambda: self._state.interrupt_engines())
        self._time = StatementTime(database.store.now)
        self._snapshot = PlannedSnapshot(database.store, self._time)
        self._transactions = TransactionScope(
            self._snapshot.begin,
            cancellation.check,
            database.retry_queue,
            durable=durable,
            autocommit=autocommit,
        )
        self._state = SessionState(
            database.store,
            database.new_engine,
            self._transactions,
            database.settings,
            settings,
            threading.RLock(),
            cancellation,
            database.process,
            self._prepared,
            self._time,
            in_memory=database.path == MEMORY,
            database_path=database.path,
        )
        self._plans = PlanCache(database.store.statements)
        self._point_reads = PointReads(self._state, self._plans)
        self._frames = RegisteredFrames()
        self._planner = StatementPlanner(self._state, self._frames)
        self.counts_statements = True
        self.total_changes = 0
        error_names = ErrorNames(database.store, self._frames)
        self._names, self._locate = error_names.names, error_names.locate
        self.is_closed = False

    def execute(self, sql: str, parameters: ParameterValues = ()) -> Outcome:
        """Run one statement.

        `sql`: its text; `parameters`: a sequence for `?`, a mapping for `:name`. Raises Error: it
        failed, and changed nothing.
        """
        if type(sql) is str:
            outcome = self._point_reads.attempt(sql, parameters, counts=self.counts_statements)
            if outcome is not None:
                return outcome
        return self._in_turn(sql, partial(self._run, self._execute, sql, parameters))

    def _execute(self, sql: str, parameters: ParameterValues) -> Outcome:
        started = perf_counter()
        prepared = None
        try:
            prepared = self._prepared(sql, parameters)
            if type(parameters) is not tuple or len(parameters) != prepared.arity:
                check_parameter_shape(prepared.plan, prepared.arity, parameters)
            outcome = prepared.run(parameters)
            if outcome.message is not None and outcome.changes_rows:
                self.total_changes += max(outcome.rowcount, 0)
        except BaseException as error:
            self._note_failure(sql, prepared, error)
            raise
        if self.counts_statements:
            self._plans.note(prepared, perf_counter() - started, outcome.rowcount)
        return outcome

    def _note_failure(
        self, sql: object, prepared: PreparedStatement | None, error: BaseException
    ) -> None:
        """Count a run that failed; one that lost a race against ALTER TABLE runs again."""
        if (
            self.counts_statements
            and isinstance(sql, str)
            and not isinstance(error, TableChangedError)
        ):
            self._plans.note_failure(
                self._planner.text_of(sql) if prepared is None else prepared.text
            )

    def execute_many(self, sql: str, parameters: Iterable[ParameterValues | None]) -> Outcome:
        """Run a writing statement once for each set of parameters, all or nothing.

        Raises ProgrammingError: it does not write rows; Error: it failed for one of them.
        """
        rows = parameter_rows(parameters)
        return self._in_turn(sql, partial(self._run, self._execute_many, sql, rows))

    def _execute_many(self, sql: str, rows: Sequence[ParameterValues]) -> Outcome:
        from pykudu_sql.session.repeated_runs import run_many

        started = perf_counter()
        prepared = None
        try:
            prepared = self._prepared(sql, None)
            outcome = run_many(self._state, prepared.plan, prepared.arity, rows)
            self.total_changes += max(outcome.rowcount, 0)
        except BaseException as error:
            self._note_failure(sql, prepared, error)
            raise
        if self.counts_statements:
            self._plans.note(prepared, perf_counter() - started, outcome.rowcount)
        return outcome

    def _run(self, execute: Callable[[str, T], Outcome], sql: str, parameters: T) -> Outcome:
        """Run a statement, again if it loses a race and is not part of an open transaction."""
        was_open = self._transactions.current is not None
        try:
            return execute(sql, parameters)
        except TableChangedError:
            # An open transaction, also one that the statement began, goes on at its snapshot.
            if was_open or self._transactions.is_open:
                raise
            return self._snapshot.run_again(partial(execute, sql, parameters))
        finally:
            self._snapshot.clear()

    def append(self, table: str, data: object, operation: str) -> Outcome:
        """Do one operation on the rows of an Arrow table, a pandas frame or a dict of columns.

        Raises Error: see `executor.append`.
        """
        check_text(table, "the name of a table")
        check_text(operation, "an operation")
        return self._in_turn("", partial(self._while_open, self._append, table, data, operation))

    def _append(self, table: str, data: object, operation: str) -> Outcome:
        from pykudu_sql.executor.writing.append import append

        self._time.restart()
        started = perf_counter()
        outcome = append(self._state, table, data, operation)
        self.total_changes += outcome.rowcount
        text, took = f"APPEND {operation.upper()} INTO {table}", perf_counter() - started
        if self.counts_statements:
            self._plans.note_call(text, took, outcome.rowcount, self._state.settings)
        return outcome

    def create_table(
        self, table: str, data: object, key: Sequence[str], partition_by: str | None
    ) -> Outcome:
        """Make a table for the rows of data, and insert them; it goes again if that fails.

        Raises Error: the columns have no types that a table has, or see `append`.
        """
        check_text(table, "the name of a table")
        from pykudu_sql.executor.frames import table_to_create
        from pykudu_sql.executor.row_iterators import with_tables_joined

        name = ".".join(map(quote_name, table.split(".")))
        with self._error_boundary(""):
            arrow_table, statement = table_to_create(name, with_tables_joined(data), key)
        if partition_by is not None:
            statement += f" PARTITION BY {partition_by}"
        try:
            self.execute(statement)
        except Error as error:
            if partition_by is None:
                error.position = None  # nobody wrote the statement
            raise
        try:
            return self.append(table, arrow_table, "insert")
        except BaseException:
            with suppress(Error):
                self.execute(f"DROP TABLE {name}")
            raise

    def register(self, name: str, data: object) -> None:
        """Have statements of this session read data under a name, until it is unregistered.

        Raises DuplicateObjectError: a table or view has the name; Error: see `frame_of`.
        """
        register = partial(self._frames.register, frame_name(name), data)
        self._change_frames(lambda: register(self.catalog, self._state.error_boundary.program_code))

    def unregister(self, name: str) -> None:
        """Forget a frame. Raises UndefinedTableError: there is none of the name."""
        self._change_frames(partial(self._frames.unregister, frame_name(name)))

    def _change_frames(self, change: Callable[[], None]) -> None:
        def work() -> None:
            change()
            self._plans.clear()

        self._in_turn("", partial(self._while_open, work))

    def _in_turn(self, sql: str, work: Callable[[], T]) -> T:
        """Do the work of a statement once the session is free, its errors as those of the API."""
        errors = self._error_boundary(sql)
        with errors:
            return self._state.run(work, errors)

    def _error_boundary(self, sql: str) -> ErrorBoundary:
        return ErrorBoundary(sql, self._names, self._locate)

    @property
    def catalog(self) -> Catalog:
        """The catalog that the next statement sees, names resolved in the session's database."""
        return self._state.catalog

    @property
    def row_errors(self) -> tuple[RowError, ...]:
        """Rows that the last writing statement left out."""
        return self._state.row_errors

    def _prepared(self, sql: str, parameters: ParameterValues | None) -> PreparedStatement:
        """A statement's plan, made for the values of its parameters where it depends on them.

        `parameters`: that it is to be run with; None where those are many.
        """
        if not isinstance(sql, str):
            raise InterfaceError(f"a statement is text, not {type(sql).__name__}", sqlstate="07006")
        transactions = self._transactions
        current = transactions.current
        if (
            current is not None
            and current.catalog is not self._store.catalog
            and transactions.gives_way
            and changes_catalog(sql)
        ):
            transactions.rollback()  # a definition is about the tables of now
            current = None
        if current is None:
            self._store.refresh()
            current = self._snapshot.begun_before
        catalog = self._store.catalog if current is None else current.catalog
        self._snapshot.planned_under = catalog
        if parameters is None or not has_list(parameters):
            cached = self._plans.find(sql, catalog, self._state.settings)
            if cached is None and parameters is not None and can_bind(parameters):
                cached = self._plans.find_for(sql, parameters, catalog, self._state.settings)
            if cached is not None:
                self._time.restart()
                self._point_reads.keep(sql, cached)
                return cached
        self._check_open()
        prepared, is_kept = self._planner.prepare(sql, parameters, catalog)
        if is_kept:
            self._plans.keep(sql, prepared, () if parameters is None else parameters)
        return prepared

    @property
    def settings(self) -> SessionSettings:
        """Those in force."""
        return self._state.settings

    def read_bound_for_others(self) -> SnapshotBound | None:
        """See `SessionState`. Raises NotSupportedError: the open transaction has changes."""
        return self._state.read_bound_for_others()

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own."""
        return self._transactions.autocommit

    def set_autocommit(self, value: bool) -> None:
        """Change it; switching it on commits an open transaction."""
        self._state.run(partial(self._while_open, self._transactions.set_autocommit, value))

    @property
    def has_uncommitted_rows(self) -> bool:
        """Whether the open transaction of this process has changed rows."""
        current = self._transactions.current
        return self.process.is_current and current is not None and current.has_writes

    @property
    def as_of(self) -> int | None:
        """The hybrid timestamp at which all tables are read; None for now."""
        return self._state.settings.as_of

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction waits for commit or rollback."""
        return self._transactions.is_open

    def commit(self) -> None:
        """Commit the open transaction, if there is one.

        Raises SerializationError: another session changed the same rows first; it is rolled back;
        QueryCancelledError: it was cancelled; it is rolled back.
        """
        self._state.run(partial(self._while_open, self._transactions.commit))

    def refresh(self) -> None:
        """End the open transaction, if there is one, and see what others have committed since.

        Raises OperationalError: the open transaction has changed rows; CorruptionError, DiskError:
        the database cannot be read.
        """
        with self._state.lock:
            self._check_open()
            self._transactions.end_reading()
            self._store.refresh()

    def rollback(self) -> None:
        """Forget the open transaction, if there is one."""
        with self._state.lock:
            self._check_open()
            self._transactions.rollback()

    def signatures(self) -> Mapping[str, tuple[str, ...]]:
        """The arguments of each function in each of its forms, by its name."""
        from pykudu_sql.executor.inspection.signatures import signatures

        with self._state.lock:
            self._check_open()
            return signatures(self._state)

    def progress(self) -> ProgressReport | None:
        """How far the statement is that runs, or ran last; None where nothing was counted.

        Called from another thread.
        """
        return self._state.progress.report(self._state.cancellation.number)

    def interrupt(self) -> None:
        """Ask the running statement to stop. Called from another thread."""
        self._state.cancellation.request()

    def close(self) -> None:
        """Roll back, and give the database back. Closing twice is allowed.

        A statement of another thread is interrupted. In a child forked from the process that opened
        it nothing happens.
        """
        if not self.process.is_current:
            return
        self._state.cancellation.close()
        with self._state.lock:
            if self.is_closed:
                return
            self.is_closed = True
            self._plans.close()
            try:
                self._transactions.rollback()
                self._state.close()
            finally:
                self.database.release()

    def _while_open(self, work: Callable[..., T], *arguments: object) -> T:
        self._check_open()
        return work(*arguments)

    def _check_open(self) -> None:
        if self.is_closed:
            raise InterfaceError("the connection is closed")
