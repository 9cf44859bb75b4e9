"""A prepared look-up of one row by its whole key: no engine, few calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.key_binder import key_binder
from pykudu_sql.planner.operands.template import columns_in, exact_predicate
from pykudu_sql.planner.operands.value import ParameterValues, bind_key
from pykudu_sql.planner.plan.plan import KeyLookup
from pykudu_sql.results.result import Header, Outcome, Row, RowResult, header
from pykudu_sql.storage.catalog.catalog import Catalog
from pykudu_sql.storage.common.predicate.predicate_eval import is_true
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

# Kinds whose cells are their Python values.
_AS_STORED = frozenset(Kind) - {Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DECIMAL}


class RowShape:
    """Some columns of a table, as a row of a result shows them.

    `header`: of the result; `column_ids`: in its order.
    """

    __slots__ = ("_conversions", "column_ids", "header")

    def __init__(self, schema: Schema, outputs: Sequence[tuple[str, int]]) -> None:
        """Show columns, each by its id, under names."""
        types = [schema.by_id[column_id].type for _, column_id in outputs]
        self.column_ids = tuple([column_id for _, column_id in outputs])
        self.header: Header = header(*zip([name for name, _ in outputs], types, strict=True))
        self._conversions = _conversions(types)

    def row(self, cells: Mapping[int, Cell]) -> Row:
        """The row that shows some cells, by column id."""
        return self.values(tuple([cells[column_id] for column_id in self.column_ids]))

    def values(self, cells: tuple[Cell, ...]) -> Row:
        """The Python values of cells in the order of the columns."""
        if not self._conversions:
            return cells
        values: list[Any] = list(cells)
        for index, data_type in self._conversions.items():
            values[index] = from_cell(values[index], data_type)
        return tuple(values)


class Lookup:
    """A prepared `KeyLookup` of nothing but a key: one row in microseconds."""

    __slots__ = ("_bind", "_columns", "_plan", "_shape", "_state")

    def __init__(self, state: SessionState, plan: KeyLookup) -> None:
        """Prepare all that does not depend on the key."""
        self._state = state
        self._plan = plan
        self._shape = RowShape(plan.table.schema, plan.outputs)
        self._bind = key_binder(plan.key)
        self._columns = plan.table.schema.select(self._shape.column_ids)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Look up one key in the session's transaction."""
        plan = self._plan
        transaction = self._state.transactions.reading()
        key = self._bind(parameters)
        if plan.bound is not None:
            transaction.wait_until_readable(plan.bound)
        column_ids = self._shape.column_ids
        cells = None if key is None else transaction.lookup(plan.table, key, column_ids, plan.bound)
        return self._outcome(cells)

    def at_newest(self, catalog: Catalog, parameters: ParameterValues) -> Outcome:
        """Look up one key at the newest snapshot, without a transaction.

        `catalog`: that the plan, which has no bound, was made under. Raises: see
        `OpenStore.read_row`.
        """
        key = self._bind(parameters)
        return self._outcome(
            None
            if key is None
            else self._state.store.read_row(catalog, self._plan.table, key, self._columns)
        )

    def _outcome(self, cells: tuple[Cell, ...] | None) -> Outcome:
        shape = self._shape
        if cells is None:
            return Outcome(RowResult(shape.header, ()), 0)
        return Outcome(RowResult(shape.header, (shape.values(cells),)), 1)


class FilteredLookup:
    """A prepared `KeyLookup` of a row that must hold more than its key."""

    __slots__ = ("_plan", "_read_ids", "_shape", "_state")

    def __init__(self, state: SessionState, plan: KeyLookup) -> None:
        """Prepare all that does not depend on the key. `plan`: with a condition."""
        assert plan.condition is not None
        self._state = state
        self._plan = plan
        self._shape = RowShape(plan.table.schema, plan.outputs)
        self._read_ids = tuple({*self._shape.column_ids, *columns_in(plan.condition)})

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Look up one key."""
        plan, state, shape = self._plan, self._state, self._shape
        assert plan.condition is not None
        transaction = state.transactions.reading()
        predicate = exact_predicate(plan.condition, parameters)
        key = bind_key(plan.key, parameters)
        if plan.bound is not None:
            transaction.wait_until_readable(plan.bound)
        read = (
            None if key is None else transaction.lookup(plan.table, key, self._read_ids, plan.bound)
        )
        cells = None if read is None else dict(zip(self._read_ids, read, strict=True))
        rows = () if cells is None or not is_true(predicate, cells) else (shape.row(cells),)
        return Outcome(RowResult(shape.header, rows), len(rows))


def _conversions(types: Sequence[DataType]) -> Mapping[int, DataType]:
    """The types of the columns whose cells are not their Python values."""
    return {
        index: data_type
        for index, data_type in enumerate(types)
        if data_type.kind not in _AS_STORED
    }
