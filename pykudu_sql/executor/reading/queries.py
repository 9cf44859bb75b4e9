"""SELECT: what the engine makes of scans, and the rows that need no engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf

import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineResult, EngineStream, Relation
from pykudu_sql.error_boundary import ErrorBoundary
from pykudu_sql.executor.reading.early_subqueries import read_for
from pykudu_sql.executor.reading.engine_runs import engine_request, failures_of, run_engine
from pykudu_sql.executor.reading.groups.sorted_groups import GroupStream
from pykudu_sql.executor.reading.history_rows import HistoryStream
from pykudu_sql.executor.reading.scanned_rows import (
    counted_rows,
    deciding_scan,
    first_rows,
    result_types,
    scanned_rows,
    selected_rows,
)
from pykudu_sql.executor.reading.scans import StreamedScan, rows_at_hand
from pykudu_sql.executor.reading.summaries import BIGINT, summarize
from pykudu_sql.executor.reading.top_rows import narrowed_queries
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.results.result import Outcome, Row, RowResult, header
from pykudu_sql.results.table_result import TableResult
from pykudu_sql.settings import EMBEDDED
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.transaction.transaction import Transaction

NO_RELATIONS: Mapping[str, Relation] = {}


def select(state: SessionState, query: Query, parameters: ParameterValues) -> Outcome:
    """Run a query."""
    transaction = state.transactions.reading()
    if query.summary:
        summary = summarize(query, transaction)
        if summary is not None:
            return _one_row(query, *summary)
    if state.settings.engine != EMBEDDED:
        result = answer(state, query, parameters, transaction)
        return _materialized(result.table, query, result.types)
    count = counted_rows(state, query, parameters, transaction)
    if count is not None:
        return _one_row(query, [BIGINT] * query.counted, (count,) * query.counted)
    outcome = _read_rows(state, query, parameters, transaction)
    if outcome is None:
        return _computed_rows(state, query, parameters, transaction)
    return outcome


def _read_rows(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> Outcome | None:
    """The rows that one scan gives alone, or over the first rows of a table; None for others.

    It returns before the engine computes the others, so that the scan's rowsets are let go of.
    """
    table_scan = deciding_scan(state, query, parameters, transaction)
    rows = scanned_rows(state, query, table_scan)
    if rows is None:
        for narrowed in narrowed_queries(state, query, parameters, transaction):
            outcome = _first_rows(state, narrowed, parameters, transaction)
            if query.has_first_rows(outcome.rowcount):
                return outcome
        rows = selected_rows(state, query, table_scan)
    return None if rows is None else _as_scanned(query, rows)


def _first_rows(
    state: SessionState, narrowed: Query, parameters: ParameterValues, transaction: Transaction
) -> Outcome:
    """The rows of a narrowed query, which are few."""
    table_scan = deciding_scan(state, narrowed, parameters, transaction)
    rows = first_rows(state, narrowed, table_scan)
    if rows is not None:
        return _as_scanned(narrowed, rows)
    result = compute(state, narrowed, parameters, transaction)
    return _materialized(result.table, narrowed, result.types)


def _as_scanned(query: Query, rows: pa.Table) -> Outcome:
    """A result that the query's scan alone gave."""
    assert query.scanned is not None
    return Outcome(TableResult(rows, result_types(query, query.scanned)), rows.num_rows)


def _materialized(table: pa.Table, query: Query, types: Sequence[str]) -> Outcome:
    return Outcome(TableResult(table.rename_columns(list(query.names)), types), table.num_rows)


def _computed_rows(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> Outcome:
    """The rows that the embedded engine makes; if they are many, while they are fetched.

    Those in memory when a result turns out to be large are its first ones. All are held where it
    must be known how many there are, and where a later statement of the transaction could change
    what is still to be read.
    """
    query, relations = read_for(state, query, parameters, transaction)
    most = inf if _reads_own_writes(relations) else state.settings.result_memory_bytes
    stream = _engine_stream(state, query, relations, parameters, most)
    if not stream.is_all:
        from pykudu_sql.results.stream_result import StreamResult

        return Outcome(StreamResult(stream, query.names, state.fetching))
    table = pa.Table.from_batches(stream.batches, stream.schema)
    if query.is_cut_short(rows_at_hand(relations), table.num_rows):
        return _computed_rows(state, query.unlimited(), parameters, transaction)
    return _materialized(table, query, stream.types)


def query_stream(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    most: float,
) -> EngineStream:
    """The rows of a query by the embedded engine, while they are computed.

    The transaction writes nothing that the query may read until the last row is there. `most`:
    bytes of the first batches. Raises Error: see `compute`.
    """
    query, relations = read_for(state, query, parameters, transaction)
    stream = _engine_stream(state, query, relations, parameters, most)
    rows = sum(batch.num_rows for batch in stream.batches)
    if stream.is_all and query.is_cut_short(rows_at_hand(relations), rows):
        return query_stream(state, query.unlimited(), parameters, transaction, most)
    return stream


def _engine_stream(
    state: SessionState,
    query: Query,
    relations: Mapping[str, Relation],
    parameters: ParameterValues,
    most: float,
) -> EngineStream:
    """The engine's stream over relations, all of it where it may turn out to be cut short."""
    if query.is_cut_short(rows_at_hand(relations), 0):
        most = inf
    state.check_cancelled()
    counter = state.counter("computing")
    with failures_of(relations):
        request = engine_request(state, query, relations, parameters)
        stream = state.engine.stream(*request, most, counter)
    may_go_on = state.cancellation.fetch_check()
    return replace(stream, read=partial(_next, stream, relations, may_go_on, state.error_boundary))


def _reads_own_writes(relations: Mapping[str, Relation]) -> bool:
    streamed = (r for r in relations.values() if isinstance(r, StreamedScan | GroupStream))
    return any(relation.transaction.has_writes for relation in streamed)


def _next(
    stream: EngineStream,
    relations: Mapping[str, Relation],
    may_go_on: Callable[[], None],
    error_boundary: ErrorBoundary,
) -> pa.RecordBatch | None:
    may_go_on()
    for relation in relations.values():
        if isinstance(relation, StreamedScan | GroupStream | HistoryStream):
            relation.check.serve_running()
    with error_boundary, failures_of(relations):
        return stream.read()


def _one_row(query: Query, types: Sequence[DataType], row: Row) -> Outcome:
    """A result of one row. `types`: of its columns."""
    return Outcome(RowResult(header(*zip(query.names, types, strict=True)), (row,)), 1)


def answer(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> EngineResult:
    """The rows of a query as its transaction sees them, by the engine that the session uses.

    Raises OperationalError: the session wants Spark, and it cannot be started; Error: see
    `compute`.
    """
    if state.settings.engine != EMBEDDED:
        from pykudu_sql.executor.reading.engine_choice import OnSpark
        from pykudu_sql.executor.reading.spark_queries import choose_engine, run_on_spark

        choice = choose_engine(state, query, parameters, transaction)
        if isinstance(choice, OnSpark):
            return run_on_spark(state, choice)
    return compute(state, query, parameters, transaction)


def compute(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    extra: Mapping[str, Relation] = NO_RELATIONS,
) -> EngineResult:
    """The rows of a query as its transaction sees them, by the embedded engine.

    `transaction`: what is read; `extra`: relations that the query reads beside its scans. Raises
    QueryCancelledError: the session was interrupted; InterfaceError: a parameter has no value;
    DataError, ProgrammingError: an expression failed.
    """
    query, scanned = read_for(state, query, parameters, transaction)
    relations = {**extra, **scanned}
    return _compute(state, query, parameters, transaction, relations, extra)


def _compute(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    relations: Mapping[str, Relation],
    extra: Mapping[str, Relation] = NO_RELATIONS,
) -> EngineResult:
    state.check_cancelled()
    result = run_engine(state, query, relations, parameters)
    if query.is_cut_short(rows_at_hand(relations), result.table.num_rows):
        return compute(state, query.unlimited(), parameters, transaction, extra)
    return result
