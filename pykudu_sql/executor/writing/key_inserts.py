"""INSERT of one row with RETURNING or ON CONFLICT DO UPDATE: look, insert or change; no engine."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pykudu_sql.executor.reading.key_lookup import RowShape
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.key_changes import ChangedRow, computed_cells, parameter_cells
from pykudu_sql.executor.writing.writes import verb_of
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.row_expression import (
    ParameterCell,
    RowCells,
    RowExpression,
    StoredCell,
    is_true,
    nodes,
)
from pykudu_sql.planner.operands.value import ParameterValues, bind_value
from pykudu_sql.planner.plan.plan import KeyInsert
from pykudu_sql.planner.plan.write_plans import KeyConflict
from pykudu_sql.results.result import Outcome, RowResult
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.types import Cell
from pykudu_sql.storage.ingest.validation import can_hold
from pykudu_sql.storage.transaction.transaction import Transaction

_VERB = verb_of(RowOpKind.INSERT)


class _BoundInsert(NamedTuple):
    """An insert with its parameters' values.

    Attributes:
        cells: of the row, those that are given.
        assigned: what ON CONFLICT sets to constants and parameters.
        parameters: the cells of parameters in expressions.
    """

    cells: Mapping[int, Cell]
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
        stored = [n for each in self._expressions for n in nodes(each) if isinstance(n, StoredCell)]
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
        state, shape = self._state, self._returned
        state.row_errors = ()
        bound = [self._bind(parameters) for parameters in parameter_rows]

        def action(transaction: Transaction) -> list[ChangedRow]:
            return [self._insert(transaction, each) for each in bound]

        changed = state.transactions.write(action)
        count = sum(each.rows for each in changed)
        message = f"{_VERB} {count} row(s)"
        if shape is None:
            return Outcome(None, count, message)
        returning_rows = changed[-1].returning_rows if changed else ()
        return Outcome(RowResult(shape.header, returning_rows), count, message)

    def _bind(self, parameters: ParameterValues) -> _BoundInsert:
        conflict = self._plan.conflict
        cells = {i: bind_value(value, parameters) for i, value in self._values}
        assigned = () if conflict is None else conflict.assignments
        return _BoundInsert(
            cells,
            {i: bind_value(value, parameters) for i, value in assigned},
            parameter_cells(self._expressions, parameters),
        )

    def _insert(self, transaction: Transaction, bound: _BoundInsert) -> ChangedRow:
        plan, shape = self._plan, self._returned
        if plan.conflict is not None:
            changed = self._change(transaction, plan.conflict, bound)
            if changed is not None:
                return changed
        cells = transaction.insert_row(plan.table, bound.cells)
        return ChangedRow(1, () if shape is None else (shape.row(cells),))

    def _change(
        self, transaction: Transaction, conflict: KeyConflict, bound: _BoundInsert
    ) -> ChangedRow | None:
        """What became of the row that has the key; None where none has it."""
        table, shape = self._plan.table, self._returned
        schema = table.schema
        proposed = {c.id: bound.cells.get(c.id, c.write_default) for c in schema.columns}
        key = tuple([proposed[i] for i in schema.key_ids])
        if None in key or not can_hold(table, key):
            raise EngineRequiredError  # for its message
        read = transaction.lookup(table, key, self._read_ids)
        if read is None:
            return None
        key_cells = dict(zip(schema.key_ids, key, strict=True))
        stored = {**key_cells, **dict(zip(self._read_ids, read, strict=True))}
        rows = RowCells(stored, proposed, bound.parameters)
        if not all(is_true(comparison, rows) for comparison in conflict.comparisons):
            return ChangedRow(0, ())
        cells = {**bound.assigned, **computed_cells(schema, conflict.computed, rows)}
        count = transaction.write_row(table, RowOpKind.UPDATE, {**key_cells, **cells})
        return ChangedRow(count, () if shape is None else (shape.row({**stored, **cells}),))


def _expressions(conflict: KeyConflict) -> tuple[RowExpression, ...]:
    sides = ((each.left, each.right) for each in conflict.comparisons)
    return (*(each for _, each in conflict.computed), *(side for pair in sides for side in pair))
