"""MERGE, ON CONFLICT DO UPDATE and RETURNING: the rows of one query as several row operations.

The query has seen the rows as they were before the statement, so the order of the operations does
not matter to it. Whatever can fail comes first: values are converted and checked, RETURNING is
computed, then rows are inserted, and only then are others updated and deleted. So a statement that
fails has changed nothing, also within an open transaction. Where row errors are collected, rows are
written first, and RETURNING is computed from those that were not refused.
"""

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.executor.reading.queries import compute
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.conflicts import proposed_or_changed
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.executor.writing.repeated_cells import repeated_cells
from pykudu_sql.executor.writing.writes import insert_operations, mode_of
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.change_plans import (
    ACTION,
    WRITTEN,
    Change,
    ChangeBranch,
    ChangeQuery,
    ConflictInsert,
    InsertReturning,
    Returning,
    source_column_name,
    written_name,
)
from pykudu_sql.results.result import Outcome
from pykudu_sql.results.table_result import TableResult
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_array, with_functions
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults, joined
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import combine, filled_numbers, plain
from pykudu_sql.storage.common.types.hybrid_time import StatementTime
from pykudu_sql.storage.errors import IntegrityError
from pykudu_sql.storage.ingest.row_batch import complete
from pykudu_sql.storage.ingest.validation import raise_first, validate
from pykudu_sql.storage.transaction.transaction import Transaction

_VERBS: Mapping[str, str] = {
    "INSERT": "Inserted",
    "UPSERT": "Upserted",
    "UPDATE": "Updated",
    "DELETE": "Deleted",
    "MERGE": "Merged",
}
_ACTIONS: Mapping[RowOpKind, str] = {
    RowOpKind.INSERT: "INSERT",
    RowOpKind.UPDATE: "UPDATE",
    RowOpKind.UPDATE_IGNORE: "UPDATE",
    RowOpKind.DELETE: "DELETE",
}
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Changed:
    """The result of one run of a statement."""

    results: RowResults
    returning_result: EngineResult | None


@dataclass(frozen=True, slots=True)
class _Share:
    """The rows that take one branch.

    Attributes:
        branch: the branch.
        indices: of the rows in the query's result, ascending.
        operations: what is done to them, values converted.
    """

    branch: ChangeBranch
    indices: Positions
    operations: RowOperations


def change(state: SessionState, plan: Change, parameters: ParameterValues) -> Outcome:
    """Run a statement once; its result is what RETURNING shows."""
    return change_many(state, plan, [parameters])


def change_many(
    state: SessionState, plan: Change, parameter_rows: Sequence[ParameterValues]
) -> Outcome:
    """Run a statement once for each set of parameters.

    Returns the outcome, with the rows that the last run shows. Raises IntegrityError: a row does
    not fit, or would be changed twice; DataError: a value does not fit its column.
    """
    state.row_errors = ()

    def action(transaction: Transaction) -> list[_Changed]:
        return [_run(state, plan, parameters, transaction) for parameters in parameter_rows]

    finished = state.transactions.write(action)
    results = joined([changed.results for changed in finished])
    state.row_errors = results.errors
    failures = f", {results.failed} row(s) failed" if results.failed else ""
    message = f"{_VERBS[_statement(plan)]} {results.applied} row(s){failures}"
    returning_result = finished[-1].returning_result if finished else None
    result = (
        None
        if returning_result is None
        else TableResult(returning_result.table, returning_result.types)
    )
    return Outcome(result, results.applied, message, results.errors)


def _statement(plan: Change) -> str:
    match plan:
        case ConflictInsert():
            return plan.change.statement
        case InsertReturning():
            return "INSERT"
    return plan.statement


def _run(
    state: SessionState, plan: Change, parameters: ParameterValues, transaction: Transaction
) -> _Changed:
    match plan:
        case ChangeQuery():
            waiting = [storable(compute(state, plan.query, parameters, transaction))]
            return _apply(state, plan, waiting, parameters, transaction)
        case ConflictInsert():
            waiting = [proposed_or_changed(state, plan, parameters, transaction)]
            return _apply(state, plan.change, waiting, parameters, transaction)
        case InsertReturning():
            return _insert(state, plan, parameters, transaction)


def _insert(
    state: SessionState,
    plan: InsertReturning,
    parameters: ParameterValues,
    transaction: Transaction,
) -> _Changed:
    table = plan.table
    operations = insert_operations(state, plan.rows, parameters, transaction)
    operations, mode = _new_rows(table, operations, transaction), mode_of(state)

    def show(finished: RowOperations) -> EngineResult:
        written = _written(table, plan.returning, RowOpKind.INSERT, finished, {})
        return _show(state, plan.returning, written, parameters, transaction)

    if mode is RowErrorMode.FAIL:
        returning_result = show(operations)
        return _Changed(transaction.write(table, operations, mode), returning_result)
    results = transaction.write(table, operations, mode)
    return _Changed(
        results, show(_subset(operations, _applied_positions(operations.length, results)))
    )


def _apply(
    state: SessionState,
    plan: ChangeQuery,
    waiting: list[pa.Table],
    parameters: ParameterValues,
    transaction: Transaction,
) -> _Changed:
    """Write the rows of a query.

    `waiting`: the rows alone, taken from there, so that nobody holds them once they are written.
    """
    rows = waiting.pop()
    shares = _shares(state, plan, rows, parameters, transaction)
    _check_once(plan, shares)
    if mode_of(state) is RowErrorMode.COLLECT:
        return _collect(state, plan, rows, shares, parameters, transaction)
    for share in shares:
        validate(complete(plan.table, share.operations), raise_first)
    returning, image, returning_result = plan.returning, None, None
    if returning is not None:
        image = _image(plan, shares, rows, transaction)
    del rows
    if returning is not None:
        returning_result = _show(state, returning, image, parameters, transaction)
        del image
    operations = deque(share.operations for share in shares)
    shares.clear()
    results: list[RowResults] = []
    while operations:
        results.append(transaction.write(plan.table, operations.popleft()))
    return _Changed(joined(results), returning_result)


def _collect(
    state: SessionState,
    plan: ChangeQuery,
    rows: pa.Table,
    shares: Sequence[_Share],
    parameters: ParameterValues,
    transaction: Transaction,
) -> _Changed:
    """Write the rows that fit; RETURNING shows these."""
    mode = RowErrorMode.COLLECT
    results = [transaction.write(plan.table, share.operations, mode) for share in shares]
    if plan.returning is None:
        return _Changed(joined(results), None)
    written = _image(plan, list(map(_applied_part, shares, results)), rows, transaction)
    returning_result = _show(state, plan.returning, written, parameters, transaction)
    return _Changed(joined(results), returning_result)


def _applied_positions(length: int, results: RowResults) -> Positions:
    """The positions of the rows of a batch that were not refused."""
    return np.setdiff1d(np.arange(length), results.refused, assume_unique=True)


def _subset(operations: RowOperations, indices: Positions) -> RowOperations:
    columns = {i: values.take(pa.array(indices)) for i, values in operations.columns.items()}
    return RowOperations(operations.kind, columns, len(indices))


def _applied_part(share: _Share, results: RowResults) -> _Share:
    finished = _applied_positions(len(share.indices), results)
    return _Share(share.branch, share.indices[finished], _subset(share.operations, finished))


def _shares(
    state: SessionState,
    plan: ChangeQuery,
    rows: pa.Table,
    parameters: ParameterValues,
    transaction: Transaction,
) -> list[_Share]:
    """The rows of each branch that has any: all inserts as one batch first, deletes last."""
    # All NULL is of no type.
    actions = filled_numbers(combine(rows.column(0).cast(pa.int64())), -1)
    shares: list[_Share] = []
    inserted: list[_Share] = []
    for number, branch in enumerate(plan.branches):
        indices = np.flatnonzero(actions == number)
        if not len(indices):
            continue
        picked = _picked(rows, [position for _, position in branch.columns], indices)
        ids = (column_id for column_id, _ in branch.columns)
        fitting = transaction.coerce(plan.table, dict(zip(ids, picked, strict=True)))
        del picked
        repeated = repeated_cells(plan.table.schema, branch.constants, parameters)
        fitting.update(repeated.whole(len(indices), state.store.budget))
        operations = RowOperations(branch.kind, fitting, len(indices))
        one_kind = inserted if branch.kind is RowOpKind.INSERT else shares
        one_kind.append(_Share(branch, indices, operations))
    shares.sort(key=lambda share: share.branch.kind is RowOpKind.DELETE)
    if inserted:
        shares.insert(0, _one_insert(plan.table, inserted, transaction))
    return shares


def _one_insert(table: TableInfo, shares: Sequence[_Share], transaction: Transaction) -> _Share:
    """The rows of several inserting branches as one batch, so that they fit or fail together."""
    first = shares[0]
    if len(shares) == 1:
        operations = _new_rows(table, first.operations, transaction)
        return _Share(first.branch, first.indices, operations)
    ids = {i for share in shares for i in share.operations.columns}
    columns = {
        i: pa.concat_arrays(
            [plain(_filled(table, share.operations, i, transaction.time)) for share in shares]
        )
        for i in ids
    }
    indices = np.concatenate([share.indices for share in shares])
    operations = RowOperations(RowOpKind.INSERT, columns, len(indices))
    operations = _new_rows(table, operations, transaction)
    return _Share(first.branch, indices, operations)


def _new_rows(
    table: TableInfo, operations: RowOperations, transaction: Transaction
) -> RowOperations:
    """Rows to be inserted with their numbers, and what functions of defaults give them."""
    columns, length = operations.columns, operations.length
    columns = with_functions(table.schema, columns, transaction.time, length)
    return transaction.number(table, RowOperations(operations.kind, columns, length))


def _filled(
    table: TableInfo, operations: RowOperations, column_id: int, time: StatementTime
) -> pa.Array:
    """A column of rows to be inserted, at its default where they do not set it."""
    values = operations.columns.get(column_id)
    if values is not None:
        return values
    column = table.schema.by_id[column_id]
    return default_array(column, time, operations.length)


def _check_once(plan: ChangeQuery, shares: Sequence[_Share]) -> None:
    """Check that no row is updated or deleted twice. Raises IntegrityError: one would be."""
    schema = plan.table.schema
    keys = [
        pa.Table.from_arrays(
            [plain(share.operations.columns[i]) for i in schema.key_ids],
            names=[column.name for column in schema.key_columns],
        )
        for share in shares
        if share.branch.kind is not RowOpKind.INSERT
    ]
    if not keys:
        return
    changed = pa.concat_tables(keys)
    names = changed.column_names
    counted = changed.group_by(names, use_threads=False).aggregate([([], "count_all")])
    if counted.num_rows < changed.num_rows:
        twice = counted.filter(pc.greater(counted.column("count_all"), 1)).slice(0, 1)
        key = ", ".join(str(twice.column(name)[0].as_py()) for name in names)
        raise IntegrityError(
            f"{plan.statement} would change row ({', '.join(names)}) = ({key}) of table "
            f"'{plan.table.name}' more than once",
            hint="see that at most one source row matches each row of the table",
            sqlstate="21000",
        )


def _image(
    plan: ChangeQuery, shares: Sequence[_Share], rows: pa.Table, transaction: Transaction
) -> pa.Table:
    """The relation `WRITTEN`, in the order of the query's rows."""
    returning = plan.returning
    assert returning is not None
    parts: list[pa.Table] = []
    for share in shares:
        stored = () if share.branch.kind is RowOpKind.INSERT else returning.before
        left = [each for each in stored if each[0] not in share.operations.columns]
        places = [place for _, place in left]
        picked = _picked(rows, [*places, *returning.source_columns], share.indices)
        ids = (column_id for column_id, _ in left)
        before = transaction.coerce(plan.table, dict(zip(ids, picked, strict=False)))
        part = _written(plan.table, returning, share.branch.kind, share.operations, before)
        for index, values in enumerate(picked[len(places) :]):
            part = part.append_column(source_column_name(index), values)
        parts.append(part)
    if not parts:
        return _nothing_written(plan, rows)
    indices = np.concatenate([share.indices for share in shares])
    image = pa.concat_tables(parts)
    return image if _ascend(indices) else image.take(pa.array(np.argsort(indices, kind="stable")))


def _picked(rows: pa.Table, places: Sequence[int], indices: Positions) -> Sequence[pa.ChunkedArray]:
    """Some columns of distinct rows; without a copy where these are all, in their order."""
    if len(indices) == rows.num_rows and _ascend(indices):
        return [rows.column(place) for place in places]
    return [rows.column(place).take(pa.array(indices)) for place in places]


def _ascend(indices: Positions) -> bool:
    return bool((indices[1:] > indices[:-1]).all())


def _nothing_written(plan: ChangeQuery, rows: pa.Table) -> pa.Table:
    returning = plan.returning
    assert returning is not None
    none = rows.slice(0, 0)
    columns = {i: pa.array([], plan.table.schema.by_id[i].type.arrow) for i in returning.column_ids}
    empty = _written(
        plan.table, returning, RowOpKind.DELETE, RowOperations(RowOpKind.DELETE, columns, 0), {}
    )
    for index, position in enumerate(returning.source_columns):
        empty = empty.append_column(source_column_name(index), none.column(position))
    return empty


def _written(
    table: TableInfo,
    returning: Returning,
    kind: RowOpKind,
    operations: RowOperations,
    before: Mapping[int, pa.Array],
) -> pa.Table:
    """The rows as written: the values set, else those stored, else the defaults.

    `before`: the stored values of columns that are not set; none of rows that are new.
    """
    columns: dict[str, pa.Array] = {}
    for column_id in returning.column_ids:
        stored = before.get(column_id)
        # Functions of defaults have filled their columns by now.
        values = (
            _filled(table, operations, column_id, StatementTime()) if stored is None else stored
        )
        columns[written_name(column_id)] = plain(values)
    columns[ACTION] = pa.array([_ACTIONS[kind]] * operations.length, pa.string())
    return pa.table(columns)


def _show(
    state: SessionState,
    returning: Returning,
    written: pa.Table,
    parameters: ParameterValues,
    transaction: Transaction,
) -> EngineResult:
    """The result of RETURNING over the rows."""
    returned = compute(state, returning.query, parameters, transaction, {WRITTEN: written})
    return EngineResult(returned.table.rename_columns(list(returning.query.names)), returned.types)
