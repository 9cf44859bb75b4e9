"""The scans of a query, smallest first, so that their rows become runtime filters of the others.

Impala's runtime filters, without waiting: when a scan has been read, its values for an equality of
a join (`RuntimeFilter`) become an IN predicate of the scan on the other side. That turns the inner
side of a join with few outer rows into look-ups by key, prunes partitions and rowsets, and leaves
less for the engine to join. A filter is applied where it promises to leave out most rows:

- the values are few, and come from a scan that kept a small share of its table;
- or the other side is much larger, and the column leads its key;
- or they are integers, however many, of a scan that kept a quarter of its table at most: to look a
  row up in a set of them takes a fraction of what the engine needs to join it.

Scans of a self-join that are left with one predicate are read once, if the rows fit into memory.

An order of scans is only a matter of speed; each filter alone is sound (see
`planner.pushdown.runtime_filters`), and so is any sequence of them.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.query_parameters import check_parameter_values
from pykudu_sql.executor.reading.scans import relation_of, rows_to_scan
from pykudu_sql.executor.reading.top_rows import first_rows_of
from pykudu_sql.executor.reading.word_filters import word_predicate
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.comparison import compare, conjunction
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.planner.plan.plan import Query, Scan
from pykudu_sql.planner.plan.query_plans import Narrowing
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.common.predicate.column_predicate import Among, InList, Predicate
from pykudu_sql.storage.common.predicate.integer_set import IntegerSet
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import combine
from pykudu_sql.storage.common.types.from_buffers import numbers_of
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.transaction.transaction import Transaction

MAX_VALUES = 4096
LEAST_LOOKED_UP = 50_000
_SAMPLE_ROWS = 2 * MAX_VALUES + 1
_SELECTIVE_SHARE = 4
_LOOKUP_SHARE = 64
_FILTER_SHARE = 10
_FLAGS_PER_ROW = 8


@dataclass(slots=True)
class ScanReport:
    """Measurements of one scan of a query.

    Attributes:
        stats: what it read and what it left unread.
        seconds: it took; of a stream, until it could begin.
        rows: that came out; None of a stream, which is read while the engine works.
        filtered_by: the tables whose rows narrowed it.
    """

    stats: ScanStats
    seconds: float = 0.0
    rows: int | None = None
    filtered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstantFilter:
    """The values of a subquery that was computed first.

    Attributes:
        name: of the relation that the query reads.
        rows: of one column.
        narrowing: the scan that they narrow, if any.
    """

    name: str
    rows: pa.Table
    narrowing: Narrowing | None


@dataclass(slots=True)
class _Pending:
    """A scan that is still to be read.

    Attributes:
        scan: of the plan.
        predicate: of the query, and of the runtime filters applied so far.
        rows: it has to look at without runtime filters.
        all_rows: of its table.
        left: rows that will probably come out.
    """

    scan: Scan
    predicate: Predicate | None
    rows: int = 0
    all_rows: int = 0
    left: float = 0.0


def relations_of(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    reports: dict[str, ScanReport] | None = None,
    fixed_values: Sequence[ConstantFilter] = (),
) -> dict[str, Relation]:
    """The rows of all scans of a query, by the scans' names.

    Args:
        query: whose scans are read.
        transaction: what they see.
        reports: filled with what became of each scan.
        fixed_values: what the query reads beside its scans.

    Raises QueryCancelledError: the session was interrupted; Error: see `check_parameter_values` and
    `relation_of`.
    """
    check_parameter_values(query, parameters, state.engine, state.computed_types)
    pending = {
        scan.name: _Pending(scan, bind_predicate(scan.predicate, parameters))
        for scan in query.scans
    }
    if len(pending) > 1 or fixed_values:
        for waiting in pending.values():
            waiting.rows = _rows_to_read(waiting.scan, waiting.predicate, transaction)
            if waiting.predicate is None:
                waiting.all_rows, waiting.left = waiting.rows, waiting.rows
            else:
                waiting.all_rows = _rows_to_read(waiting.scan, None, transaction)
                waiting.left = waiting.rows / _FILTER_SHARE
    for name in dict.fromkeys(condition.scan for condition in query.word_conditions):
        waiting = pending[name]
        by_words = word_predicate(
            state, query, parameters, waiting.scan, waiting.predicate, transaction
        )
        if by_words is not None:
            _add(by_words, waiting, 1 / _FILTER_SHARE)
    relations: dict[str, Relation] = dict(query.lists)
    for each in fixed_values:
        relations[each.name] = each.rows
        if each.narrowing is not None:
            _narrow(each.rows.column(0), each.narrowing, pending[each.narrowing.target])
    budget = state.store.budget
    left = min(state.settings.scan_memory_bytes, budget.free)
    while pending:
        state.check_cancelled()
        waiting = min(pending.values(), key=_order)
        name = waiting.scan.name
        del pending[name]
        started = time.perf_counter()
        report = None if reports is None else reports.setdefault(name, ScanReport(ScanStats()))
        stats = None if report is None else report.stats
        relation = _relation(state, waiting, transaction, stats, left)
        relations[name] = relation
        if report is not None:
            report.seconds = time.perf_counter() - started
            report.rows = relation.num_rows if isinstance(relation, pa.Table) else None
        if not isinstance(relation, pa.Table):
            continue
        size = relation.nbytes
        left = max(0, left - size)
        budget.hold(relation, size)
        covered = [other for other in pending.values() if _covers(waiting, other)]
        for other in covered:
            relations[other.scan.name] = relation.select(_names(other.scan))
            if reports is not None:
                shared = reports.setdefault(other.scan.name, ScanReport(ScanStats()))
                shared.rows = relation.num_rows
            del pending[other.scan.name]
        for read in (waiting, *covered):
            filtered = _apply_runtime_filters(query, read, relation, pending)
            _report_filters(filtered, read.scan, reports)
    return relations


def _relation(
    state: SessionState,
    waiting: _Pending,
    transaction: Transaction,
    stats: ScanStats | None,
    most: int,
) -> Relation:
    """The rows of a scan: the first ones where no others are needed."""
    if waiting.predicate is None:
        first = first_rows_of(state, waiting.scan, transaction, stats, most)
        if first is not None:
            return first
    return relation_of(state, waiting.scan, waiting.predicate, transaction, stats, most)


def _covers(read: _Pending, other: _Pending) -> bool:
    """Whether a scan that was read has the rows of another one, and its columns: a self-join."""
    scan, unread_ids = other.scan, read.scan.validity_ids - other.scan.validity_ids
    return (
        scan.limit is None
        and scan.history is None
        and not scan.addressed
        and set(scan.column_ids) <= set(read.scan.column_ids) - unread_ids
        and replace(read.scan, name=scan.name, column_ids=scan.column_ids)
        == replace(scan, validity_ids=read.scan.validity_ids)
        and read.predicate == other.predicate
    )


def _names(scan: Scan) -> list[str]:
    return [scan.table.schema.by_id[column_id].name for column_id in scan.column_ids]


def _rows_to_read(scan: Scan, predicate: Predicate | None, transaction: Transaction) -> int:
    """Rows in the tablets that a scan has to look at."""
    table = scan.table
    if isinstance(table, FrameTable):
        rows = table.rows
        return int(rows.num_rows if isinstance(rows, pa.Table) else rows.row_count)
    if is_system(table) or scan.history is not None:
        return 0
    return rows_to_scan(scan, predicate, transaction)


def _order(waiting: _Pending) -> tuple[float, int]:
    """What decides the order: rows that will probably come out; of as many, most columns first."""
    return waiting.left, -len(waiting.scan.column_ids)


def _narrow(values: pa.ChunkedArray, narrowing: Narrowing, target: _Pending) -> None:
    """Filter a scan by the values of a subquery."""
    column_id, op = narrowing.column_id, narrowing.op
    if op is None:
        predicate = _in_list(values, target.rows, target, column_id) or _integer_set(
            values, target.rows, target, column_id, {}, column_id
        )
        if predicate is not None:
            _add(predicate, target, len(values) / max(1, target.rows))
        return
    column = target.scan.table.schema.by_id[column_id]
    # Of several values in place of one the engine says that they are.
    if len(values) < 2 and _is_comparable(values.type, column.type):
        value = values[0].as_py() if len(values) else None
        _add(compare(column, op, value).predicate, target, 1 / _FILTER_SHARE)


def _is_comparable(arrow: pa.DataType, column_type: DataType) -> bool:
    """Whether the engine compares a value of a type with a column's cells as they are."""
    if column_type.is_text:
        return bool(pa.types.is_string(arrow) or pa.types.is_string_view(arrow))
    stored = column_type.arrow
    if pa.types.is_integer(stored) or pa.types.is_decimal(stored):
        return bool(pa.types.is_integer(arrow) or pa.types.is_decimal(arrow))
    return bool(arrow == stored)


def _apply_runtime_filters(
    query: Query, source: _Pending, rows: pa.Table, pending: Mapping[str, _Pending]
) -> list[str]:
    """Filter the scans still to be read by the rows of one that was read; returns their names."""
    filtered: list[str] = []
    sets: dict[tuple[int, int], IntegerSet | None] = {}
    for join in query.runtime_filters:
        target = pending.get(join.target)
        if join.source != source.scan.name or target is None:
            continue
        values = rows.column(source.scan.table.schema.by_id[join.source_id].name)
        predicate = _in_list(values, source.all_rows, target, join.target_id) or _integer_set(
            values, source.all_rows, target, join.target_id, sets, join.source_id
        )
        if predicate is None:
            continue
        _add(predicate, target, len(values) / max(1, source.all_rows))
        filtered.append(join.target)
    return filtered


def _add(predicate: Predicate, target: _Pending, share: float) -> None:
    """Filter a scan. `share`: of the filter's table, the rows that it has the values of. As large
    a share of the other table is left where each row of one has its row of the other."""
    own = target.predicate
    target.predicate = predicate if own is None else conjunction((own, predicate))
    target.left *= share


def _in_list(
    column: pa.ChunkedArray, all_rows: int, target: _Pending, target_id: int
) -> InList | None:
    """The values as an IN list; None if they are too many or would leave out too little.

    `all_rows`: of which the values are those that were kept.
    """
    selective = len(column) * _SELECTIVE_SHARE <= all_rows
    schema = target.scan.table.schema
    leads = schema.key_ids[0] == target_id
    if not selective and not (leads and len(column) * _LOOKUP_SHARE <= target.rows):
        return None
    words = _without_dictionary(column)
    # Where the first rows are too many values already, the others need not be looked at.
    if len(words) > _SAMPLE_ROWS and len(pc.unique(words.slice(0, _SAMPLE_ROWS))) > MAX_VALUES:
        return None
    distinct = pc.unique(words).drop_null()
    if len(distinct) > MAX_VALUES or len(distinct) * _SELECTIVE_SHARE > target.rows:
        return None
    return InList(target_id, _cells(schema.by_id[target_id], distinct))


def _integer_set(
    column: pa.ChunkedArray,
    all_rows: int,
    target: _Pending,
    target_id: int,
    sets: dict[tuple[int, int], IntegerSet | None],
    source_id: int,
) -> Among | None:
    """Integers as a set; None if they lie too far apart or would leave out too little.

    Args:
        column: the values.
        all_rows: of which they are those that were kept.
        target: the scan.
        target_id: its column that meets them.
        sets: those made of the rows so far, by column and most flags. Scans of a self-join share
            one, by which it is seen that they read the same rows.
        source_id: the column there.
    """
    if target.rows < LEAST_LOOKED_UP or len(column) * _SELECTIVE_SHARE > all_rows:
        return None
    if not pa.types.is_integer(column.type):
        return None
    most_flags = _FLAGS_PER_ROW * target.rows
    key = source_id, most_flags
    if key not in sets:
        integers = numbers_of(combine(column.cast(pa.int64())).drop_null())
        sets[key] = IntegerSet.of(integers, most_flags)
    members = sets[key]
    if members is None or len(members) * 2 > target.rows:
        return None
    return Among(target_id, members)


def _without_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary, texts as strings."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def _cells(column: ColumnSchema, values: pa.Array) -> tuple[int | str, ...]:
    """Values of a joined column as cells of the other one; those it cannot hold match no row."""
    if not pa.types.is_integer(values.type):
        cells: list[str] = values.to_pylist()
        return tuple(cells)
    integers = np.sort(numbers_of(values))
    limits = column.type.integer_range
    if limits is not None:
        integers = integers[(integers >= limits[0]) & (integers <= limits[1])]
    return tuple(integers.tolist())


def _report_filters(
    filtered: list[str], source: Scan, reports: dict[str, ScanReport] | None
) -> None:
    if reports is None:
        return
    for name in filtered:
        report = reports.setdefault(name, ScanReport(ScanStats()))
        report.filtered_by = (*report.filtered_by, source.table.name)
