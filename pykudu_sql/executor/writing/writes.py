"""INSERT, UPSERT, UPDATE and DELETE: values or a query's rows as row operations.

Every statement is all or nothing, and so is every `executemany`: its rows become one batch. Under
`row_errors = 'collect'` each row succeeds or fails by itself, and failures are reported.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain

import pyarrow as pa

from pykudu_sql.executor.reading.queries import answer, compute
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import (
    MOST_IN_MEMORY,
    ArrowColumns,
    ChunkedRows,
    change_rows,
    query_rows,
    rows_at_once,
    write_columns,
    write_rows,
)
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.executor.writing.inserted_values import (
    insert_cells,
    inserted_rows,
    value_column,
)
from pykudu_sql.executor.writing.parameter_batches import Batch, ConvertedRows, batch_action
from pykudu_sql.executor.writing.repeated_cells import Fill, RepeatedCells, repeated_cells
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.value import (
    ParameterValues,
    bind_key,
    bind_value,
)
from pykudu_sql.planner.plan.plan import (
    DeleteQuery,
    InsertQuery,
    InsertValues,
    KeyDelete,
    KeyUpdate,
    UpdateQuery,
    Write,
)
from pykudu_sql.results.result import Outcome, Result
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_array
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults, joined
from pykudu_sql.storage.common.types.arrays import (
    cells_to_array,
    combine,
    integers_of,
)
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.validation import can_hold
from pykudu_sql.storage.transaction.transaction import Transaction

_VERBS = {
    RowOpKind.INSERT: "Inserted",
    RowOpKind.INSERT_IGNORE: "Inserted",
    RowOpKind.UPSERT: "Upserted",
    RowOpKind.UPSERT_IGNORE: "Upserted",
    RowOpKind.UPDATE: "Updated",
    RowOpKind.UPDATE_IGNORE: "Updated",
    RowOpKind.DELETE: "Deleted",
    RowOpKind.DELETE_IGNORE: "Deleted",
}

# Changes of rows in memory stay there and in the log: where they are many, those rows get files.
_CHANGING = (RowOpKind.UPSERT, RowOpKind.UPSERT_IGNORE)

Action = Callable[[Transaction], RowResults]
Prepared = Callable[[ParameterValues], Outcome]


def prepare_write(state: SessionState, plan: Write) -> Prepared:
    """The function that runs a writing plan with given parameters."""
    if mode_of(state) is RowErrorMode.COLLECT:
        return lambda parameters: _write(state, plan, [parameters])
    match plan:
        case InsertValues(rows=1):
            return _by_row(state, plan.table, plan.kind, insert_cells(plan, state.time))
        case KeyUpdate():
            return _by_row(state, plan.table, RowOpKind.UPDATE_IGNORE, _update_cells(plan))
        case KeyDelete():
            return _by_row(state, plan.table, RowOpKind.DELETE_IGNORE, _key_cells(plan))
        case _:
            return lambda parameters: _write(state, plan, [parameters])


def mode_of(state: SessionState) -> RowErrorMode:
    """The row error mode of a session, by its setting `row_errors`."""
    return RowErrorMode(state.settings.row_errors)


def write_many(
    state: SessionState, plan: Write, parameter_rows: Sequence[ParameterValues]
) -> Outcome:
    """Run a plan once for each set of parameters, all or nothing.

    Statements over values and keys become one batch. Those with a query run one after the other,
    and so do those over keys if only the engine can compare one of these.
    """
    try:
        return _write(state, plan, parameter_rows)
    except EngineRequiredError:
        assert isinstance(plan, KeyUpdate | KeyDelete)
        general = plan.general()
        assert isinstance(general, UpdateQuery | DeleteQuery)
        return _write(state, general, parameter_rows)


def _write(state: SessionState, plan: Write, parameter_rows: Sequence[ParameterValues]) -> Outcome:
    state.row_errors = ()
    kind, action = _action(state, plan, parameter_rows)
    return written(state, kind, state.transactions.write(action))


def _action(
    state: SessionState, plan: Write, parameter_rows: Sequence[ParameterValues]
) -> tuple[RowOpKind, Action]:
    mode = mode_of(state)
    match plan:
        case InsertValues():
            texts = chain.from_iterable(plan.columns)
            convert = partial(inserted_rows, plan, state.time)
            batch = Batch(plan.table, plan.kind, texts, convert, plan.rows)
            return plan.kind, batch_action(state, mode, batch, parameter_rows)
        case KeyUpdate():
            assigned = [value for _, value in plan.assignments]
            kind = RowOpKind.UPDATE_IGNORE
            batch = Batch(plan.table, kind, assigned, partial(_updated, plan), 1)
            return RowOpKind.UPDATE, batch_action(state, mode, batch, parameter_rows)
        case KeyDelete():
            kind = RowOpKind.DELETE_IGNORE
            batch = Batch(plan.table, kind, plan.key, partial(_deleted, plan), 1)
            return RowOpKind.DELETE, batch_action(state, mode, batch, parameter_rows)
        case InsertQuery():
            return plan.kind, _from_query(state, plan, plan.kind, parameter_rows)
        case UpdateQuery():
            kind = RowOpKind.UPDATE_IGNORE
            return kind, _from_query(state, plan, kind, parameter_rows)
        case DeleteQuery():
            return RowOpKind.DELETE, _from_query(state, plan, RowOpKind.DELETE, parameter_rows)


def written(state: SessionState, kind: RowOpKind, results: RowResults) -> Outcome:
    """The outcome of a writing statement, its row errors kept for SHOW ROW ERRORS."""
    state.row_errors = results.errors
    failures = f", {results.failed} row(s) failed" if results.failed else ""
    message = f"{_VERBS[kind]} {results.applied} row(s){failures}"
    return Outcome(None, results.applied, message, results.errors)


def row_outcome(kind: RowOpKind, changed: int, result: Result | None = None) -> Outcome:
    """The outcome of a statement about single rows. `result`: of RETURNING."""
    return Outcome(result, changed, f"{_VERBS[kind]} {changed} row(s)")


def _by_row(
    state: SessionState,
    table: TableInfo,
    kind: RowOpKind,
    cells_of: Callable[[ParameterValues], Mapping[int, Cell] | None],
) -> Prepared:
    """A statement about one row; `cells_of` gives None when no row can match."""
    transactions, store, time = state.transactions, state.store, state.time

    def run(parameters: ParameterValues) -> Outcome:
        state.row_errors = ()
        cells = cells_of(parameters)
        if cells is None:
            return row_outcome(kind, 0)
        if transactions.stands_alone:
            transactions.wait_for_retries()
            return row_outcome(kind, store.write_row(table, kind, cells, time))
        return row_outcome(kind, transactions.write(lambda t: t.write_row(table, kind, cells)))

    return run


def _key(plan: KeyUpdate | KeyDelete, parameters: ParameterValues) -> tuple[Cell, ...] | None:
    """The key that a statement names, or None when no row of its table can have it."""
    key = bind_key(plan.key, parameters)
    return key if key is not None and can_hold(plan.table, key) else None


def _update_cells(plan: KeyUpdate) -> Callable[[ParameterValues], Mapping[int, Cell] | None]:
    key_ids = plan.table.schema.key_ids

    def cells_of(parameters: ParameterValues) -> Mapping[int, Cell] | None:
        changed = {i: bind_value(value, parameters) for i, value in plan.assignments}
        key = _key(plan, parameters)
        return None if key is None else {**dict(zip(key_ids, key, strict=True)), **changed}

    return cells_of


def _key_cells(plan: KeyDelete) -> Callable[[ParameterValues], Mapping[int, Cell] | None]:
    key_ids = plan.table.schema.key_ids

    def cells_of(parameters: ParameterValues) -> Mapping[int, Cell] | None:
        key = _key(plan, parameters)
        return None if key is None else dict(zip(key_ids, key, strict=True))

    return cells_of


def _updated(
    plan: KeyUpdate, parameter_rows: Sequence[ParameterValues], first: int = 0
) -> ConvertedRows:
    places, columns = _keys(plan, parameter_rows)
    accepted = [parameter_rows[place] for place in places]
    by_id = plan.table.schema.by_id
    for column_id, value in plan.assignments:
        columns[column_id] = value_column(by_id[column_id], (value,), accepted, first)
    operations = RowOperations(RowOpKind.UPDATE_IGNORE, columns, len(places))
    return ConvertedRows(operations, places)


def _deleted(
    plan: KeyDelete, parameter_rows: Sequence[ParameterValues], first: int = 0
) -> ConvertedRows:
    places, columns = _keys(plan, parameter_rows)
    operations = RowOperations(RowOpKind.DELETE_IGNORE, columns, len(places))
    return ConvertedRows(operations, places)


def _keys(
    plan: KeyUpdate | KeyDelete, parameter_rows: Sequence[ParameterValues]
) -> tuple[Sequence[int], dict[int, pa.Array]]:
    """The places of sets of parameters whose key a row can have, and these keys by column."""
    bound = [_key(plan, row) for row in parameter_rows]
    accepted = [(place, key) for place, key in enumerate(bound) if key is not None]
    columns = {
        column.id: cells_to_array([key[index] for _, key in accepted], column.type)
        for index, column in enumerate(plan.table.schema.key_columns)
    }
    return [place for place, _ in accepted], columns


def insert_operations(
    state: SessionState,
    plan: InsertValues | InsertQuery,
    parameters: ParameterValues,
    transaction: Transaction,
) -> RowOperations:
    """The rows of an INSERT, converted to the types of their columns.

    Raises DataError: a value does not fit its column.
    """
    if isinstance(plan, InsertValues):
        return inserted_rows(plan, state.time, [parameters]).operations
    rows = storable(answer(state, plan.query, parameters, transaction))
    repeated = repeated_cells(plan.table.schema, plan.constants, parameters)
    fill = partial(repeated.whole, budget=state.store.budget)
    columns = transaction.coerce(plan.table, _queried(state.time, plan, rows, fill))
    return RowOperations(plan.kind, columns, rows.num_rows)


def _queried(
    time: StatementTime,
    plan: InsertQuery | UpdateQuery | DeleteQuery,
    rows: pa.Table,
    fill: Fill,
) -> dict[int, pa.Array | pa.ChunkedArray]:
    """The columns of a query by the ids of those that they fill; `fill`: what all rows get."""
    table = plan.table
    rows_by = () if isinstance(plan, InsertQuery) else table.schema.key_ids
    ids = (*rows_by, *(() if isinstance(plan, DeleteQuery) else plan.column_ids))
    columns: dict[int, pa.Array | pa.ChunkedArray] = dict(zip(ids, rows.columns, strict=True))
    if isinstance(plan, InsertQuery):
        for column_id in plan.reset_ids:
            column = table.schema.by_id[column_id]
            columns[column_id] = default_array(column, time, rows.num_rows)
    return {**columns, **fill(rows.num_rows)}


def _from_query(
    state: SessionState,
    plan: InsertQuery | UpdateQuery | DeleteQuery,
    kind: RowOpKind,
    parameter_rows: Sequence[ParameterValues],
) -> Action:
    """The rows of a query as operations."""
    table, mode = plan.table, mode_of(state)
    # Rows that are collected are written before the last one is read, which the query must not see.
    # So it is with others than INSERT, if the transaction has stores already that it reads through.
    is_load = kind is RowOpKind.INSERT and mode is RowErrorMode.FAIL

    def run_once(transaction: Transaction, parameters: ParameterValues) -> RowResults:
        constants = () if isinstance(plan, DeleteQuery) else plan.constants
        repeated = repeated_cells(table.schema, constants, parameters)
        more_bytes = repeated.row_bytes
        if isinstance(plan, InsertQuery):
            in_chunks = is_load or (mode is RowErrorMode.FAIL and not transaction.has_writes)
            rows_of = query_rows if in_chunks else rows_at_once
            stream = rows_of(state, plan.query, parameters, transaction, more_bytes)
            if not stream.is_all and kind in _CHANGING:
                state.store.flush_tables([table], state.check_cancelled)
            with closing(stream), state.followed():
                fill = repeated.coded if is_load and not stream.is_all else repeated.columns
                columns_of = partial(_checked_columns, state, plan, fill)
                check = state.check_cancelled
                return write_rows(mode, transaction, table, kind, stream, columns_of, check)
        if plan.by_address:
            read = partial(change_rows, state, plan.query, parameters, transaction, more_bytes)
            with closing(read()) as stream:
                if stream.is_all or transaction.addressed_in_memory <= MOST_IN_MEMORY:
                    return _write_at(state, transaction, plan, kind, stream, repeated)
            state.store.flush_tables([table], state.check_cancelled)
            with closing(read()) as stream:
                return _write_at(state, transaction, plan, kind, stream, repeated)
        rows = storable(compute(state, plan.query, parameters, transaction))
        columns = _checked_columns(state, plan, repeated.columns, rows)
        return write_columns(mode, transaction, table, kind, columns, state.check_cancelled)

    return lambda transaction: joined([run_once(transaction, row) for row in parameter_rows])


def _checked_columns(
    state: SessionState,
    plan: InsertQuery | UpdateQuery | DeleteQuery,
    fill: Fill,
    rows: pa.Table,
) -> ArrowColumns:
    """The columns of rows of a query, unless the statement is cancelled."""
    state.check_cancelled()
    return _queried(state.time, plan, rows, fill)


def _write_at(
    state: SessionState,
    transaction: Transaction,
    plan: UpdateQuery | DeleteQuery,
    kind: RowOpKind,
    rows: ChunkedRows,
    repeated: RepeatedCells,
) -> RowResults:
    """Write to the rows whose addresses a query gives; `repeated`: what all of them get."""
    ids = () if isinstance(plan, DeleteQuery) else plan.column_ids

    def operations_of(chunk: pa.Table) -> RowOperations:
        state.check_cancelled()
        addresses, *values = chunk.columns
        columns = transaction.coerce(plan.table, dict(zip(ids, values, strict=True)))
        columns.update(repeated.columns(chunk.num_rows))
        return RowOperations(kind, columns, chunk.num_rows, integers_of(combine(addresses)))

    operations = map(operations_of, rows.chunks())
    if rows.is_all:
        return transaction.write(plan.table, next(operations))
    with state.followed():
        return RowResults(transaction.change(plan.table, operations), 0, 0, ())
