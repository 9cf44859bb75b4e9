"""SELECT: what the engine makes of scans, and the rows that need no engine."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import zip_longest
from math import inf
from types import MappingProxyType, NoneType
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from pykudu_sql.dbapi.boundary import OwnErrors
from pykudu_sql.engine.query_engine import EngineResult, EngineStream, Relation
from pykudu_sql.executor.group_codes import coded_relations
from pykudu_sql.executor.join_scans import relations_of
from pykudu_sql.executor.scans import StreamedScan, rows_at_hand
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.decimal_values import comparable
from pykudu_sql.planner.plan import KeyLookup, Query
from pykudu_sql.planner.value import ParameterValues, bind_key, parameter_value
from pykudu_sql.planner.zoned_text import in_utc
from pykudu_sql.result import Outcome, Row, RowResult, TableResult, header
from pykudu_sql.settings import EMBEDDED
from pykudu_sql.storage.common.cells import from_cell
from pykudu_sql.storage.common.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import Error, InterfaceError, ValueOutOfRangeError
from pykudu_sql.storage.transaction import Transaction

_SCALARS = frozenset(
    {NoneType, bool, int, float, str, bytes, Decimal}
    | {dt.date, dt.datetime, dt.time, dt.timedelta, UUID}
)
_HUGE = 1 << 127
_BEYOND_DOUBLES = 10**308
NOTHING_GIVEN: Mapping[str, Relation] = MappingProxyType({})
_BIGINT = DataType(Kind.INT64)
# Kinds whose cells are their Python values.
_AS_STORED = frozenset(Kind) - {Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DECIMAL}


def select(state: SessionState, query: Query, parameters: ParameterValues) -> Outcome:
    """Run a query."""
    transaction = state.transactions.reading()
    if query.summary:
        row = _summarize(state, query, transaction)
        if row is not None:
            return row
    if state.settings.engine != EMBEDDED:
        found = answer(state, query, parameters, transaction)
        return _held(found.table, query, found.types)
    return _computed_rows(state, query, parameters, transaction)


def _held(table: pa.Table, query: Query, types: Sequence[str]) -> Outcome:
    return Outcome(TableResult(table.rename_columns(list(query.names)), types), table.num_rows)


def _computed_rows(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> Outcome:
    """The rows that the embedded engine makes; if they are many, while they are fetched.

    Those in memory when a result turns out to be large are its first ones. All are held where it
    must be known how many there are, and where a later statement of the transaction could change
    what is still to be read.
    """
    relations = relations_of(state, query, parameters, transaction)
    scanned = rows_at_hand(relations)
    most: float = state.settings.result_memory_bytes
    if query.is_cut_short(scanned, 0) or _reads_own_writes(relations):
        most = inf
    state.checkpoint()
    with _failures_of(relations):
        stream = state.engine.stream(*_asked(query, relations, parameters), most)
    if not stream.is_all:
        from pykudu_sql.stream_result import StreamResult

        may_go_on = state.cancellation.reading()
        read = partial(_next, stream, relations, may_go_on, state.own_errors)
        told = replace(stream, read=read)
        return Outcome(StreamResult(told, query.names, state.running))
    table = pa.Table.from_batches(stream.batches, stream.schema)
    if query.is_cut_short(scanned, table.num_rows):
        return _computed_rows(state, query.unlimited(), parameters, transaction)
    return _held(table, query, stream.types)


def _reads_own_writes(relations: Mapping[str, Relation]) -> bool:
    streamed = (r for r in relations.values() if isinstance(r, StreamedScan))
    return any(relation.transaction.has_writes for relation in streamed)


def _next(
    stream: EngineStream,
    relations: Mapping[str, Relation],
    may_go_on: Callable[[], None],
    own_errors: OwnErrors,
) -> pa.RecordBatch | None:
    may_go_on()
    for relation in relations.values():
        if isinstance(relation, StreamedScan):
            relation.serve_running()
    with own_errors, _failures_of(relations):
        return stream.read()


def _summarize(state: SessionState, query: Query, transaction: Transaction) -> Outcome | None:
    """The one row of a query about whole tables, None when only reading the rows tells it."""
    (scan,) = query.scans
    if scan.bound is not None:
        state.store.settle(scan.bound)
    facts = transaction.summarize(scan.table, query.summary, scan.bound)
    if facts is None:
        return None
    by_id = scan.table.schema.by_id
    types = [
        _BIGINT if wanted.column_id is None else _computed(by_id[wanted.column_id].type)
        for wanted in query.summary
    ]
    row = tuple(
        None if fact is None else from_cell(fact, data_type)
        for fact, data_type in zip(facts, types, strict=True)
    )
    columns = header(*zip(query.names, types, strict=True))
    return Outcome(RowResult(columns, (row,)), 1)


def _computed(column_type: DataType) -> DataType:
    """The type of what an engine computes from a column: lengths of text are forgotten."""
    return DataType(Kind.STRING) if column_type.is_text else column_type


def answer(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> EngineResult:
    """The rows of a query as its transaction sees them, by the engine that the session chose.

    Raises:
        OperationalError: the session wants Spark, and it cannot be started.
        Error: see `compute`.
    """
    if state.settings.engine != EMBEDDED:
        from pykudu_sql.executor.engine_choice import OnSpark
        from pykudu_sql.executor.spark_queries import choose_engine, run_on_spark

        chosen = choose_engine(state, query, parameters, transaction)
        if isinstance(chosen, OnSpark):
            return run_on_spark(state, chosen)
    return compute(state, query, parameters, transaction)


def compute(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    given: Mapping[str, Relation] = NOTHING_GIVEN,
) -> EngineResult:
    """The rows of a query as its transaction sees them, by the embedded engine.

    Args:
        state: of the session.
        query: to be computed.
        parameters: of the statement.
        transaction: what is read.
        given: relations that the query reads beside its scans.

    Raises:
        QueryCancelledError: the session was interrupted.
        InterfaceError: a parameter has no value.
        DataError, ProgrammingError: an expression failed.
    """
    relations = {**given, **relations_of(state, query, parameters, transaction)}
    return _compute(state, query, parameters, transaction, relations, given)


def _compute(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    relations: Mapping[str, Relation],
    given: Mapping[str, Relation] = NOTHING_GIVEN,
) -> EngineResult:
    state.checkpoint()
    found = run_engine(state, query, relations, parameters)
    if query.is_cut_short(rows_at_hand(relations), found.table.num_rows):
        return compute(state, query.unlimited(), parameters, transaction, given)
    return found


def run_engine(
    state: SessionState,
    query: Query,
    relations: Mapping[str, Relation],
    parameters: ParameterValues,
) -> EngineResult:
    """What the engine makes of the relations; raises as `compute` does."""
    asked = _asked(query, relations, parameters)
    with _failures_of(relations):
        return state.engine.execute(*asked)


def _asked(
    query: Query, relations: Mapping[str, Relation], parameters: ParameterValues
) -> tuple[str, Mapping[str, Relation], Sequence[Any]]:
    """What an engine is asked for a query: SQL, relations and values."""
    values = parameter_values(query, parameters)
    coded = None if query.coded is None else coded_relations(query.coded, relations)
    if query.coded is not None and coded is not None:
        return query.coded.sql, coded.relations, [*values, *coded.words]
    return query.sql, relations, values


@contextmanager
def _failures_of(relations: Mapping[str, Relation]) -> Iterator[None]:
    """What ended a scan is raised in place of what the engine makes of it."""
    try:
        yield
    except Error as error:
        for relation in relations.values():
            if isinstance(relation, StreamedScan) and relation.failure is not None:
                raise relation.failure from error
        raise


def parameter_values(query: Query, parameters: ParameterValues) -> list[Any]:
    """The values of a query's `$1`, `$2`, ...

    Raises:
        InterfaceError: one was not given, or is no value of SQL.
        UnicodeEncodeError: a text has half of a surrogate pair.
    """
    values = []
    for key, met in zip_longest(query.parameters, query.met):
        given = parameter_value(parameters, key)
        value = _scalar(given) if met is None else _compared(given, met)
        is_text = isinstance(value, str) and key in query.moments
        values.append(in_utc(value) if is_text else value)
    return values


def _compared(value: Any, met: DataType) -> Any:
    """A value for the engine to compare with a number; an integer beyond its own is a double."""
    if isinstance(value, np.generic):
        value = value.item()
    compared = comparable(value, met)
    if isinstance(compared, int) and not -_HUGE <= compared < _HUGE:
        return float(compared) if abs(compared) < _BEYOND_DOUBLES else inf if compared > 0 else -inf
    return _scalar(compared)


def _scalar(value: Any) -> Any:
    if isinstance(value, int) and not -_HUGE <= value < _HUGE:  # the engine would wrap some around
        raise ValueOutOfRangeError("an integer parameter does not fit into 128 bits")
    if isinstance(value, str) and not value.isascii():
        value.encode()  # A surrogate alone is no text; see `parameter_values`.
    if type(value) in _SCALARS:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, int | float | str | Decimal | dt.date):
        return value
    raise InterfaceError(
        f"a value of type {type(value).__name__} cannot be a parameter",
        hint="pass a number, text, bytes, Decimal, date, datetime or None; IN takes one ? a value",
        sqlstate="07006",
    )


class Lookup:
    """A prepared `KeyLookup`: one row by its key, in microseconds."""

    __slots__ = ("_column_ids", "_conversions", "_header", "_plan", "_state")

    def __init__(self, state: SessionState, plan: KeyLookup) -> None:
        """Work out beforehand what is the same for every key."""
        columns = [plan.table.schema.by_id[column_id] for _, column_id in plan.outputs]
        names = [name for name, _ in plan.outputs]
        types = [column.type for column in columns]
        self._state = state
        self._plan = plan
        self._column_ids = [column.id for column in columns]
        self._header = header(*zip(names, types, strict=True))
        self._conversions = _conversions(types)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Look up one key."""
        plan, state = self._plan, self._state
        transaction = state.transactions.reading()
        key = bind_key(plan.key, parameters)
        if plan.bound is not None:
            state.store.settle(plan.bound)
        cells = (
            None
            if key is None
            else transaction.lookup(plan.table, key, self._column_ids, plan.bound)
        )
        rows = () if cells is None else (self._row(cells),)
        return Outcome(RowResult(self._header, rows), len(rows))

    def _row(self, cells: tuple[Cell, ...]) -> Row:
        if not self._conversions:
            return cells
        values: list[Any] = list(cells)
        for index, data_type in self._conversions.items():
            values[index] = from_cell(values[index], data_type)
        return tuple(values)


def _conversions(types: Sequence[DataType]) -> Mapping[int, DataType]:
    """The types of the columns whose cells are not their Python values."""
    return {
        index: data_type
        for index, data_type in enumerate(types)
        if data_type.kind not in _AS_STORED
    }
