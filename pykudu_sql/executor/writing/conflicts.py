"""Rows proposed by an INSERT with ON CONFLICT.

They are made complete first, defaults included, since ON CONFLICT may refer to all their columns.
Of the table only rows with one of the proposed keys matter: the scan filters by the keys when they
are few and by their range when they are many.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pykudu_sql.executor.reading.queries import compute
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.engine_values import storable
from pykudu_sql.executor.writing.writes import insert_operations
from pykudu_sql.planner.operands.template import PredicateTemplate, all_of
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.change_plans import EXCLUDED, ConflictInsert, Repeated
from pykudu_sql.planner.plan.query_plans import Query, Scan
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.column_defaults import default_array
from pykudu_sql.storage.common.predicate.column_predicate import NEVER, Comparison, InList, Op
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import (
    array_to_cells,
    distinct_values,
    extreme_cells,
    plain,
)
from pykudu_sql.storage.errors import IntegrityError
from pykudu_sql.storage.transaction.transaction import Transaction

_MAX_SEPARATE = 1000
_ROW = "row"
Columns = Mapping[int, pa.Array]


def proposed_or_changed(
    state: SessionState, plan: ConflictInsert, parameters: ParameterValues, transaction: Transaction
) -> pa.Table:
    """The rows of an INSERT with ON CONFLICT, and what is stored under their keys."""
    proposed = proposed_rows(state, plan, parameters, transaction)
    state.check_cancelled()
    query = target_scan_of(plan, proposed)
    names = [plan.table.schema.by_id[i].name for i in proposed]
    relation = pa.Table.from_arrays([plain(a) for a in proposed.values()], names=names)
    state.store.budget.hold(relation, relation.nbytes)
    return storable(compute(state, query, parameters, transaction, {EXCLUDED: relation}))


def proposed_rows(
    state: SessionState, plan: ConflictInsert, parameters: ParameterValues, transaction: Transaction
) -> Columns:
    """All columns of the rows proposed, each key once.

    Raises DataError: a value does not fit its column; IntegrityError: two rows have one key and the
    statement would update it twice.
    """
    operations = insert_operations(state, plan.rows, parameters, transaction)
    if plan.table.schema.identity is not None:
        operations = transaction.number(plan.table, operations)
    columns: dict[int, pa.Array] = {}
    for column in plan.table.schema.columns:
        values = operations.columns.get(column.id)
        if values is None:
            values = default_array(column, state.time, operations.length)
        columns[column.id] = plain(values)
    state.check_cancelled()
    return _distinct(plan, columns, operations.length)


def _distinct(plan: ConflictInsert, columns: Columns, length: int) -> Columns:
    key_ids = plan.table.schema.key_ids
    names = [str(i) for i in key_ids]
    rows = pa.Table.from_arrays(
        [*(columns[i] for i in key_ids), pa.array(np.arange(length))], [*names, _ROW]
    )
    which = "max" if plan.repeated is Repeated.LAST else "min"
    deduplicated = rows.group_by(names, use_threads=False).aggregate([(_ROW, which)])
    if deduplicated.num_rows == length:
        return columns
    if plan.repeated is Repeated.REFUSED:
        raise _proposed_twice(plan.table)
    order = pc.sort_indices(deduplicated.column(f"{_ROW}_{which}"))
    indices = deduplicated.column(f"{_ROW}_{which}").take(order)
    return {i: values.take(indices) for i, values in columns.items()}


def _proposed_twice(table: TableInfo) -> IntegrityError:
    key = ", ".join(column.name for column in table.schema.key_columns)
    return IntegrityError(
        f"ON CONFLICT DO UPDATE would change a row of table '{table.name}' more than once",
        hint=f"two of the rows proposed have the same key ({key})",
        sqlstate="21000",
    )


def target_scan_of(plan: ConflictInsert, proposed: Columns) -> Query:
    """The statement's query with its scan of the table cut down to the proposed keys."""
    query = plan.change.query
    if plan.target_scan is None:
        return query
    scans = tuple(
        _narrowed(scan, plan.table, proposed) if scan.name == plan.target_scan else scan
        for scan in query.scans
    )
    return replace(query, scans=scans)


def _narrowed(scan: Scan, table: TableInfo, proposed: Columns) -> Scan:
    parts = [] if scan.predicate is None else [scan.predicate]
    parts += _key_predicates(table, proposed)
    return replace(scan, predicate=all_of(parts))


def _key_predicates(table: TableInfo, proposed: Columns) -> Iterator[PredicateTemplate]:
    for column in table.schema.key_columns:
        values = distinct_values(proposed[column.id], column.type)
        if not len(values):
            yield NEVER
        elif len(values) <= _MAX_SEPARATE:
            yield InList(column.id, tuple(array_to_cells(values, column.type)))
        else:
            low, high = extreme_cells(values, column.type)
            yield Comparison(column.id, Op.GE, low)
            yield Comparison(column.id, Op.LE, high)
