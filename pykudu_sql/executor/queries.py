"""SELECT: scans of tablets, and what the engine makes of them."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import NoneType
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan import ConstantRow, KeyLookup, Query, Scan
from pykudu_sql.planner.template import bind_predicate
from pykudu_sql.planner.value import ParameterValues, bind_key, parameter_value
from pykudu_sql.result import Outcome, Row, RowResult, TableResult, header
from pykudu_sql.storage.common.scan_spec import ScanSpec
from pykudu_sql.storage.common.types import Cell, DataType, Kind
from pykudu_sql.storage.errors import InterfaceError, ValueOutOfRangeError
from pykudu_sql.storage.system_catalog import is_system
from pykudu_sql.storage.system_tables import system_rows
from pykudu_sql.storage.transaction import Transaction

_SCALARS = frozenset(
    {NoneType, bool, int, float, str, bytes, Decimal}
    | {dt.date, dt.datetime, dt.time, dt.timedelta, UUID}
)
_HUGE = 1 << 127
# Kinds whose cells are their Python values.
_AS_STORED = frozenset(Kind) - {Kind.DATE, Kind.UNIXTIME_MICROS, Kind.DECIMAL}


def select(state: SessionState, query: Query, parameters: ParameterValues) -> Outcome:
    """Run a query."""
    found = compute(state, query, parameters, state.transactions.reading())
    table = found.table.rename_columns(list(query.names))
    return Outcome(TableResult(table, found.types), table.num_rows)


def compute(
    state: SessionState, query: Query, parameters: ParameterValues, transaction: Transaction
) -> EngineResult:
    """The rows of a query as its transaction sees them.

    Raises:
        QueryCancelledError: the session was interrupted.
        InterfaceError: a parameter has no value.
        DataError, ProgrammingError: an expression failed.
    """
    relations: dict[str, pa.Table] = {}
    for scan in query.scans:
        state.checkpoint()
        relations[scan.name] = read(state, scan, parameters, transaction)
    state.checkpoint()
    return state.engine.execute(query.sql, relations, parameter_values(query, parameters))


def parameter_values(query: Query, parameters: ParameterValues) -> list[Any]:
    """The values of a query's `$1`, `$2`, ...

    Raises:
        InterfaceError: one was not given, or is no value of SQL.
    """
    return [_scalar(parameter_value(parameters, key)) for key in query.parameters]


def _scalar(value: Any) -> Any:
    if isinstance(value, int) and not -_HUGE <= value < _HUGE:  # the engine would wrap some around
        raise ValueOutOfRangeError("an integer parameter does not fit into 128 bits")
    if type(value) in _SCALARS:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, int | float | str | Decimal | dt.date):
        return value
    raise InterfaceError(
        f"a value of type {type(value).__name__} cannot be a parameter",
        hint="pass a number, text, bytes, Decimal, date, datetime or None",
        sqlstate="07006",
    )


def read(
    state: SessionState, scan: Scan, parameters: ParameterValues, transaction: Transaction
) -> pa.Table:
    """The rows of one scan; a superset of those that matter."""
    if is_system(scan.table):
        names = [scan.table.schema.by_id[i].name for i in scan.column_ids]
        return system_rows(state.store, scan.table).select(names)
    if scan.bound is not None:
        state.store.settle(scan.bound)
    predicate = bind_predicate(scan.predicate, parameters)
    return transaction.table_scan(
        scan.table, ScanSpec(scan.column_ids, predicate, scan.limit), scan.bound
    )


class Lookup:
    """A prepared `KeyLookup`: one row by its key, in microseconds."""

    __slots__ = ("_column_ids", "_conversions", "_header", "_plan", "_state")

    def __init__(self, state: SessionState, plan: KeyLookup) -> None:
        """Work out beforehand what is the same for every key."""
        columns = [plan.table.schema.by_id[column_id] for _, column_id in plan.outputs]
        names = [name for name, _ in plan.outputs]
        types = [column.type for column in columns]
        self._state = state
        self._plan = plan
        self._column_ids = [column.id for column in columns]
        self._header = header(*zip(names, types, strict=True))
        self._conversions = _conversions(types)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """Look up one key."""
        plan, state = self._plan, self._state
        transaction = state.transactions.reading()
        key = bind_key(plan.key, parameters)
        if plan.bound is not None:
            state.store.settle(plan.bound)
        cells = (
            None
            if key is None
            else transaction.lookup(plan.table, key, self._column_ids, plan.bound)
        )
        rows = () if cells is None else (self._row(cells),)
        return Outcome(RowResult(self._header, rows), len(rows))

    def _row(self, cells: tuple[Cell, ...]) -> Row:
        if not self._conversions:
            return cells
        values: list[Any] = list(cells)
        for index, convert in self._conversions.items():
            values[index] = convert(values[index])
        return tuple(values)


class Constants:
    """A prepared `ConstantRow`."""

    __slots__ = ("_header", "_row", "_state")

    def __init__(self, state: SessionState, plan: ConstantRow) -> None:
        """The row is always the same."""
        self._state = state
        self._header = header(*((column.name, column.type) for column in plan.columns))
        self._row = tuple(column.value for column in plan.columns)

    def __call__(self, parameters: ParameterValues) -> Outcome:
        """The row; as any query, it opens a transaction where one is due."""
        self._state.transactions.reading()
        return Outcome(RowResult(self._header, (self._row,)), 1)


def _conversions(types: Sequence[DataType]) -> Mapping[int, Callable[[Cell], Any]]:
    """For each column whose cells are not their Python values, what turns them into these."""
    return {
        index: data_type.from_cell
        for index, data_type in enumerate(types)
        if data_type.kind not in _AS_STORED
    }
