"""Connections (PEP 249), with the shortcuts that Python's sqlite3 and DuckDB made common."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from pykudu_sql.dbapi import exceptions
from pykudu_sql.dbapi.cursor import Cursor, Parameters
from pykudu_sql.dbapi.foreign_attributes import (
    ISOLATION_LEVEL,
    ROW_FACTORY,
    TEXT_FACTORY,
    ForeignAttribute,
)
from pykudu_sql.error_boundary import check_text, guarded
from pykudu_sql.planner.parse.scripts import split_statements
from pykudu_sql.storage.common.finalizer import finalize

if TYPE_CHECKING:
    from pykudu_sql.session.session import Session
    from pykudu_sql.spark.tables import SparkTables
    from pykudu_sql.storage.common.progress import ProgressReport
    from pykudu_sql.storage.common.rows.row_result import RowError


class Connection:
    """A connection to a database, made by `connect`.

    Threads may share it; each statement has it to itself. Processes may not: in a child made by
    fork it raises InterfaceError, and the child connects by itself. As a context manager it
    commits, or rolls back when the block raised, and closes.
    """

    Warning = exceptions.Warning
    Error = exceptions.Error
    InterfaceError = exceptions.InterfaceError
    DatabaseError = exceptions.DatabaseError
    DataError = exceptions.DataError
    OperationalError = exceptions.OperationalError
    IntegrityError = exceptions.IntegrityError
    InternalError = exceptions.InternalError
    ProgrammingError = exceptions.ProgrammingError
    NotSupportedError = exceptions.NotSupportedError

    row_factory = ForeignAttribute(ROW_FACTORY)
    text_factory = ForeignAttribute(TEXT_FACTORY)
    isolation_level = ForeignAttribute(ISOLATION_LEVEL)

    _open: "Session | None" = None

    def __init__(self, session: "Session") -> None:
        """Wrap a session, which the connection closes."""
        self._open = session
        self._path = session.database.path

    @property
    def _session(self) -> "Session":
        if self._open is None:
            raise exceptions.InterfaceError("the connection is closed")
        if not self._open.process.is_current:
            self._open.process.check()
        return self._open

    @property
    def path(self) -> str:
        """The database's directory, or `:memory:`."""
        return self._path

    @property
    def autocommit(self) -> bool:
        """Whether each statement commits at once; setting it to True commits what is open."""
        return self._session.autocommit

    @autocommit.setter
    @guarded
    def autocommit(self, value: bool) -> None:
        self._session.set_autocommit(bool(value))

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction waits for commit or rollback."""
        return self._session.in_transaction

    @property
    def as_of(self) -> int | None:
        """The hybrid timestamp at which `SET as_of` reads all tables; None for now."""
        return self._session.as_of

    @property
    def counts_statements(self) -> bool:
        """Whether `sys.statements` and `sys.metrics` count what runs here, which is the default.

        A tool sets it to False for what it asks for itself, such as names to complete.
        """
        return self._session.counts_statements

    @counts_statements.setter
    def counts_statements(self, value: bool) -> None:
        self._session.counts_statements = bool(value)

    @guarded
    def cursor(self) -> Cursor:
        """A new cursor."""
        return Cursor(self, self._session)

    def execute(self, sql: str, parameters: Parameters = None) -> Cursor:
        """Run a statement on a new cursor and return it."""
        return Cursor(self, self._session).execute(sql, parameters)

    def sql(self, query: str, params: Parameters = None) -> Cursor:
        """`execute`, by DuckDB's name; the statement runs at once, also a query."""
        return self.execute(query, params)

    def table(self, name: str) -> Cursor:
        """All rows of a table or view, by DuckDB's name.

        `name`: in any case, its database before a dot. Raises UndefinedTableError: there is none.
        """
        check_text(name, "the name of a table")
        parts = (part.replace("`", "``") for part in name.split("."))
        return self.execute(f"SELECT * FROM `{'`.`'.join(parts)}`")

    def executemany(self, sql: str, parameter_rows: Iterable[Parameters]) -> Cursor:
        """Run a writing statement for many sets of parameters on a new cursor and return it."""
        return Cursor(self, self._session).executemany(sql, parameter_rows)

    def executescript(self, script: str) -> Cursor:
        """Run the statements of a script on a new cursor and return it, as Python's sqlite3 does.

        An open transaction is committed first; each statement commits at once, but between BEGIN
        and COMMIT, for other threads of the connection too. One that fails ends the script, and
        those before it stay. `script`: statements without parameters, with semicolons between.
        """
        cursor, statements = self.cursor(), split_statements(script)
        self.commit()
        autocommit, self.autocommit = self.autocommit, True
        try:
            for statement in statements:
                cursor.execute(statement.text)
        finally:
            if self._open is not None:
                self.autocommit = autocommit
        return cursor

    @property
    def total_changes(self) -> int:
        """Rows that statements of the connection have changed, also those rolled back again."""
        return self._session.total_changes

    def append(self, table: str, data: object, operation: str = "insert") -> int:
        """Write many rows at once, all or nothing unless `row_errors` is 'collect'.

        Much faster than `executemany`. Without autocommit it belongs to the open transaction.

        Args:
            table: name of the table.
            data: an Arrow table, batch, reader or dataset, a pandas or polars frame (lazy ones
                too), a dict of columns, a list of dicts or of tuples (whose values are those of
                the table's columns, in order), the path of files, anything with
                `__arrow_c_stream__`, or an iterator of dicts, tuples, batches, tables or frames,
                which is read in bounded memory. Columns go by name; one left out takes its default
                in a new row and keeps its value in an old one.
            operation: what to do with each row: "insert", "upsert", "update" or "delete", each
                also with "_ignore" behind it, which skips rows that do not fit. A delete takes
                the key's columns only.

        Returns the number of rows changed. Raises UndefinedTableError, UndefinedColumnError: no
        such table or column; IntegrityError: a key is present already, or missing, or a NULL where
        none may be; DataError: a value does not fit its column; ProgrammingError: no such
        operation, or it cannot set these columns.
        """
        return self._session.append(table, data, operation).rowcount

    def create_table(
        self,
        table: str,
        data: object,
        *,
        key: Sequence[str],
        partition_by: str | None = None,
    ) -> int:
        """Make a table with the columns of data, and insert its rows.

        Without autocommit the rows belong to the open transaction; the table is there at once, and
        goes again if they do not fit.

        Args:
            table: name of the new table.
            data: as for `append`, with names of columns: no tuples.
            key: the columns of the primary key, in order.
            partition_by: what follows PARTITION BY, such as "HASH (id) PARTITIONS 4".

        Returns the number of rows. Raises DuplicateObjectError: the name is taken;
        InvalidSchemaError: a column is of a type that no table has; Error: see `append`.
        """
        return self._session.create_table(table, data, key, partition_by).rowcount

    def register(self, name: str, data: object) -> None:
        """Have this connection's statements read data under a name, as if it were a table.

        It can be read, joined and written from (INSERT .. SELECT, CREATE TABLE .. AS, MERGE), not
        written to, and no view may depend on it. Rows in memory are those of now: a pandas frame
        is copied. Lazy frames and datasets are read anew by each statement, in batches; a reader
        can be read once. A name registered before means the new data.

        Args:
            name: without a database; that of no table or view. Should one of the name be made
                later, statements that say the name are refused until it is clear what they mean.
            data: an Arrow table, batch, reader or dataset, a pandas or polars frame (lazy ones
                too), a dict of columns, a list of dicts, or anything with `__arrow_c_stream__`.
                In a pandas frame NaN is NULL, and the index is left out.

        Raises DuplicateObjectError: a table or view has the name; InterfaceError: the data has no
        named columns; InvalidSchemaError: a column is of a type that no table has; DataError: a
        value does not fit its type.
        """
        self._session.register(name, data)

    def unregister(self, name: str) -> None:
        """Forget data that was registered. Raises UndefinedTableError: there is none."""
        self._session.unregister(name)

    @guarded
    def spark(
        self, master: str | None = None, conf: Mapping[str, str] | None = None
    ) -> "SparkTables":
        """The tables of this database on Spark, whose writes this process commits.

        A read sees the moment that a SELECT of this connection would see, and is refused while the
        open transaction has changes; the open transaction sees nothing that Spark writes.

        Args:
            master: where Spark runs, unless this process has a session already; None for the
                setting `spark_master`.
            conf: settings of the session.

        Raises NotSupportedError: the database is in memory; OperationalError: there is no PySpark
        or no Java; says what to install.
        """
        from pykudu_sql.spark.sessions.java import check_pyspark

        check_pyspark("conn.spark()", "query the connection itself")
        from pykudu_sql.spark.tables import tables_of

        where = master or self._session.settings.spark_master
        moment = self._session.read_bound_for_others
        return tables_of(self._session.database.store, self.path, where, conf or {}, moment)

    @property
    def row_errors(self) -> "tuple[RowError, ...]":
        """Rows that the last writing statement left out, under `SET row_errors = 'collect'`."""
        return self._session.row_errors

    @guarded
    def commit(self) -> None:
        """Make the open transaction's changes durable and visible to others.

        Raises SerializationError: another transaction changed the same rows first. This one is
        rolled back; run it again.
        """
        self._session.commit()

    @guarded
    def rollback(self) -> None:
        """Forget the open transaction's changes, if there are any."""
        self._session.rollback()

    @guarded
    def refresh(self) -> None:
        """See what was committed since the open transaction began, ending it.

        On a read-only connection that includes what other processes have committed; outside a
        transaction each statement looks for that by itself. Raises OperationalError: the open
        transaction has changed rows.
        """
        self._session.refresh()

    @guarded
    def flush(self) -> None:
        """Write what tablets hold in memory to files, as `FLUSH` does."""
        self._session.database.store.flush()

    @guarded
    def interrupt(self) -> None:
        """Ask the running statement to stop. Meant to be called from another thread."""
        self._session.interrupt()

    def progress(self) -> "ProgressReport | None":
        """How far the statement is that runs, or ran last; None while nothing was counted.

        Meant to be called from another thread, as often as it is shown to a person.
        """
        session = self._open
        return None if session is None else session.progress()

    @guarded
    def list_tables(self) -> list[str]:
        """Names of the tables, sorted."""
        return sorted(self._session.catalog.tables)

    @guarded
    def list_system_tables(self) -> list[str]:
        """Names of the read-only tables that describe the database itself, sorted."""
        from pykudu_sql.storage.catalog.system_catalog import SYSTEM_TABLES

        return sorted(SYSTEM_TABLES)

    @guarded
    def list_signatures(self) -> Mapping[str, tuple[str, ...]]:
        """What functions take, by their names: names of arguments, or how many, for each form."""
        return self._session.signatures()

    @guarded
    def list_keys(self, table: str) -> list[str]:
        """Names of the columns of a table's primary key, in order.

        `table`: as for `list_columns`. Raises UndefinedTableError: no such table.
        """
        from pykudu_sql.storage.catalog.system_catalog import readable_table

        check_text(table, "the name of a table")
        schema = readable_table(self._session.catalog, table).schema
        return [column.name for column in schema.key_columns]

    @guarded
    def list_columns(self, table: str) -> list[str]:
        """Names of the columns of a table or a view, in order.

        `table`: a bare name means the database that USE has set. Raises UndefinedTableError: no
        such table.
        """
        from pykudu_sql.storage.catalog.system_catalog import readable_table

        check_text(table, "the name of a table")
        catalog = self._session.catalog
        view = catalog.views.get(catalog.full_name(table))
        if view is not None:
            return [column.name for column in view.columns]
        schema = readable_table(catalog, table).schema
        return [column.name for column in schema.visible_columns]

    @guarded
    def snapshot_timestamp(self) -> int:
        """This moment as a hybrid timestamp: AS OF it shows all that is committed by now."""
        return self._session.database.store.pin()

    def close(self) -> None:
        """Roll back what is open and give the database back. Closing twice is allowed.

        A statement that another thread runs is interrupted, and raises QueryCancelledError. Warns
        (ResourceWarning) if rows were changed and not committed. A connection that a forked child
        inherits is the parent's: closing it there does nothing.
        """
        if self._closed_with_changes():
            warnings.warn(
                f"a connection to '{self._path}' was closed with uncommitted changes, which are "
                "rolled back: call commit() or rollback() first",
                ResourceWarning,
                stacklevel=2,
            )

    @guarded
    def _closed_with_changes(self) -> bool:
        """Close; whether changes of rows were rolled back by that."""
        session, self._open = self._open, None
        if session is None:
            return False
        is_lost = session.has_uncommitted_rows
        session.close()
        return is_lost

    def __enter__(self) -> Self:
        return self

    @guarded
    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        session, self._open = self._open, None
        if session is None:
            return
        try:
            if kind is None:
                session.process.check()
                session.commit()
        finally:
            session.close()

    def __del__(self) -> None:
        session, self._open = self._open, None
        if session is not None:
            finalize(session.close)

    def __reduce__(self) -> str:
        raise exceptions.InterfaceError(
            "a connection belongs to its process and cannot be pickled",
            hint="give the other process the path, and let it connect",
        )

    def __repr__(self) -> str:
        state = "closed" if self._open is None else "open"
        return f"<pykudu_sql.Connection {self._path!r} ({state})>"
