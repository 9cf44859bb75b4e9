"""Connections for asyncio, each with a thread of its own."""

import os
from collections.abc import Iterable
from functools import partial
from typing import Self

from pykudu_sql.aio.cursor import AsyncCursor
from pykudu_sql.aio.worker import Worker
from pykudu_sql.dbapi.connection import Connection
from pykudu_sql.dbapi.connection import connect as connect_now
from pykudu_sql.dbapi.cursor import Parameters


async def connect(
    path: str | os.PathLike[str] = ":memory:",
    *,
    read_only: bool = False,
    autocommit: bool = False,
    **settings: object,
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

    def __init__(self, connection: Connection, worker: Worker) -> None:
        """Made by `connect`."""
        self._connection = connection
        self._worker = worker
        worker.interrupts_by(connection.interrupt)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction waits for commit or rollback."""
        return self._connection.in_transaction

    def cursor(self) -> AsyncCursor:
        """A new cursor."""
        return AsyncCursor(self._connection.cursor(), self._worker)

    async def execute(self, sql: str, parameters: Parameters = None) -> AsyncCursor:
        """Run a statement on a new cursor and return it."""
        return await self.cursor().execute(sql, parameters)

    async def executemany(self, sql: str, parameter_rows: Iterable[Parameters]) -> AsyncCursor:
        """Run a writing statement for many sets of parameters on a new cursor and return it."""
        return await self.cursor().executemany(sql, parameter_rows)

    async def append(self, table: str, data: object, operation: str = "insert") -> int:
        """Write many rows at once; see `Connection.append`."""
        return await self._worker.run(self._connection.append, table, data, operation)

    async def commit(self) -> None:
        """Make the open transaction's changes durable; see `Connection.commit`."""
        await self._worker.run(self._connection.commit)

    async def rollback(self) -> None:
        """Forget the open transaction's changes, if there are any."""
        await self._worker.run(self._connection.rollback)

    async def refresh(self) -> None:
        """See what was committed since the open transaction began; see `Connection.refresh`."""
        await self._worker.run(self._connection.refresh)

    def interrupt(self) -> None:
        """Ask the running statement to stop."""
        self._connection.interrupt()

    async def close(self) -> None:
        """Roll back what is open and give the database back. Closing twice is allowed."""
        try:
            await self._worker.run(self._connection.close)
        finally:
            self._worker.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        try:
            await self._worker.run(self._connection.__exit__, kind, error, trace)
        finally:
            self._worker.end()
