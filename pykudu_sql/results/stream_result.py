"""A result that is computed while it is fetched: what memory holds does not grow with its rows.

That is any that takes more than `result_memory_bytes`. It is read forward once. Each batch is
read alone in its session, and until it is interrupted. Each fetch, of a row or of all, may take as
long as a statement of its own, as FETCH from a cursor in PostgreSQL.
"""

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Lock

import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineStream
from pykudu_sql.results.result import Row
from pykudu_sql.results.table_result import python_rows
from pykudu_sql.results.type_objects import SqlType
from pykudu_sql.storage.common.finalizer import finalize
from pykudu_sql.storage.errors import Error, InterfaceError, NotSupportedError
from pykudu_sql.storage.fs.process import current_process

# Reads one batch, and holds the session meanwhile.
Running = Callable[[Callable[[], pa.RecordBatch | None]], pa.RecordBatch | None]
# Begins a fetch: what it returns reads each of its batches.
Fetching = Callable[[], Running]
_HOLD_IT = "SET result_memory_bytes to more than it takes to have it held"


class StreamResult:
    """Rows of an engine's stream, a batch in memory at a time."""

    __slots__ = (
        "__weakref__", "_batch", "_close", "_export", "_failure", "_fetched", "_fetching",
        "_finalizer", "_names", "_position", "_process", "_read", "_rows", "_waiting", "schema",
        "types",
    )  # fmt: skip

    def __init__(
        self,
        stream: EngineStream,
        names: Sequence[str],
        fetching: Fetching,
    ) -> None:
        """Rows that have not been fetched.

        Args:
            stream: of the engine.
            names: of the columns.
            fetching: called when a fetch begins.
        """
        fields = zip(stream.schema, names, strict=True)
        self.schema = pa.schema([field.with_name(name) for field, name in fields])
        # None behind the last batch: what the query has read is released then.
        self._read: Callable[[], pa.RecordBatch | None] | None = stream.read
        # Who fetches a few rows and goes away must not leave the query behind.
        self._close = stream.close
        self._finalizer = weakref.finalize(self, finalize, stream.close)
        self._names = tuple(names)
        self._fetching = fetching
        self.types = tuple(SqlType(name) for name in stream.types)
        self._batch: pa.RecordBatch | None = None
        self._rows: list[Row] = []  # of that batch
        self._fetched = 0  # how many of them
        self._position = 0
        self._failure: Exception | None = None
        self._process = current_process()
        self._export = Lock()  # held by the one export, and by what comes of it
        self._waiting = deque(stream.batches)  # empty behind the last batch only

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def position(self) -> int:
        return self._position

    @property
    def length(self) -> int | None:
        is_complete = not self._waiting and self._fetched == len(self._rows)
        return self._position if is_complete else None

    def seek(self, position: int) -> None:
        """See Result. Raises NotSupportedError: always, since rows that were fetched are gone."""
        raise NotSupportedError("a result that is streamed cannot be scrolled", hint=_HOLD_IT)

    def fetch(self, count: int) -> list[Row]:
        """See Result; raises what the query raises."""
        self._check_not_exported()
        rows: list[Row] = []
        running: Running | None = None
        while len(rows) < count:
            if self._fetched == len(self._rows):
                running = running or self._fetching()
                if not self._advance(running):
                    break
            some = self._rows[self._fetched : self._fetched + count - len(rows)]
            self._fetched += len(some)
            rows += some
        self._position += len(rows)
        return rows

    def _advance(self, running: Running) -> bool:
        """Go on to the next batch; False at the end."""
        self._batch, self._rows, self._fetched = None, [], 0
        batch = self._take(running)
        if batch is not None:
            try:
                self._rows = python_rows(pa.Table.from_batches([batch]), self.types)
            except Error as error:  # the rows behind those without Python values are not next
                self._fail(error)
                raise
            self._batch = batch
        return batch is not None

    def read_table(self) -> pa.Table:
        """See Result; raises what the query raises."""
        self._check_not_exported()
        return self._rest()

    def read_batches(self, most: int) -> pa.RecordBatchReader:
        """See Result; its reader raises what the query raises."""
        self._check_not_exported()
        return pa.RecordBatchReader.from_batches(self.schema, self._batches(most, self._fetching))

    def export(self) -> pa.Table:
        """See Result; raises what the query raises."""
        self._check_not_exported()
        if self._position:
            raise InterfaceError(
                "a streamed result that was begun cannot be exported: its first rows are gone",
                hint=f"fetch_arrow_table takes the others; {_HOLD_IT}",
                sqlstate="24000",
            )
        # Of several threads one has the rows: to the others they would look like none.
        if not self._export.acquire(blocking=False):
            raise _streamed_error()
        try:
            return self._rest()
        except BaseException:
            self._export.release()
            raise

    def _check_not_exported(self) -> None:
        if self._export.locked():
            raise _streamed_error()

    def _rest(self) -> pa.Table:
        """What has not been fetched."""
        running = self._fetching()
        batches = self._batches(sys.maxsize, lambda: running)
        return pa.RecordBatchReader.from_batches(self.schema, batches).read_all()

    def _batches(self, most: int, fetching: Fetching) -> Iterator[pa.RecordBatch]:
        """What has not been fetched, in batches of at most so many rows."""
        batch_in_use, fetched = self._batch, self._fetched
        self._batch, self._rows, self._fetched = None, [], 0
        batch = self._take(fetching()) if batch_in_use is None else batch_in_use.slice(fetched)
        while batch is not None:
            named = pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)
            for start in range(0, named.num_rows, most):
                self._process.check()
                part = named.slice(start, most)
                self._position += part.num_rows
                yield part
            batch = self._take(fetching())

    def _take(self, running: Running) -> pa.RecordBatch | None:
        """The next batch, with one more at hand unless it is the last; None at the end.

        `running`: reads one in the session.

        Raises Error: the query failed, then and whenever its next rows are fetched.
        """
        self._process.check()
        if self._failure is not None:
            raise self._failure
        if len(self._waiting) == 1 and self._read is not None:
            try:
                following = running(self._read)
            except Exception as error:
                self._fail(error)
                raise
            if following is None:
                self._read = None
            else:
                self._waiting.append(following)
        return self._waiting.popleft() if self._waiting else None

    def close(self) -> None:
        """See Result. Its readers raise from then on; in a forked child nothing happens."""
        if self._process.is_current and self._failure is None:
            self._fail(InterfaceError("the result was closed", hint="execute the query again"))
            self._waiting.clear()

    def _fail(self, error: Exception) -> None:
        """Let the query go at once: the error's traceback keeps this result in a cycle."""
        self._failure, self._read = error, None
        self._finalizer.detach()
        self._close()


def _streamed_error() -> InterfaceError:
    return InterfaceError(
        "the rows of this streamed result were handed over as an Arrow stream",
        hint=f"execute the query again; {_HOLD_IT}",
        sqlstate="24000",
    )
