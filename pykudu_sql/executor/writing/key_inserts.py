"""INSERT of one row with RETURNING or ON CONFLICT DO UPDATE: look, insert or change; no engine."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pykudu_sql.executor.reading.key_lookup import RowShape
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.key_changes import (
    UNCHANGED,
    ChangedRow,
    RowChange,
    change_alone,
    computed_cells,
    parameter_cells,
)
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
from pykudu_sql.storage.transaction.row_writer import SingleOperation
from pykudu_sql.storage.transaction.transaction import Transaction

_VERB = verb_of(RowOpKind.INSERT)
_NOTHING: Mapping[int, Cell] = {}
_NO_PARAMETERS: Mapping[ParameterCell, Cell] = {}


class _BoundInsert(NamedTuple):
    """An insert with its parameters' values.

    Attributes:
        cells: those that are given, by column id.
        row: with ON CONFLICT those of all columns, defaults among them.
        key: with ON CONFLICT, in key order; None without it.
        assigned: what ON CONFLICT sets to constants and parameters.
        parameters: the cells of parameters in expressions.
    """

    cells: Mapping[int, Cell]
    row: Mapping[int, Cell]
    key: tuple[Cell, ...] | None
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
        if len(bound) == 1 and bound[0].key is not None and state.transactions.stands_alone:
            changed = [self._change_alone(bound[0], bound[0].key)]
        else:
            changed = state.transactions.write(
                lambda transaction: [self._insert(transaction, each) for each in bound]
            )
        count = sum(each.rows for each in changed)
        message = f"{_VERB} {count} row(s)"
        if shape is None:
            return Outcome(None, count, message)
        returning_rows = changed[-1].returning_rows if changed else ()
        return Outcome(RowResult(shape.header, returning_rows), count, message)

    def _bind(self, parameters: ParameterValues) -> _BoundInsert:
        plan, conflict = self._plan, self._plan.conflict
        explicit = {i: bind_value(value, parameters) for i, value in self._values}
        if conflict is None:
            return _BoundInsert(explicit, explicit, None, _NOTHING, _NO_PARAMETERS)
        schema = plan.table.schema
        row = {c.id: explicit.get(c.id, c.write_default) for c in schema.columns}
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

    def _insert(self, transaction: Transaction, bound: _BoundInsert) -> ChangedRow:
        table, shape = self._plan.table, self._returned
        if bound.key is None:
            cells = transaction.insert_row(table, bound.cells)
            return ChangedRow(1, () if shape is None else (shape.row(cells),))
        change = self._choice(
            bound, bound.key, transaction.lookup(table, bound.key, self._read_ids)
        )
        if change.operation is None:
            return UNCHANGED
        return ChangedRow(transaction.write_row(table, *change.operation), change.returning_rows)

    def _change_alone(self, bound: _BoundInsert, key: tuple[Cell, ...]) -> ChangedRow:
        choose = partial(self._choice, bound, key)
        return change_alone(self._state, self._plan.table, key, self._read_ids, choose)

    def _choice(
        self, bound: _BoundInsert, key: tuple[Cell, ...], read: tuple[Cell, ...] | None
    ) -> RowChange:
        """What is done with a row. `read`: cells of the one that has its key; None of none."""
        conflict, shape, schema = self._plan.conflict, self._returned, self._plan.table.schema
        if read is None or conflict is None:
            returning_rows = () if shape is None else (shape.row(bound.row),)
            return RowChange(SingleOperation(RowOpKind.INSERT, bound.cells), returning_rows)
        key_cells = dict(zip(schema.key_ids, key, strict=True))
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
