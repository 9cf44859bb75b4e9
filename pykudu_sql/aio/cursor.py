"""Cursors for asyncio: what waits for the database is awaited, what does not is a property."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from pykudu_sql.aio.worker import Worker
from pykudu_sql.dbapi.cursor import Column, Cursor, Parameters, Row

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1000


class AsyncCursor:
    """Runs statements one after the other and holds the rows of the last one."""

    def __init__(self, cursor: Cursor, worker: Worker) -> None:
        """Made by `AsyncConnection.cursor` and `AsyncConnection.execute`."""
        self._cursor = cursor
        self._worker = worker
        self._fetched: list[Row] = []

    async def execute(self, sql: str, parameters: Parameters = None) -> Self:
        """Run one statement; see `Cursor.execute`."""
        self._fetched = []
        await self._worker.run(self._cursor.execute, sql, parameters)
        return self

    async def executemany(self, sql: str, parameter_rows: Iterable[Parameters]) -> Self:
        """Run a writing statement for many sets of parameters; see `Cursor.executemany`."""
        self._fetched = []
        await self._worker.run(self._cursor.executemany, sql, parameter_rows)
        return self

    @property
    def description(self) -> list[Column] | None:
        """The columns of the result; see `Cursor.description`."""
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        """Rows that the last statement changed or found; see `Cursor.rowcount`."""
        return self._cursor.rowcount

    @property
    def message(self) -> str | None:
        """What the last statement did, in words; None for a query."""
        return self._cursor.message

    async def fetchone(self) -> Row | None:
        """The next row, or None at the end."""
        rows = await self.fetchmany(1)
        return rows[0] if rows else None

    async def fetchmany(self, size: int = 1) -> list[Row]:
        """The next rows; fewer at the end."""
        taken, self._fetched = self._fetched[:size], self._fetched[size:]
        if len(taken) == size:
            return taken
        return taken + await self._worker.run(self._cursor.fetchmany, size - len(taken))

    async def fetchall(self) -> list[Row]:
        """All rows not fetched yet."""
        taken, self._fetched = self._fetched, []
        return taken + await self._worker.run(self._cursor.fetchall)

    async def fetch_arrow_table(self) -> "pa.Table":
        """All rows not fetched yet, as an Arrow table; those of an iteration under way are."""
        return await self._worker.run(self._cursor.fetch_arrow_table)

    async def fetch_df(self) -> Any:
        """All rows not fetched yet, as a pandas frame; see `Cursor.fetch_df`."""
        return await self._worker.run(self._cursor.fetch_df)

    async def close(self) -> None:
        """Forget the rows. Closing twice is allowed."""
        self._fetched = []
        await self._worker.run(self._cursor.close)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Row:
        if not self._fetched:
            self._fetched = await self._worker.run(self._cursor.fetchmany, _ROWS_AT_ONCE)
        if not self._fetched:
            raise StopAsyncIteration
        return self._fetched.pop(0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()
