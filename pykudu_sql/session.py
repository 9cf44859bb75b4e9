"""A session: one connection's way through the house, from SQL text to an outcome.

It owns the transaction, the settings in force, the engine's cursor and a cache of prepared
statements. The cache is keyed by the text; an entry holds as long as catalog and settings are the
very ones it was planned under. A lock spans each statement, so threads may share a session.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import Any

from pykudu_sql.database import MEMORY, Database
from pykudu_sql.error_boundary import OwnErrors, check_text
from pykudu_sql.executor.cancellation import Cancellation
from pykudu_sql.executor.executor import prepare
from pykudu_sql.executor.session_state import Prepared, SessionState
from pykudu_sql.executor.transaction_scope import TransactionScope
from pykudu_sql.planner.plan.context import PlanContext, PlanSettings
from pykudu_sql.planner.plan.plan import Change, Explain, Plan, Write
from pykudu_sql.planner.plan.value import ParameterValues
from pykudu_sql.planner.planner import plan
from pykudu_sql.results.result import Outcome, python_values
from pykudu_sql.settings import SessionSettings
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.catalog.system_catalog import SYSTEM_TABLES
from pykudu_sql.storage.common.rows.row_result import RowError
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_at
from pykudu_sql.storage.errors import (
    Error,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    SyntaxError,
)

MAX_STATEMENTS = 512
MAX_CACHED_TEXT = 16 * 1024


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A planned statement.

    Attributes:
        plan: what it means.
        run: runs it.
        arity: positional parameters it takes; -1 when it takes named ones.
        catalog, settings: it was planned under.
    """

    plan: Plan
    run: Prepared
    arity: int
    catalog: Catalog
    settings: SessionSettings


class Session:
    """Runs statements. Safe for threads; each statement has the session to itself.

    `database`: whose session it is; `process`: that it belongs to.
    """

    def __init__(self, database: Database, settings: SessionSettings, autocommit: bool) -> None:
        """Begin a session on an open database, which it gives back when it closes."""
        self.database = database
        self.process = database.process
        self._store = database.store
        self._engine = database.new_engine()
        durable = database.settings.durability == "full"
        cancellation = Cancellation(self._interrupt_engines)
        self._transactions = TransactionScope(
            database.store.begin,
            cancellation.check,
            database.retry_queue,
            durable=durable,
            autocommit=autocommit,
        )
        self._state = SessionState(
            database.store,
            self._engine,
            self._transactions,
            database.settings,
            settings,
            threading.RLock(),
            cancellation,
            database.process,
            in_memory=database.path == MEMORY,
        )
        self._statements: OrderedDict[str, PreparedStatement] = OrderedDict()
        self._closed = False

    def execute(self, sql: str, parameters: ParameterValues = ()) -> Outcome:
        """Run one statement.

        `sql`: its text; `parameters`: a sequence for `?`, a mapping for `:name`. Raises Error: it
        failed, and changed nothing.
        """
        with self._own_errors(sql), self._state.running():
            prepared = self._prepared(sql)
            if type(parameters) is not tuple or len(parameters) != prepared.arity:
                _check_parameters(prepared, parameters)
            return prepared.run(parameters)

    def execute_many(self, sql: str, parameter_rows: Iterable[ParameterValues | None]) -> Outcome:
        """Run a writing statement once for each set of parameters, all or nothing.

        Raises ProgrammingError: the statement does not write rows; Error: it failed for one of
        them.
        """
        rows = _rows_of(parameter_rows)
        with self._own_errors(sql), self._state.running():
            prepared = self._prepared(sql)
            statement_plan = prepared.plan
            if not isinstance(statement_plan, Write | Change):
                raise ProgrammingError(
                    "executemany takes INSERT, UPSERT, UPDATE, DELETE or MERGE", hint="use execute"
                )
            for parameters in rows:
                _check_parameters(prepared, parameters)
            if isinstance(statement_plan, Change):
                from pykudu_sql.executor.writing.changes import change_many

                return change_many(self._state, statement_plan, rows)
            from pykudu_sql.executor.writing.writes import write_many

            return write_many(self._state, statement_plan, rows)

    def append(self, table: str, data: object, operation: str) -> Outcome:
        """Do one operation on the rows of an Arrow table, a pandas frame or a dict of columns.

        Raises Error: see `executor.append`.
        """
        check_text(table, "the name of a table")
        check_text(operation, "an operation")
        with self._own_errors(""), self._state.running():
            self._check_open()
            from pykudu_sql.executor.writing.append import append

            return append(self._state, table, data, operation)

    def _own_errors(self, sql: str) -> OwnErrors:
        self._state.own_errors = errors = OwnErrors(sql, self._names, _place)
        return errors

    def _names(self) -> Iterator[str]:
        """What names the user's tables and views, and what these mention."""
        catalog = self._store.catalog
        yield from catalog.database_names
        for table in (*catalog.tables.values(), *SYSTEM_TABLES.values()):
            yield table.name
            yield from table.schema.by_name
        for view in catalog.views.values():
            yield from (view.name, view.query, *(column.name for column in view.columns))

    @property
    def catalog(self) -> Catalog:
        """The newest catalog, names resolved in the session's database."""
        return self._state.catalog

    @property
    def row_errors(self) -> tuple[RowError, ...]:
        """Rows that the last writing statement left out."""
        return self._state.row_errors

    def _prepared(self, sql: str) -> PreparedStatement:
        if not isinstance(sql, str):
            raise InterfaceError(f"a statement is text, not {type(sql).__name__}", sqlstate="07006")
        if not self._transactions.is_open:
            self._store.refresh()
        cached = self._statements.get(sql)
        if (
            cached is not None
            and cached.catalog is self._store.catalog
            and cached.settings is self._state.settings
        ):
            self._statements.move_to_end(sql)
            return cached
        self._check_open()
        return self._plan(sql)

    def _plan(self, sql: str) -> PreparedStatement:
        _check_text(sql)
        catalog, context = self._store.catalog, self._context()
        statement_plan = plan(sql, context)
        keys = statement_plan.parameters
        arity = -1 if any(isinstance(key, str) for key in keys) else len(set(keys))
        prepared = PreparedStatement(
            statement_plan,
            prepare(self._state, statement_plan),
            arity,
            catalog,
            self._state.settings,
        )
        if statement_plan.cacheable and len(sql) <= MAX_CACHED_TEXT:
            self._statements[sql] = prepared
            self._statements.move_to_end(sql)
            if len(self._statements) > MAX_STATEMENTS:
                self._statements.popitem(last=False)
        return prepared

    def _context(self) -> PlanContext:
        settings = self._state.settings
        as_of = None if settings.as_of is None else bound_at(settings.as_of)
        now = self._store.now()
        return PlanContext(
            self._store.catalog.seen_from(settings.database),
            lambda bound: self._store.catalog_at(bound).seen_from(settings.database),
            lambda: now,
            self._evaluate,
            PlanSettings(
                settings.default_hash_partitions,
                settings.implicit_primary_key,
                as_of,
                settings.database,
                settings.row_errors == "collect",
            ),
            self._store.definitions.snapshots,
            checkpoint=self._state.checkpoint,
        )

    def _evaluate(self, sql: str) -> Any:
        self._state.checkpoint()
        result = self._engine.execute(sql, {}, ())
        return python_values(result.table.column(0), result.types[0])[0]

    @property
    def settings(self) -> SessionSettings:
        """Those in force."""
        return self._state.settings

    def moment_elsewhere(self) -> SnapshotBound | None:
        """The bound at which others read what a statement of this session would; None for now.

        Raises NotSupportedError: the open transaction has changes, which only its session sees.
        """
        with self._state.lock:
            current, as_of = self._transactions.current, self._state.settings.as_of
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

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own."""
        return self._transactions.autocommit

    def set_autocommit(self, value: bool) -> None:
        """Change it; switching it on commits an open transaction."""
        with self._state.lock:
            self._check_open()
            self._transactions.set_autocommit(value)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction waits for commit or rollback."""
        return self._transactions.is_open

    def commit(self) -> None:
        """Commit the open transaction, if there is one.

        Raises SerializationError: another session changed the same rows first; it is rolled back.
        """
        with self._state.lock:
            self._check_open()
            self._transactions.commit()

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

    def interrupt(self) -> None:
        """Ask the running statement to stop. Called from another thread."""
        self._state.cancellation.request()

    def _interrupt_engines(self) -> None:
        self._state.interrupt_engines()

    def close(self) -> None:
        """Roll back, and give the database back. Closing twice is allowed.

        In a child forked from the process that opened it nothing happens.
        """
        if not self.process.is_current:
            return
        with self._state.lock:
            if self._closed:
                return
            self._closed = True
            self._statements.clear()
            try:
                self._transactions.rollback()
                self._state.close()
            finally:
                self.database.release()

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("the connection is closed")


def _place(error: Error, statement: str) -> None:
    """Note where in a statement an error of the engine lies."""
    from pykudu_sql.planner.query.error_places import place

    place(error, statement)


def _check_text(sql: str) -> None:
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise SyntaxError(
            f"the statement is not valid Unicode text at character {error.start + 1}",
            sqlstate="22021",
        ) from error


def _rows_of(parameter_rows: Iterable[ParameterValues | None]) -> list[ParameterValues]:
    if not isinstance(parameter_rows, Iterable):
        raise InterfaceError(
            f"executemany takes a sequence of parameters, not {type(parameter_rows).__name__}",
            hint="such as [(1, 'a'), (2, 'b')]",
            sqlstate="07001",
        )
    return [() if parameters is None else parameters for parameters in parameter_rows]


def _check_parameters(prepared: PreparedStatement, parameters: ParameterValues) -> None:
    """See that parameters come in the shape and number the statement wants.

    EXPLAIN may go without them. Raises InterfaceError: they do not.
    """
    if isinstance(prepared.plan, Explain) and not prepared.plan.analyze and not parameters:
        return
    if prepared.arity < 0:
        if not isinstance(parameters, Mapping):
            raise InterfaceError(
                "the statement has named parameters",
                hint="pass a mapping such as {'name': value}; a number behind a dollar is a name, "
                "too: {'1': value}. In a sequence each is `?`",
                sqlstate="07001",
            )
    elif isinstance(parameters, str | bytes | Mapping) or not isinstance(parameters, Sized):
        if not isinstance(parameters, Sized) or parameters or prepared.arity:
            raise InterfaceError(
                f"parameters for `?` come as a sequence, not as {type(parameters).__name__}",
                hint="one value is passed as (value,)",
                sqlstate="07001",
            )
    elif len(parameters) != prepared.arity:
        raise InterfaceError(
            f"the statement takes {prepared.arity} parameter(s), {len(parameters)} were given",
            sqlstate="07001",
        )
