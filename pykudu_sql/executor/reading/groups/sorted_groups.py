"""Groups by a prefix of the key, made by the scan of rows that lie side by side.

See `planner.pushdown.sorted_groups`. Rowsets are read and their runs of equal keys added up by the
threads of the pool; what is too large for memory is a stream of groups, which holds a few stretches
of rows. The engine gets the groups, a row each.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.groups.group_runs import Groups, GroupShape, State, StateKind
from pykudu_sql.executor.reading.join_scans import ScanReport
from pykudu_sql.executor.reading.scanned_rows import exact_scan
from pykudu_sql.executor.reading.statement_check import StatementCheck
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import AggregateKind, GroupAggregate, SortedGroups
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.arrays import from_fixed, pack_validity
from pykudu_sql.storage.common.types.from_buffers import integers
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.scan.bounded_rows import exceeds, rows_to_read, with_ranges
from pykudu_sql.storage.scan.key_order import in_key_order
from pykudu_sql.storage.scan.read_ahead import task_of
from pykudu_sql.storage.scan.scan_token import batches_of
from pykudu_sql.storage.scan.side_by_side import side_by_side
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock
from pykudu_sql.storage.transaction.transaction import Transaction

LEAST_ROWS = 50_000
_SUM_DIGITS = 38
_STATES = {
    AggregateKind.COUNT: StateKind.COUNT,
    AggregateKind.SUM: StateKind.SUM,
    AggregateKind.AVG: StateKind.SUM,
    AggregateKind.MIN: StateKind.LEAST,
    AggregateKind.MAX: StateKind.GREATEST,
}


@dataclass(frozen=True, slots=True)
class _GroupColumns:
    """The columns of a relation of groups.

    `shape`: of its groups; `aggregates`: in the order of their columns, behind those of the key.
    """

    shape: GroupShape
    aggregates: tuple[GroupAggregate, ...]

    @classmethod
    def of(cls, form: SortedGroups, columns: Sequence[ColumnSchema]) -> "_GroupColumns":
        """Of a scan, whose columns are those of the key and then the arguments."""
        keys = len(form.key_ids)
        places = {column.id: place for place, column in enumerate(columns[keys:])}
        states: dict[State, None] = {}
        for each in form.aggregates:
            place = None if each.column_id is None else places[each.column_id]
            argument = None if place is None else columns[keys + place]
            states[State(_state_kind(each.kind, argument), place)] = None
            states[State(StateKind.COUNT, place)] = None
        shape = GroupShape(tuple(columns[:keys]), tuple(columns[keys:]), tuple(states))
        return cls(shape, form.aggregates)

    @property
    def schema(self) -> pa.Schema:
        """Of the relation."""
        keys = [
            pa.field(each.name, pa.string() if each.type.is_text else each.type.arrow)
            for each in self.shape.keys
        ]
        return pa.schema([*keys, *(pa.field(a.name, self._type(a)) for a in self.aggregates)])

    def arrays(self, groups: Groups) -> list[pa.Array]:
        """The cells of groups, a column each."""
        states = dict(zip(self.shape.states, groups.states, strict=True))
        return [*groups.keys, *(self._values(each, states) for each in self.aggregates)]

    def _type(self, aggregate: GroupAggregate) -> pa.DataType:
        if aggregate.kind is AggregateKind.COUNT:
            return pa.int64()
        argument = self._argument(aggregate)
        is_sum = aggregate.kind is AggregateKind.SUM
        if aggregate.kind is AggregateKind.AVG or (is_sum and argument.type.is_floating):
            return pa.float64()
        if is_sum:
            return pa.decimal128(_SUM_DIGITS, argument.type.scale)
        return argument.type.arrow

    def _argument(self, aggregate: GroupAggregate) -> ColumnSchema:
        return next(each for each in self.shape.arguments if each.id == aggregate.column_id)

    def _values(
        self, aggregate: GroupAggregate, states: dict[State, npt.NDArray[np.generic]]
    ) -> pa.Array:
        """The values of an aggregate; NULL where a group has no cell."""
        if aggregate.column_id is None:
            return integers(states[State(StateKind.COUNT)].astype(np.int64, copy=False))
        argument = self._argument(aggregate)
        place = self.shape.arguments.index(argument)
        counts = states[State(StateKind.COUNT, place)].astype(np.int64, copy=False)
        if aggregate.kind is AggregateKind.COUNT:
            return integers(counts)
        state_kind, valid = _state_kind(aggregate.kind, argument), counts > 0
        values = states[State(state_kind, place)]
        if aggregate.kind in (AggregateKind.MIN, AggregateKind.MAX):
            return from_fixed(values, argument.type, valid)
        if aggregate.kind is AggregateKind.AVG:
            if state_kind is StateKind.TOTAL:
                totals, divisors = values.astype(np.float64, copy=False), np.maximum(counts, 1)
                values = totals / divisors
            else:
                values = _means(values.astype(np.uint64, copy=False), counts, argument.type.scale)
        buffers = [pack_validity(valid), pa.py_buffer(values)]
        return pa.Array.from_buffers(self._type(aggregate), len(values), buffers)


def _state_kind(kind: AggregateKind, argument: ColumnSchema | None) -> StateKind:
    """The state that an aggregate of a column is made of, beside how many cells there are."""
    is_floating = argument is not None and argument.type.is_floating
    if is_floating and kind in (AggregateKind.SUM, AggregateKind.AVG):
        return StateKind.TOTAL
    return _STATES[kind]


def _means(
    sums: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64], scale: int
) -> npt.NDArray[np.float64]:
    """Sums, as words, over counts: computed in the engine's way, in `long double`.

    `counts`: 0 where the result is not wanted.
    """
    totals = sums[:, 1].view(np.int64).astype(np.longdouble) * np.longdouble(2) ** 64
    totals += sums[:, 0].astype(np.longdouble)
    divisors = np.maximum(counts, 1).astype(np.longdouble) * np.longdouble(10**scale)
    return (totals / divisors).astype(np.float64)


class GroupStream:
    """Groups that are made anew whenever the engine reads them; see `StreamedScan`."""

    def __init__(
        self, scan: TableScan, columns: _GroupColumns, state: SessionState, transaction: Transaction
    ) -> None:
        """Nothing is read yet."""
        self.transaction = transaction
        self.schema = columns.schema
        self.row_count = rows_to_read(scan)
        self.row_bytes: float = scan.row_bytes
        self.failure: Exception | None = None
        self.check = StatementCheck(state)
        self._scan = scan
        self._columns = columns

    def batches(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """A new scan; see `RowStream`."""
        schema = pa.schema([self.schema.field(position) for position in columns])
        # Made here, since one that is kept would keep the snapshot until cycles are collected.
        scan = replace(self._scan, cancel_check=self.check)
        shape = self._columns.shape
        try:
            parts = map(shape.groups_of, _with_rows(scan.exact_blocks(scan.row_filter())))
            for groups in shape.joined(parts):
                arrays = self._columns.arrays(groups)
                yield from batches_of(schema, [arrays[place] for place in columns], len(groups))
        except Exception as error:
            self.failure = error
            raise


def sorted_groups(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    reports: dict[str, ScanReport] | None = None,
) -> tuple[Query, dict[str, Relation]] | None:
    """The form of a query over groups, and their relation; None where the scan cannot make them.

    Args:
        query: whose scan is read.
        transaction: what it sees.
        reports: filled with what became of the scan.

    Raises Error: see `relations_of`.
    """
    form = query.sorted_groups
    if form is None:
        return None
    started, (scan,) = time.perf_counter(), query.scans
    arguments = dict.fromkeys(each.column_id for each in form.aggregates)
    column_ids = (*form.key_ids, *(each for each in arguments if each is not None))
    stats = None if reports is None else ScanStats()
    table_scan = exact_scan(
        state, query, column_ids, ScanOrder.NONE, parameters, transaction, stats
    )
    if table_scan is None or table_scan.row_count < LEAST_ROWS:
        return None
    ordered = in_key_order(table_scan, scan.table, frozenset(form.key_ids))
    if ordered is None:
        return None
    columns = _GroupColumns.of(form, ordered.columns)
    ordered = with_ranges(ordered)
    rows: Relation
    if exceeds(ordered, min(state.settings.scan_memory_bytes, state.store.budget.free)):
        rows = GroupStream(ordered, columns, state, transaction)
    else:
        rows = _group_table(ordered, columns)
        state.store.budget.hold(rows, rows.nbytes)
    if reports is not None and stats is not None:
        reports[scan.name] = ScanReport(
            stats,
            time.perf_counter() - started,
            rows.num_rows if isinstance(rows, pa.Table) else None,
        )
    return form.form(), {scan.name: rows}


def _group_table(scan: TableScan, columns: _GroupColumns) -> pa.Table:
    """All groups of a scan."""
    shape = columns.shape
    blocks = _with_rows(iter(scan.matching_blocks(scan.row_filter(), lambda block: None)))
    parts = side_by_side(scan.pool, [task_of(shape.groups_of, block) for block in blocks])
    schema = columns.schema
    batches = [
        pa.RecordBatch.from_arrays(columns.arrays(groups), schema=schema)
        for groups in shape.joined(parts)
    ]
    return pa.Table.from_batches(batches, schema)


def _with_rows(blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    return (block for block in blocks if block.length)
