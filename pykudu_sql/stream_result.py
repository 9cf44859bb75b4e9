"""A result that is computed while it is fetched: what memory holds does not grow with its rows.

A query over one table too large for memory reads it as a stream (see `executor.scans`); so is its
result. It is read forward once. Each batch is fetched as a statement of its own would run: alone in
its session, and until it is interrupted.
"""

import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from pykudu_sql.dbapi.types import SqlType
from pykudu_sql.engine.query_engine import EngineStream
from pykudu_sql.result import Row, python_rows
from pykudu_sql.storage.errors import NotSupportedError


class StreamResult:
    """Rows of an engine's stream, a batch in memory at a time."""

    __slots__ = (
        "__weakref__",
        "_batch",
        "_given",
        "_names",
        "_next",
        "_position",
        "_rows",
        "_running",
        "_stream",
        "types",
    )

    def __init__(
        self,
        stream: EngineStream,
        names: Sequence[str],
        running: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Rows that have not been fetched; the first batch is read, so that early errors show.

        Args:
            stream: of the engine.
            names: of the columns.
            running: the session, while it reads one more batch.

        Raises:
            Error: the query failed.
        """
        self._stream = stream
        # Who fetches a few rows and goes away must not leave the query behind.
        weakref.finalize(self, stream.close)
        self._names = tuple(names)
        self._running = running
        self.types = tuple(SqlType(name) for name in stream.types)
        self._batch: pa.RecordBatch | None = None
        self._rows: list[Row] = []  # of that batch
        self._given = 0  # how many of them
        self._position = 0
        self._next = stream.read()

    @property
    def names(self) -> tuple[str, ...]:
        """See Result."""
        return self._names

    @property
    def position(self) -> int:
        """See Result."""
        return self._position

    @property
    def length(self) -> int | None:
        """See Result."""
        known = self._next is None and self._given == len(self._rows)
        return self._position if known else None

    def seek(self, position: int) -> None:
        """See Result.

        Raises:
            NotSupportedError: always, since rows that were fetched are gone.
        """
        raise NotSupportedError(
            "a result that is streamed cannot be scrolled",
            hint="SET scan_memory_bytes to more than its table takes to have it held",
        )

    def fetch(self, count: int) -> list[Row]:
        """See Result; raises what the query raises."""
        found: list[Row] = []
        while len(found) < count:
            if self._given == len(self._rows) and not self._advance():
                break
            some = self._rows[self._given : self._given + count - len(found)]
            self._given += len(some)
            found += some
        self._position += len(found)
        return found

    def _advance(self) -> bool:
        """Go on to the next batch; False at the end."""
        self._batch, self._given = self._take(), 0
        self._rows = []
        if self._batch is not None:
            self._rows = python_rows(pa.Table.from_batches([self._batch]), self.types)
        return self._batch is not None

    def read_table(self) -> pa.Table:
        """See Result; raises what the query raises."""
        left = []
        if self._batch is not None:
            left.append(self._batch.slice(self._given))
        self._batch, self._rows, self._given = None, [], 0
        while (batch := self._take()) is not None:
            left.append(batch)
        table = pa.Table.from_batches(left, self._stream.schema).rename_columns(list(self._names))
        self._position += table.num_rows
        return table

    def _take(self) -> pa.RecordBatch | None:
        """The next batch, the one after it read ahead; None at the end."""
        batch = self._next
        if batch is not None:
            with self._running():
                self._next = self._stream.read()
        return batch
