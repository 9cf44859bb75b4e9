"""A session's queries in DuckDB: Arrow in, Arrow out.

Measured reasons for what is done here:

- Threads that share a cursor silently get each other's rows. So each session owns its cursors, a
  query has one to itself until its last row is read, and one lock spans execute and fetch.
- PREPARE over registered Arrow data answers with stale rows. Statements are kept parsed instead,
  and bind anew each time.
- Joins over streams of unknown length are planned badly. What is no whole `pa.Table` is therefore
  registered as a stream with its row count (`sized_stream`).
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from pykudu_sql.engine.batch_rows import rows_of_batch
from pykudu_sql.engine.ctrl_c import ctrl_c_interrupts
from pykudu_sql.engine.duckdb_instance import GATHERING, DuckDB
from pykudu_sql.engine.engine_cursor import BoundQuery, EngineCursor
from pykudu_sql.engine.engine_errors import is_fatal, translate
from pykudu_sql.engine.inherited import hold_duckdb
from pykudu_sql.engine.long_intervals import hold_intervals, with_days
from pykudu_sql.engine.materialized_rows import materialized_rows
from pykudu_sql.engine.operators import Operator, operators_of
from pykudu_sql.engine.query_engine import EngineResult, EngineStream, Relation
from pykudu_sql.engine.relations.sized_stream import registered
from pykudu_sql.engine.relations.vector_batches import Width, pieces, vector_bytes, width_of
from pykudu_sql.engine.value_guard import (
    BATCH_ROWS,
    are_gathered,
    are_large,
    most_of_states,
    with_batch_check,
)
from pykudu_sql.planner.value_bounds.excess import VECTOR_ROWS
from pykudu_sql.storage.common.progress import Counter
from pykudu_sql.storage.common.types.type_names import format_engine_type
from pykudu_sql.storage.errors import Error, InterfaceError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, Statement

MAX_STATEMENTS = 256
MAX_CURSORS = 64  # that are kept, each with the views of its queries; 80 kB each
# Arguments without a name are `col0`, `col1`, .. there.
_SIGNATURES = r"""
SELECT DISTINCT lower(function_name), parameters FROM duckdb_functions()
WHERE len(list_filter(parameters, lambda p: regexp_matches(p, '^(col\d+|)$'))) = 0
ORDER BY ALL
"""
STREAM_ROWS = 65_536
BUFFERED_ROWS = 2_048
_GROWN_VECTORS = 4  # that have the bytes of one, where calls may outgrow their arguments
_MOST_DIGITS = 38  # of a decimal


class _Working:
    """A cursor at work for one query, and the rows that it streams; empty once that has ended.

    Nothing else may hold either: who keeps the rows' reader must not keep objects of DuckDB.
    """

    __slots__ = ("counter", "cursor", "gathers", "generation", "reader", "widths")

    def __init__(self, cursor: EngineCursor, generation: int) -> None:
        self.cursor: EngineCursor | None = cursor
        self.generation = generation
        self.reader: pa.RecordBatchReader | None = None
        self.counter: Counter | None = None
        self.gathers = True  # whether it makes long vectors of short ones
        self.widths: Mapping[str, Width] = {}  # of each relation

    def release(self) -> "Iterator[EngineCursor | pa.RecordBatchReader]":
        """What it held, the cursor first."""
        cursor, reader = self.cursor, self.reader
        self.cursor = self.reader = None
        if cursor is not None:
            yield cursor
        if reader is not None:
            yield reader


class DuckDBEngine:
    """One session's access to a DuckDB of its database; a `StreamingEngine`."""

    def __init__(self, duckdb: DuckDB) -> None:
        """Nothing is opened before the first query."""
        self._duckdb = duckdb
        self._idle: list[EngineCursor] = []  # the one that was used last comes last
        self._generation = self._duckdb.generation
        self._working: set[_Working] = set()
        self._at_work: EngineCursor | None = None
        self._statements: OrderedDict[str, Statement] = OrderedDict()
        self._lock = threading.Lock()
        hold_duckdb(self)

    @property
    def vector_bytes(self) -> int:
        """See StreamingEngine."""
        return vector_bytes(self._duckdb.memory_limit)

    @property
    def state_bytes(self) -> int:
        """See StreamingEngine."""
        return most_of_states(self._duckdb.memory_limit)

    def execute(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> EngineResult:
        """See QueryEngine."""
        with self._lock:
            cursor, working = self._take(relations)
            with self._failing(working), self._interruptible(cursor):
                self._register(working, sql, parameters, relations)
                bound = self._bound(cursor, sql, parameters)
                rows = self._batch_rows(bound.kinds, working.widths, sql, parameters, BUFFERED_ROWS)
                rows_table = materialized_rows(bound.relation, self._duckdb.result_limit, rows)
                self._give_back(working, relations)
            return EngineResult(rows_table, bound.types)

    def stream(
        self,
        sql: str,
        relations: Mapping[str, Relation],
        parameters: Sequence[Any],
        most: float,
        counter: Counter,
    ) -> EngineStream:
        """See StreamingEngine. Until it ends it has a cursor that other queries do not disturb."""
        with self._lock:
            cursor, working = self._take(relations)
            working.counter = counter
            batches: list[pa.RecordBatch] = []
            size = 0
            with self._failing(working), self._interruptible(cursor):
                self._register(working, sql, parameters, relations)
                bound = self._bound(cursor, sql, parameters)
                rows = self._batch_rows(bound.kinds, working.widths, sql, parameters, STREAM_ROWS)
                reader = bound.relation.to_arrow_reader(rows)
                working.reader = reader
                while size <= most and (batch := self._next(working, relations)) is not None:
                    batches.append(batch)
                    size += batch.nbytes
            is_all = working.cursor is None
            read = partial(self._read, working, relations)
            return EngineStream(
                reader.schema, bound.types, batches, is_all, read, partial(self._give_up, working)
            )

    def _batch_rows(
        self,
        kinds: Sequence[Any],
        widths: Mapping[str, Width],
        sql: str,
        parameters: Sequence[Any],
        most: int,
    ) -> int:
        if are_large(sql, parameters):
            most = BATCH_ROWS
        elif are_gathered(sql, kinds):
            most = VECTOR_ROWS
        limit = self._duckdb.memory_limit
        return rows_of_batch(kinds, widths, sql, parameters, limit, most)

    def signatures(self) -> Sequence[tuple[str, tuple[str, ...]]]:
        """See StreamingEngine."""
        with self._lock:
            cursor, working = self._take({})
            with self._failing(working), self._interruptible(cursor):
                rows = cursor.connection.execute(_SIGNATURES).fetchall()
                self._give_back(working, ())
        return [(name, tuple(arguments)) for name, arguments in rows]

    def planned(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> Operator | None:
        """See StreamingEngine."""
        return self._described("EXPLAIN (FORMAT json)", sql, relations, parameters)

    def profiled(
        self, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> Operator | None:
        """See StreamingEngine."""
        return self._described("EXPLAIN (ANALYZE, FORMAT json)", sql, relations, parameters)

    def _described(
        self, how: str, sql: str, relations: Mapping[str, Relation], parameters: Sequence[Any]
    ) -> Operator | None:
        with self._lock:
            cursor, working = self._take(relations)
            with self._failing(working), self._interruptible(cursor):
                self._register(working, sql, parameters, relations)
                values = _typed(parameters, cursor.connection)
                ((_, description),) = cursor.connection.execute(f"{how} {sql}", values).fetchall()
                self._give_back(working, relations)
            return operators_of(description)

    def _next(
        self, working: _Working, relations: Mapping[str, Relation]
    ) -> "pa.RecordBatch | None":
        """The next rows of a stream, None at its end."""
        assert working.reader is not None
        counter = working.counter
        try:
            batch = working.reader.read_next_batch()
            if counter is not None:
                counter.add(batch.num_rows)
            return batch
        except StopIteration:
            if counter is not None:
                counter.total = counter.done
            self._give_back(working, relations)
            return None

    def _read(
        self, working: _Working, relations: Mapping[str, Relation]
    ) -> "pa.RecordBatch | None":
        """The next rows of a stream whose first ones were handed over."""
        cursor = working.cursor
        if cursor is None:
            raise InterfaceError("the result was given up, or its connection closed")
        with self._failing(working), self._interruptible(cursor):
            return self._next(working, relations)

    @contextmanager
    def _failing(self, working: _Working) -> Iterator[None]:
        """A block whose errors end a query and become ours."""
        try:
            yield
        except BaseException as error:
            self._give_up(working)
            if isinstance(error, Error) or not isinstance(error, Exception):
                raise
            if is_fatal(error):
                self._duckdb.renew()
            raise translate(error) from error

    @contextmanager
    def _interruptible(self, cursor: EngineCursor) -> Iterator[None]:
        """A block in which a cursor works for the running statement, which may be stopped."""
        before, self._at_work = self._at_work, cursor
        try:
            with ctrl_c_interrupts(cursor.interrupt):
                yield
        finally:
            self._at_work = before

    def _take(self, relations: Mapping[str, Relation]) -> tuple[EngineCursor, _Working]:
        """A cursor for one query; one that has views for its relations if there is."""
        generation = self._duckdb.generation
        if self._generation != generation:
            self._forget_idle()
            self._generation = generation
        cursor = self._idle_cursor(relations)
        working = _Working(cursor, generation)
        self._working.add(working)
        return cursor, working

    def _idle_cursor(self, relations: Mapping[str, Relation]) -> EngineCursor:
        schemas = {name: relation.schema for name, relation in relations.items()}
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place].has_views(schemas):
                return self._idle.pop(place)
        return self._duckdb.cursor() if len(self._idle) < MAX_CURSORS else self._idle.pop(0)

    def _give_back(self, working: _Working, relations: Iterable[str]) -> None:
        """Keep the cursor of a query that has ended for the next one."""
        self._working.discard(working)
        cursor = working.cursor
        tuple(working.release())
        if cursor is not None:
            if working.generation == self._generation:
                cursor.clear(relations)
                if not working.gathers:
                    cursor.connection.execute(f"SET SESSION {GATHERING} = true")
                self._idle.append(cursor)
            else:
                cursor.close()

    def _give_up(self, working: _Working) -> None:
        """End a query that has rows left, or failed. One that has ended stays as it is."""
        self._working.discard(working)
        for each in working.release():
            each.close()

    def _forget_idle(self) -> None:
        self._statements.clear()
        for cursor in self._idle:
            cursor.close()
        self._idle.clear()

    def _register(
        self,
        working: _Working,
        sql: str,
        parameters: Sequence[Any],
        relations: Mapping[str, Relation],
    ) -> None:
        cursor, size = working.cursor, self.vector_bytes
        if are_large(sql, parameters):
            size //= _GROWN_VECTORS
        assert cursor is not None
        widths = working.widths = {name: width_of(each) for name, each in relations.items()}
        if any(pieces(width.row_bytes, size) > 1 for width in widths.values()):
            working.gathers = False
            cursor.connection.execute(f"SET SESSION {GATHERING} = false")
        for name, relation in relations.items():
            fits = widths[name].vector_bytes <= size
            rows = relation if fits else registered(relation, size)
            cursor.register(name, relation.schema, rows)

    def _bound(self, cursor: EngineCursor, sql: str, parameters: Sequence[Any]) -> BoundQuery:
        bind = partial(self._bind, cursor.connection, sql, parameters)
        return bind() if parameters else cursor.bound(sql, bind)

    def _bind(
        self, connection: "DuckDBPyConnection", sql: str, parameters: Sequence[Any]
    ) -> BoundQuery:
        values = _typed(parameters, connection) or None
        relation = connection.sql(self._statement(connection, sql), params=values)
        kinds = relation.types
        wrapped_sql = sql
        if hold_intervals(kinds):
            wrapped_sql = with_days(sql, relation.columns, kinds)
        if are_large(sql, parameters) or are_gathered(sql, kinds):
            wrapped_sql = with_batch_check(wrapped_sql, relation.columns, kinds)
        if wrapped_sql is not sql:
            relation = connection.sql(self._statement(connection, wrapped_sql), params=values)
        types = tuple([format_engine_type(str(kind)) for kind in kinds])
        return BoundQuery(relation, kinds, types)

    def _statement(self, connection: "DuckDBPyConnection", sql: str) -> "Statement":
        cached = self._statements.get(sql)
        if cached is not None:
            self._statements.move_to_end(sql)
            return cached
        (statement,) = connection.extract_statements(sql)
        self._statements[sql] = statement
        if len(self._statements) > MAX_STATEMENTS:
            self._statements.popitem(last=False)
        return statement

    def interrupt(self) -> None:
        """See QueryEngine. Results that wait to be read on are none of its business."""
        cursor = self._at_work
        if cursor is not None:
            cursor.interrupt()

    def close(self) -> None:
        """Close the cursors. Closing twice is allowed."""
        with self._lock:
            self._close()

    def close_at_exit(self) -> None:
        if self._at_work is None and self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()

    def _close(self) -> None:
        # Results that go meanwhile, on any thread, take theirs out of the set.
        for working in self._working.copy():
            self._give_up(working)
        self._forget_idle()

    def leave(self) -> Iterator[object]:
        yield from (*self._idle, *self._statements.values())
        for working in self._working:
            yield from working.release()
        self._idle, self._working = [], set()
        self._statements = OrderedDict()
        self._lock = threading.Lock()


def _typed(parameters: Sequence[Any], connection: "DuckDBPyConnection") -> list[Any]:
    """Values for the engine, which takes a decimal below 0.1 with 38 digits for a double."""
    return [_decimal(each, connection) if type(each) is Decimal else each for each in parameters]


def _decimal(value: Decimal, connection: "DuckDBPyConnection") -> Any:
    import duckdb

    scale = -int(value.as_tuple().exponent) if value.is_finite() else 0
    if scale not in (_MOST_DIGITS, _MOST_DIGITS - 1) or value.adjusted() >= 0:
        return value
    return duckdb.Value(f"{value:f}", connection.decimal_type(_MOST_DIGITS, scale))
