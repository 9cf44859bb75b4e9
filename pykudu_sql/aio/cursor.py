"""Cursors for asyncio: what waits for the database is awaited, what does not is a property."""

import sys
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Self

from pykudu_sql.aio.worker import Worker
from pykudu_sql.dbapi.cursor import Column, Cursor, Parameters, Row
from pykudu_sql.dbapi.foreign_attributes import ROW_FACTORY, ForeignAttribute

if TYPE_CHECKING:
    import pyarrow as pa

    from pykudu_sql.storage.common.rows.row_result import RowError

_ROWS_AT_ONCE = 1000


class AsyncCursor:
    """Runs statements one after the other and holds the rows of the last one.

    Attributes:
        lastrowid: always None; rows have keys instead.
    """

    lastrowid: None = None
    row_factory = ForeignAttribute(ROW_FACTORY)

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
    def rownumber(self) -> int | None:
        """Rows fetched so far; None without rows."""
        read = self._cursor.rownumber
        return None if read is None else read - len(self._fetched)

    @property
    def row_errors(self) -> "tuple[RowError, ...]":
        """Rows that the last statement left out, under `SET row_errors = 'collect'`."""
        return self._cursor.row_errors

    @property
    def arraysize(self) -> int:
        """How many rows `fetchmany` gives by default."""
        return self._cursor.arraysize

    @arraysize.setter
    def arraysize(self, value: int) -> None:
        self._cursor.arraysize = value

    @property
    def message(self) -> str | None:
        """What the last statement did, in words; None for a query."""
        return self._cursor.message

    async def fetchone(self) -> Row | None:
        """The next row, or None at the end."""
        rows = await self.fetchmany(1)
        return rows[0] if rows else None

    async def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, `arraysize` of them by default; fewer at the end."""
        count = self.arraysize if size is None else size
        if not self._fetched:
            return await self._worker.run(self._cursor.fetchmany, count)
        fetched, self._fetched = self._fetched[:count], self._fetched[count:]
        if len(fetched) == count:
            return fetched
        return fetched + await self._worker.run(self._cursor.fetchmany, count - len(fetched))

    async def fetchall(self) -> list[Row]:
        """All rows not fetched yet."""
        fetched, self._fetched = self._fetched, []
        return fetched + await self._worker.run(self._cursor.fetchall)

    async def fetch_dicts(self, size: int = sys.maxsize) -> list[dict[str, Any]]:
        """The next rows by the names of their columns; see `Cursor.fetch_dicts`."""
        rows = await self.fetchmany(size)
        names = [column[0] for column in self.description or ()]
        return [dict(zip(names, row, strict=True)) for row in rows]

    async def fetch_record_batches(
        self, rows_per_batch: int = 100_000
    ) -> AsyncIterator["pa.RecordBatch"]:
        """All rows not fetched yet, batch by batch; see `Cursor.fetch_record_batch`."""
        await self._rewind()
        reader = await self._worker.run(self._cursor.fetch_record_batch, rows_per_batch)
        while (batch := await self._worker.run(next, reader, None)) is not None:
            yield batch

    async def scroll(self, value: int, mode: str = "relative") -> None:
        """Move to another row; see `Cursor.scroll`."""
        await self._rewind()
        await self._worker.run(self._cursor.scroll, value, mode)

    async def _rewind(self) -> None:
        """Move the cursor back by the rows that a running iteration has prefetched."""
        ahead, self._fetched = len(self._fetched), []
        if ahead:
            await self._worker.run(self._cursor.scroll, -ahead)

    async def arrow(self) -> "pa.Table":
        """`fetch_arrow_table`, by DuckDB's name."""
        return await self.fetch_arrow_table()

    async def df(self) -> Any:
        """`fetch_df`, by DuckDB's name."""
        return await self.fetch_df()

    async def fetchnumpy(self) -> dict[str, Any]:
        """All rows not fetched yet, as numpy arrays; see `Cursor.fetchnumpy`."""
        await self._rewind()
        return await self._worker.run(self._cursor.fetchnumpy)

    async def pl(self) -> Any:
        """All rows not fetched yet, as a polars frame; see `Cursor.pl`."""
        return await self._worker.run(self._cursor.pl)

    def _repr_html_(self) -> str | None:
        """The first rows as a table for notebooks; None without rows."""
        return self._cursor._repr_html_()

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
