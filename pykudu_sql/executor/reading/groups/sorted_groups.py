"""Groups made by the scan of rows that lie side by side.

See `planner.pushdown.sorted_groups`. Rowsets are read and their runs of equal keys added up by the
threads of the pool; what is too large for memory is a stream of groups, which holds a few stretches
of rows. The engine gets the groups, a row each; or parts of them, where a sample says that these
are far fewer than the rows.
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
from pykudu_sql.storage.tablet.rowset.diskrowset import DiskRowSet
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock
from pykudu_sql.storage.transaction.transaction import Transaction

LEAST_ROWS = 50_000
_SUM_DIGITS = 38
# Parts of groups that are one of so many rows, or fewer, are put together by the engine in a
# fraction of the time that it needs for the rows.
_LEAST_RUN = 8
_SAMPLED_ROWSETS = 4
_SAMPLE_ROWS = 8192
_STATES = {
    AggregateKind.COUNT: StateKind.COUNT,
    AggregateKind.SUM: StateKind.SUM,
    AggregateKind.UNSCALED: StateKind.SUM,
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
        column_type = self._argument(aggregate).type
        if aggregate.kind in (AggregateKind.MIN, AggregateKind.MAX):
            return column_type.arrow
        if column_type.is_floating:
            return pa.float64()
        is_scaled = aggregate.kind is AggregateKind.SUM
        return pa.decimal128(_SUM_DIGITS, column_type.scale if is_scaled else 0)

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
        buffers = [pack_validity(valid), pa.py_buffer(values)]
        return pa.Array.from_buffers(self._type(aggregate), len(values), buffers)


def _state_kind(kind: AggregateKind, argument: ColumnSchema | None) -> StateKind:
    """The state that an aggregate of a column is made of, beside how many cells there are."""
    is_floating = argument is not None and argument.type.is_floating
    if is_floating and kind is AggregateKind.SUM:
        return StateKind.TOTAL
    return _STATES[kind]


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
    ordered = None
    if form.is_prefix:
        ordered = in_key_order(table_scan, scan.table, frozenset(form.key_ids))
    if ordered is None and not _has_long_runs(table_scan, len(form.key_ids)):
        return None
    read_form, group_scan = form.merging, table_scan
    if ordered is not None:
        read_form, group_scan = form.form, ordered
    columns = _GroupColumns.of(form, group_scan.columns)
    group_scan = with_ranges(group_scan)
    rows: Relation
    if exceeds(group_scan, min(state.settings.scan_memory_bytes, state.store.budget.free)):
        rows = GroupStream(group_scan, columns, state, transaction)
    else:
        rows = _group_table(group_scan, columns)
        state.store.budget.hold(rows, rows.nbytes)
    if reports is not None and stats is not None:
        reports[scan.name] = ScanReport(
            stats,
            time.perf_counter() - started,
            rows.num_rows if isinstance(rows, pa.Table) else None,
        )
    return read_form(), {scan.name: rows}


def _has_long_runs(scan: TableScan, keys: int) -> bool:
    """Whether rows with equal cells in the first columns mostly follow each other.

    By a few rows of the largest rowsets on disk, whatever the predicate.
    """
    columns = scan.columns[:keys]
    shape = GroupShape(columns, (), ())
    largest = sorted(scan.reads, key=lambda read: read.rows)[-_SAMPLED_ROWSETS:]
    rows = runs = 0
    for read in largest:
        if not isinstance(read.rowset, DiskRowSet):
            continue
        part = [(0, min(_SAMPLE_ROWS, read.rowset.meta.rows))]
        blocks = read.rowset.scan(columns, None, scan.bound, read.own, ranges=part)
        for block in _with_rows(blocks):
            rows += block.length
            runs += len(shape.groups_of(block))
    return runs > 0 and runs * _LEAST_RUN <= rows


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
