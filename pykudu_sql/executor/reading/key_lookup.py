"""A prepared look-up of one row by its whole key: no engine, few calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues, bind_key
from pykudu_sql.planner.plan.plan import KeyLookup
from pykudu_sql.results.result import Outcome, Row, RowResult, header
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind

# Kinds whose cells are their Python values.
_AS_STORED = frozenset(Kind) - {Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DECIMAL}


class Lookup:
    """A prepared `KeyLookup`: one row by its key, in microseconds."""

    __slots__ = ("_column_ids", "_conversions", "_header", "_plan", "_state")

    def __init__(self, state: SessionState, plan: KeyLookup) -> None:
        """Prepare all that does not depend on the key."""
        columns = [plan.table.schema.by_id[column_id] for _, column_id in plan.outputs]
        names = [name for name, _ in plan.outputs]
        types = [column.type for column in columns]
        self._state = state
        self._plan = plan
        self._column_ids = tuple([column.id for column in columns])
        self._header = header(*zip(names, types, strict=True))
        self._conversions = _conversions(types)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Look up one key."""
        plan, state = self._plan, self._state
        transaction = state.transactions.reading()
        key = bind_key(plan.key, parameters)
        if plan.bound is not None:
            transaction.wait_until_readable(plan.bound)
        cells = (
            None
            if key is None
            else transaction.lookup(plan.table, key, self._column_ids, plan.bound)
        )
        if cells is not None and self._conversions:
            cells = self._converted(cells)
        rows = () if cells is None else (cells,)
        return Outcome(RowResult(self._header, rows), len(rows))

    def _converted(self, cells: tuple[Cell, ...]) -> Row:
        """The Python values of cells."""
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
