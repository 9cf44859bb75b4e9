"""MERGE, ON CONFLICT DO UPDATE and RETURNING: the rows of one query as several row operations.

The query has seen the rows as they were before the statement, so the order of the operations does
not matter to it. Whatever can fail comes first: values are converted and checked, RETURNING is
computed, then rows are inserted, and only then are others updated and deleted. So a statement that
fails has changed nothing, also within an open transaction. Where row errors are collected, rows are
written first, and RETURNING is computed from those that were not refused.
"""

from collections import deque
from collections.abc import Mapping, Sequence

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.executor.reading.queries import compute
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.branch_rows import (
    BranchRows,
    accepted_rows,
    branch_rows,
    check_changed_once,
    new_rows,
)
from pykudu_sql.executor.writing.conflicts import proposed_or_changed
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.executor.writing.writes import insert_operations, mode_of
from pykudu_sql.executor.writing.written_rows import (
    compute_returning,
    written_columns,
    written_relation,
)
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.change_plans import (
    Change,
    ChangeQuery,
    ConflictInsert,
    InsertReturning,
)
from pykudu_sql.results.result import Outcome
from pykudu_sql.results.table_result import TableResult
from pykudu_sql.storage.common.cancellation import cancellable
from pykudu_sql.storage.common.rows.row_operation import RowOperations, RowOpKind
from pykudu_sql.storage.common.rows.row_result import RowErrorMode, RowResults, joined
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


@dataclass(frozen=True, slots=True)
class _Changed:
    """The result of one run of a statement."""

    results: RowResults
    returning_result: EngineResult | None


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
    operations, mode = new_rows(table, operations, transaction), mode_of(state)

    def show(finished: RowOperations) -> EngineResult:
        written = written_columns(table, plan.returning, RowOpKind.INSERT, finished, {})
        return compute_returning(state, plan.returning, written, parameters, transaction)

    if mode is RowErrorMode.FAIL:
        returning_result = show(operations)
        return _Changed(transaction.write(table, operations, mode), returning_result)
    results = transaction.write(table, operations, mode)
    return _Changed(results, show(accepted_rows(operations, results)))


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
    shares = branch_rows(state, plan, rows, parameters, transaction)
    state.check_cancelled()
    check_changed_once(plan, shares)
    if mode_of(state) is RowErrorMode.COLLECT:
        return _collect(state, plan, rows, shares, parameters, transaction)
    for share in cancellable(shares, state.check_cancelled):
        validate(complete(plan.table, share.operations), raise_first)
    returning, image, returning_result = plan.returning, None, None
    if returning is not None:
        image = written_relation(plan, shares, rows, transaction)
    del rows
    if returning is not None:
        returning_result = compute_returning(state, returning, image, parameters, transaction)
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
    shares: Sequence[BranchRows],
    parameters: ParameterValues,
    transaction: Transaction,
) -> _Changed:
    """Write the rows that fit; RETURNING shows these."""
    mode = RowErrorMode.COLLECT
    results = [transaction.write(plan.table, share.operations, mode) for share in shares]
    if plan.returning is None:
        return _Changed(joined(results), None)
    accepted = list(map(BranchRows.accepted, shares, results))
    written = written_relation(plan, accepted, rows, transaction)
    returning_result = compute_returning(state, plan.returning, written, parameters, transaction)
    return _Changed(joined(results), returning_result)
