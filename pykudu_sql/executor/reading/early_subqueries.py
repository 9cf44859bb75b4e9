"""What is read for a query: groups, or subqueries that are computed first and scans they narrow.

See `planner.pushdown.early_subqueries`. A subquery is computed first where it can narrow a scan of
many rows; its values are a relation of the query around it. Others are left to the engine. A query
whose scan makes its groups reads these (`groups.sorted_groups`).
"""

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.engine_runs import run_engine
from pykudu_sql.executor.reading.groups.sorted_groups import sorted_groups
from pykudu_sql.executor.reading.join_scans import (
    LEAST_LOOKED_UP,
    ConstantFilter,
    ScanReport,
    relations_of,
)
from pykudu_sql.executor.reading.scans import rows_to_scan
from pykudu_sql.executor.reading.summaries import summarize
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import EarlySubquery
from pykudu_sql.storage.errors import DataError, InternalError, ProgrammingError
from pykudu_sql.storage.transaction.transaction import Transaction

_MANY_COLUMNS = 4
# What Arrow has as the engine has it, by how its names begin.
_KEPT_TYPES = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN"),
    *("VARCHAR", "DATE", "TIMESTAMP"),
)


def read_for(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    reports: dict[str, ScanReport] | None = None,
) -> tuple[Query, dict[str, Relation]]:
    """The form of a query that is computed, and the relations that it reads.

    Args:
        query: whose scans are read.
        transaction: what they see.
        reports: filled with what became of each scan.

    Raises Error: see `relations_of` and `queries.compute`.
    """
    grouped = sorted_groups(state, query, parameters, transaction, reports)
    if grouped is not None:
        return grouped
    early = query.early
    if early is None or not any(
        _narrows_many(query, each, parameters, transaction) for each in early.subqueries
    ):
        return query, relations_of(state, query, parameters, transaction, reports)
    fixed_values: list[ConstantFilter] = []
    for subquery in early.subqueries:
        rows = _values(state, subquery.query, parameters, transaction, reports)
        if rows is None:
            return query, relations_of(state, query, parameters, transaction, reports)
        fixed_values.append(ConstantFilter(subquery.name, rows, subquery.narrowing))
    around = early.around()
    return around, relations_of(state, around, parameters, transaction, reports, fixed_values)


def _values(
    state: SessionState,
    subquery: Query,
    parameters: ParameterValues,
    transaction: Transaction,
    reports: dict[str, ScanReport] | None,
) -> pa.Table | None:
    """The values of a subquery, as a table of one column.

    None where a relation of them would have another type, as HUGEINT becomes a decimal, and where
    it cannot be computed: the query as a whole says why.
    """
    summary = summarize(subquery, transaction) if subquery.summary else None
    if summary is not None:
        (data_type,) = summary.types
        return pa.table([pa.array(summary.row, data_type.arrow)], list(subquery.names))
    inner, relations = read_for(state, subquery, parameters, transaction, reports)
    try:
        result = run_engine(state, inner, relations, parameters)
    except (DataError, ProgrammingError, InternalError):
        return None
    if not result.types[0].startswith(_KEPT_TYPES):
        return None
    return result.table.rename_columns(list(inner.names))


def _narrows_many(
    query: Query,
    subquery: EarlySubquery,
    parameters: ParameterValues,
    transaction: Transaction,
) -> bool:
    narrowing = subquery.narrowing
    if narrowing is None:
        return True
    scan = next(each for each in query.scans if each.name == narrowing.target)
    leads = scan.table.schema.key_ids[:1] == (narrowing.column_id,)
    if narrowing.op is not None and not leads and len(scan.column_ids) < _MANY_COLUMNS:
        return False  # to compute it in a run of its own costs more than the engine's filter
    predicate = bind_predicate(scan.predicate, parameters)
    return rows_to_scan(scan, predicate, transaction) >= LEAST_LOOKED_UP
