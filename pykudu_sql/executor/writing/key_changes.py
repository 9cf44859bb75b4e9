"""UPDATE and DELETE of one row by its key that look at the row: read, decide, write; no engine.

What is read is what is changed. A statement that stands alone reads and writes under the commit
lock, so that it loses no race; within a transaction the row is read at its snapshot, and a commit
of others in between is a conflict.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

from pykudu_sql.executor.reading.key_lookup import RowShape
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.writes import row_outcome
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.row_expression import (
    ParameterCell,
    RowCells,
    RowExpression,
    evaluate,
    nodes,
    parameter_cell,
)
from pykudu_sql.planner.operands.template import columns_in, exact_predicate
from pykudu_sql.planner.operands.value import ParameterValues, bind_key, bind_value
from pykudu_sql.planner.plan.plan import KeyChange
from pykudu_sql.results.result import Outcome, Row, RowResult
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.column_predicate import Predicate
from pykudu_sql.storage.common.predicate.predicate_eval import is_true
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import Cell, DataType
from pykudu_sql.storage.ingest.validation import can_hold
from pykudu_sql.storage.transaction.row_writer import SingleOperation
from pykudu_sql.storage.transaction.transaction import Transaction

_NOTHING: Mapping[int, Cell] = {}


class _BoundChange(NamedTuple):
    """A change with its parameters' values.

    Attributes:
        key: in key order.
        cells: the columns that are set to what was known before the row was read.
        parameters: the cells of parameters in expressions.
        condition: what the row must hold; None of nothing.
    """

    key: tuple[Cell, ...]
    cells: Mapping[int, Cell]
    parameters: Mapping[ParameterCell, Cell]
    condition: Predicate | None


class ChangedRow(NamedTuple):
    """What became of the row. `rows`: how many changed, 0 or 1; `returning_rows`: of RETURNING."""

    rows: int
    returning_rows: tuple[Row, ...]


T = TypeVar("T")
_UNCHANGED: Final = ChangedRow(0, ())


class RowChange(NamedTuple):
    """What is done to a row. `operation`: None for nothing; `returning_rows`: of RETURNING."""

    operation: SingleOperation | None
    returning_rows: tuple[Row, ...]


class KeyChanges:
    """A prepared `KeyChange`."""

    __slots__ = ("_plan", "_read_ids", "_returned", "_state")

    def __init__(self, state: SessionState, plan: KeyChange) -> None:
        """Prepare all that does not depend on the key."""
        returned = plan.returned
        ids = set() if plan.condition is None else set(columns_in(plan.condition))
        ids |= {i for _, i in returned or ()}
        ids |= {i for _, expression in plan.computed for i in _stored_ids(expression)}
        self._state = state
        self._plan = plan
        self._read_ids = tuple(sorted(ids - set(plan.table.schema.key_ids)))
        self._returned = None if returned is None else RowShape(plan.table.schema, returned)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Change the row of one set of parameters."""
        return self.run_many([parameters])

    def run_many(self, parameter_rows: Sequence[ParameterValues]) -> Outcome:
        """Change a row for each set of parameters, all or nothing.

        Raises EngineRequiredError: for one of them; nothing was done.
        """
        state = self._state
        state.row_errors = ()
        bound = [self._bind(parameters) for parameters in parameter_rows]
        changed = change_rows(state, bound, self._change)
        return changed_outcome(self._plan.kind, changed, self._returned)

    def _bind(self, parameters: ParameterValues) -> _BoundChange | None:
        """The change for some parameters; None where no row can have the key."""
        plan = self._plan
        cells = {i: bind_value(value, parameters) for i, value in plan.assignments}
        operands = parameter_cells([each for _, each in plan.computed], parameters)
        condition = None
        if plan.condition is not None:
            condition = exact_predicate(plan.condition, parameters)
        key = bind_key(plan.key, parameters)
        if key is None or not can_hold(plan.table, key):
            return None
        return _BoundChange(key, cells, operands, condition)

    def _change(self, bound: _BoundChange | None, transaction: Transaction | None) -> ChangedRow:
        if bound is None:
            return _UNCHANGED
        row = RowOfKey(self._plan.table, bound.key, self._read_ids, partial(self._choice, bound))
        return change_row(self._state, row, transaction)

    def _choice(self, bound: _BoundChange, read: tuple[Cell, ...] | None) -> RowChange:
        """What is done to a row. `read`: its cells; None where it is not there."""
        plan, shape = self._plan, self._returned
        if read is None:
            return RowChange(None, ())
        key = dict(zip(plan.table.schema.key_ids, bound.key, strict=True))
        stored = {**key, **dict(zip(self._read_ids, read, strict=True))}
        if bound.condition is not None and not is_true(bound.condition, stored):
            return RowChange(None, ())
        row = RowCells(stored, _NOTHING, bound.parameters)
        cells = {**bound.cells, **computed_cells(plan.table.schema, plan.computed, row)}
        returning_rows = () if shape is None else (shape.row({**stored, **cells}),)
        return RowChange(SingleOperation(plan.kind, {**key, **cells}), returning_rows)


class RowOfKey(NamedTuple):
    """A row that is read and changed.

    Attributes:
        key: in key order.
        column_ids: of the cells that are read.
        choose: what is done for these cells; for None where there is no such row.
    """

    table: TableInfo
    key: tuple[Cell, ...]
    column_ids: Sequence[int]
    choose: Callable[[tuple[Cell, ...] | None], RowChange]


def change_rows(
    state: SessionState,
    bound: Sequence[T],
    change: Callable[[T, Transaction | None], ChangedRow],
    *,
    needs_transaction: bool = False,
) -> Sequence[ChangedRow]:
    """Change a row for each bound set of parameters, all or nothing.

    Args:
        state: of the session, whose open transaction they belong to, if there is one.
        bound: the sets of parameters.
        change: changes one row, by a transaction or, given None, by itself: see `change_row`.
        needs_transaction: whether a single row does, too.
    """
    if len(bound) == 1 and not needs_transaction and state.transactions.stands_alone:
        return [change(bound[0], None)]
    return state.transactions.write(
        lambda transaction: [change(each, transaction) for each in bound]
    )


def change_row(state: SessionState, row: RowOfKey, transaction: Transaction | None) -> ChangedRow:
    """Read and change a row. `transaction`: None for one of its own, which loses no race."""
    if transaction is not None:
        read = transaction.lookup(row.table, row.key, row.column_ids)
        change = row.choose(read)
        if change.operation is None:
            return _UNCHANGED
        rows = transaction.write_row(row.table, *change.operation)
        return ChangedRow(rows, change.returning_rows)
    change = RowChange(None, ())

    def operation(read: tuple[Cell, ...] | None) -> SingleOperation | None:
        nonlocal change
        change = row.choose(read)
        return change.operation

    state.transactions.wait_for_retries()
    rows = state.store.change_row(row.table, row.key, row.column_ids, operation)
    return ChangedRow(rows, change.returning_rows)


def changed_outcome(
    kind: RowOpKind, changed: Sequence[ChangedRow], returned: RowShape | None
) -> Outcome:
    """The outcome of a statement, with the rows that its last run shows, if it has RETURNING."""
    count = sum(each.rows for each in changed)
    if returned is None:
        return row_outcome(kind, count)
    returning_rows = changed[-1].returning_rows if changed else ()
    return row_outcome(kind, count, RowResult(returned.header, returning_rows))


def parameter_cells(
    expressions: Sequence[RowExpression], parameters: ParameterValues
) -> dict[ParameterCell, Cell]:
    """The cells of the parameters in expressions.

    Raises InterfaceError, EngineRequiredError: see `parameter_cell`.
    """
    return {
        node: parameter_cell(node.parameter, parameters)
        for expression in expressions
        for node in nodes(expression)
        if isinstance(node, ParameterCell)
    }


def computed_cells(
    schema: Schema, computed: Sequence[tuple[int, RowExpression]], row: RowCells
) -> dict[int, Cell]:
    """What columns are set to that are computed from a row, by id.

    Raises EngineRequiredError: a value does not fit its column, which is the engine's to say.
    """
    cells: dict[int, Cell] = {}
    for column_id, expression in computed:
        cell, column = evaluate(expression, row), schema.by_id[column_id]
        if not (column.nullable if cell is None else _fits(cell, column.type)):
            raise EngineRequiredError
        cells[column_id] = cell
    return cells


def _fits(cell: Cell, data_type: DataType) -> bool:
    """Whether an integer lies within a type kept as one; anything else fits its type."""
    limits = data_type.integer_range
    return limits is None or not isinstance(cell, int) or limits[0] <= cell <= limits[1]


def _stored_ids(expression: RowExpression) -> list[int]:
    return [node.column_id for node in nodes(expression) if isinstance(node, ColumnCell)]
