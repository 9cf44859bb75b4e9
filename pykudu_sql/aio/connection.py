"""Connections for asyncio, each with a thread of its own."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Self, Unpack

from pykudu_sql.aio.cursor import AsyncCursor
from pykudu_sql.aio.worker import Worker
from pykudu_sql.dbapi.connection import Connection
from pykudu_sql.dbapi.cursor import Parameters
from pykudu_sql.dbapi.foreign_attributes import (
    ISOLATION_LEVEL,
    ROW_FACTORY,
    TEXT_FACTORY,
    ForeignAttribute,
)
from pykudu_sql.dbapi.opening import connect as connect_now
from pykudu_sql.setting_types import Settings

if TYPE_CHECKING:
    from pykudu_sql.spark.tables import SparkTables
    from pykudu_sql.storage.common.progress import ProgressReport
    from pykudu_sql.storage.common.rows.row_result import RowError


async def connect(
    path: str | os.PathLike[str] = ":memory:",
    *,
    read_only: bool = False,
    autocommit: bool = False,
    **settings: Unpack[Settings],
) -> "AsyncConnection":
    """Open a database; the arguments and errors of `pykudu_sql.connect`."""
    worker = Worker()
    opened = partial(connect_now, path, read_only=read_only, autocommit=autocommit, **settings)
    try:
        connection = await worker.run(opened)
    except BaseException:
        worker.end()
        raise
    return AsyncConnection(connection, worker)


class AsyncConnection:
    """A connection whose statements are awaited.

    Tasks may share it; each statement has it to itself. Cancelling a task interrupts its
    statement. As an asynchronous context manager it commits, or rolls back when the block raised,
    and closes.
    """

    row_factory = ForeignAttribute(ROW_FACTORY)
    text_factory = ForeignAttribute(TEXT_FACTORY)
    isolation_level = ForeignAttribute(ISOLATION_LEVEL)

    def __init__(self, connection: Connection, worker: Worker) -> None:
        """Made by `connect`."""
        self._connection = connection
        self._worker = worker
        worker.interrupts_by(connection.interrupt)

    @property
    def path(self) -> str:
        """The database's directory, or `:memory:`."""
        return self._connection.path

    @property
    def autocommit(self) -> bool:
        """Whether each statement commits at once; `set_autocommit` changes it."""
        return self._connection.autocommit

    async def set_autocommit(self, value: bool) -> None:
        """Have each statement commit at once, or wait for `commit`; True commits what is open."""
        await self._worker.run(setattr, self._connection, "autocommit", value)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction waits for commit or rollback."""
        return self._connection.in_transaction

    @property
    def as_of(self) -> int | None:
        """The hybrid timestamp at which `SET as_of` reads all tables; None for now."""
        return self._connection.as_of

    @property
    def counts_statements(self) -> bool:
        """Whether statements are counted; see `Connection.counts_statements`."""
        return self._connection.counts_statements

    @counts_statements.setter
    def counts_statements(self, value: bool) -> None:
        self._connection.counts_statements = value

    def cursor(self) -> AsyncCursor:
        """A new cursor."""
        return AsyncCursor(self._connection.cursor(), self._worker)

    async def execute(self, sql: str, parameters: Parameters = None) -> AsyncCursor:
        """Run a statement on a new cursor and return it."""
        return await self.cursor().execute(sql, parameters)

    async def sql(self, query: str, params: Parameters = None) -> AsyncCursor:
        """`execute`, by DuckDB's name."""
        return await self.execute(query, params)

    async def table(self, name: str) -> AsyncCursor:
        """All rows of a table or view; see `Connection.table`."""
        return AsyncCursor(await self._worker.run(self._connection.table, name), self._worker)

    async def executemany(self, sql: str, parameter_rows: Iterable[Parameters]) -> AsyncCursor:
        """Run a writing statement for many sets of parameters on a new cursor and return it."""
        return await self.cursor().executemany(sql, parameter_rows)

    async def executescript(self, script: str) -> AsyncCursor:
        """Run the statements of a script; see `Connection.executescript`."""
        cursor = await self._worker.run(self._connection.executescript, script)
        return AsyncCursor(cursor, self._worker)

    @property
    def total_changes(self) -> int:
        """Rows that statements have changed; see `Connection.total_changes`."""
        return self._connection.total_changes

    async def append(self, table: str, data: object, operation: str = "insert") -> int:
        """Write many rows at once; see `Connection.append`."""
        return await self._worker.run(self._connection.append, table, data, operation)

    async def create_table(
        self, table: str, data: object, *, key: Sequence[str], partition_by: str | None = None
    ) -> int:
        """Make a table with the columns of data, and insert its rows; as `Connection` has it."""
        make = partial(
            self._connection.create_table, table, data, key=key, partition_by=partition_by
        )
        return await self._worker.run(make)

    async def register(self, name: str, data: object) -> None:
        """Have statements read data under a name; see `Connection.register`."""
        await self._worker.run(self._connection.register, name, data)

    async def unregister(self, name: str) -> None:
        """Forget data that was registered."""
        await self._worker.run(self._connection.unregister, name)

    async def spark(
        self, master: str | None = None, conf: Mapping[str, str] | None = None
    ) -> "SparkTables":
        """The tables on Spark; see `Connection.spark`. What it returns is not asynchronous."""
        return await self._worker.run(self._connection.spark, master, conf)

    @property
    def row_errors(self) -> "tuple[RowError, ...]":
        """Rows that the last writing statement left out, under `SET row_errors = 'collect'`."""
        return self._connection.row_errors

    async def commit(self) -> None:
        """Make the open transaction's changes durable; see `Connection.commit`."""
        await self._worker.run(self._connection.commit)

    async def rollback(self) -> None:
        """Forget the open transaction's changes, if there are any."""
        await self._worker.run(self._connection.rollback)

    async def refresh(self) -> None:
        """See what was committed since the open transaction began; see `Connection.refresh`."""
        await self._worker.run(self._connection.refresh)

    async def flush(self) -> None:
        """Write what tablets hold in memory to files, as `FLUSH` does."""
        await self._worker.run(self._connection.flush)

    async def snapshot_timestamp(self) -> int:
        """This moment as a hybrid timestamp: AS OF it shows all that is committed by now."""
        return await self._worker.run(self._connection.snapshot_timestamp)

    async def list_tables(self) -> list[str]:
        """Names of the tables, sorted."""
        return await self._worker.run(self._connection.list_tables)

    async def list_system_tables(self) -> list[str]:
        """Names of the read-only tables that describe the database itself, sorted."""
        return await self._worker.run(self._connection.list_system_tables)

    async def list_columns(self, table: str) -> list[str]:
        """Names of a table's columns, in order."""
        return await self._worker.run(self._connection.list_columns, table)

    async def list_keys(self, table: str) -> list[str]:
        """Names of the columns of a table's primary key, in order."""
        return await self._worker.run(self._connection.list_keys, table)

    async def list_signatures(self) -> Mapping[str, tuple[str, ...]]:
        """What functions take, by their names; see `Connection.list_signatures`."""
        return await self._worker.run(self._connection.list_signatures)

    def progress(self) -> "ProgressReport | None":
        """How far the statement is that runs, or ran last; None while nothing was counted."""
        return self._connection.progress()

    def interrupt(self) -> None:
        """Ask the running statement to stop."""
        self._connection.interrupt()

    async def close(self) -> None:
        """Roll back what is open and give the database back. Closing twice is allowed.

        Statements of other tasks are interrupted.
        """
        try:
            await self._worker.run_beside(self._connection.close)
        finally:
            self._worker.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        # What the block was left with is committed behind the statements of its tasks.
        run = self._worker.run if kind is None else self._worker.run_beside
        try:
            await run(self._connection.__exit__, kind, error, trace)
        finally:
            self._worker.end()
