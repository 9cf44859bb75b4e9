"""INSERT of one row with RETURNING or ON CONFLICT DO UPDATE: look, insert or change; no engine."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pykudu_sql.executor.reading.key_lookup import RowShape
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.inserted_values import inserted_cell
from pykudu_sql.executor.writing.key_changes import (
    ChangedRow,
    RowChange,
    RowOfKey,
    change_row,
    change_rows,
    changed_outcome,
    computed_cells,
    parameter_cells,
)
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.row_expression import (
    ParameterCell,
    RowCells,
    RowExpression,
    is_true,
    nodes,
)
from pykudu_sql.planner.operands.value import ParameterValues, bind_value
from pykudu_sql.planner.plan.plan import KeyInsert
from pykudu_sql.planner.plan.write_plans import KeyConflict
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.common.column_defaults import default_cell
from pykudu_sql.storage.common.predicate.row_condition import ColumnCell
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.validation import can_hold
from pykudu_sql.storage.transaction.row_writer import SingleOperation
from pykudu_sql.storage.transaction.transaction import Transaction

_NOTHING: Mapping[int, Cell] = {}
_NO_PARAMETERS: Mapping[ParameterCell, Cell] = {}


class _BoundInsert(NamedTuple):
    """An insert with its parameters' values.

    Attributes:
        cells: those that are given, by column id.
        row: with ON CONFLICT those of all columns, defaults among them.
        key: with ON CONFLICT, in key order.
        assigned: what ON CONFLICT sets to constants and parameters.
        parameters: the cells of parameters in expressions.
    """

    cells: Mapping[int, Cell]
    row: Mapping[int, Cell]
    key: tuple[Cell, ...]
    assigned: Mapping[int, Cell]
    parameters: Mapping[ParameterCell, Cell]


class KeyInserts:
    """A prepared `KeyInsert`."""

    __slots__ = ("_expressions", "_plan", "_read_ids", "_returned", "_state", "_values")

    def __init__(self, state: SessionState, plan: KeyInsert) -> None:
        """Prepare all that does not depend on the row."""
        schema, conflict = plan.table.schema, plan.conflict
        values = (column[0] for column in plan.rows.columns)
        self._values = tuple(zip(plan.rows.column_ids, values, strict=True))
        self._expressions = () if conflict is None else _expressions(conflict)
        stored = [n for each in self._expressions for n in nodes(each) if isinstance(n, ColumnCell)]
        ids = {node.column_id for node in stored} | {i for _, i in plan.returned or ()}
        self._state = state
        self._plan = plan
        self._read_ids = tuple(sorted(ids - set(schema.key_ids)))
        self._returned = None if plan.returned is None else RowShape(schema, plan.returned)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Insert the row of one set of parameters."""
        return self.run_many([parameters])

    def run_many(self, parameter_rows: Sequence[ParameterValues]) -> Outcome:
        """Insert a row for each set of parameters, all or nothing.

        Raises EngineRequiredError: for one of them; nothing was done.
        """
        state = self._state
        state.row_errors = ()
        bound = [self._bind(parameters) for parameters in parameter_rows]
        is_plain = self._plan.conflict is None
        changed = change_rows(state, bound, self._insert, needs_transaction=is_plain)
        return changed_outcome(RowOpKind.INSERT, changed, self._returned)

    def _bind(self, parameters: ParameterValues) -> _BoundInsert:
        plan, conflict = self._plan, self._plan.conflict
        by_id, time = plan.table.schema.by_id, self._state.time
        explicit = {i: inserted_cell(by_id[i], v, parameters, time) for i, v in self._values}
        if conflict is None:
            return _BoundInsert(explicit, explicit, (), _NOTHING, _NO_PARAMETERS)
        schema = plan.table.schema
        row = {c.id: default_cell(c, time) for c in schema.columns if c.id not in explicit}
        explicit.update({i: cell for i, cell in row.items() if by_id[i].default_function})
        row.update(explicit)
        key = tuple([row[i] for i in schema.key_ids])
        if None in key or not can_hold(plan.table, key):
            raise EngineRequiredError  # for its message
        return _BoundInsert(
            explicit,
            row,
            key,
            {i: bind_value(value, parameters) for i, value in conflict.assignments},
            parameter_cells(self._expressions, parameters),
        )

    def _insert(self, bound: _BoundInsert, transaction: Transaction | None) -> ChangedRow:
        table, conflict, shape = self._plan.table, self._plan.conflict, self._returned
        if conflict is not None:
            choose = partial(self._choice, conflict, bound)
            row = RowOfKey(table, bound.key, self._read_ids, choose)
            return change_row(self._state, row, transaction)
        assert transaction is not None
        cells = transaction.insert_row(table, bound.cells)
        return ChangedRow(1, () if shape is None else (shape.row(cells),))

    def _choice(
        self, conflict: KeyConflict, bound: _BoundInsert, read: tuple[Cell, ...] | None
    ) -> RowChange:
        """What is done with a row. `read`: cells of the one that has its key; None of none."""
        shape, schema = self._returned, self._plan.table.schema
        if read is None:
            returning_rows = () if shape is None else (shape.row(bound.row),)
            return RowChange(SingleOperation(RowOpKind.INSERT, bound.cells), returning_rows)
        key_cells = dict(zip(schema.key_ids, bound.key, strict=True))
        stored = {**key_cells, **dict(zip(self._read_ids, read, strict=True))}
        rows = RowCells(stored, bound.row, bound.parameters)
        if not all(is_true(comparison, rows) for comparison in conflict.comparisons):
            return RowChange(None, ())
        cells = {**bound.assigned, **computed_cells(schema, conflict.computed, rows)}
        returning_rows = () if shape is None else (shape.row({**stored, **cells}),)
        return RowChange(SingleOperation(RowOpKind.UPDATE, {**key_cells, **cells}), returning_rows)


def _expressions(conflict: KeyConflict) -> tuple[RowExpression, ...]:
    sides = ((each.left, each.right) for each in conflict.comparisons)
    return (*(each for _, each in conflict.computed), *(side for pair in sides for side in pair))
