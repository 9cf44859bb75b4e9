"""What is read for a query: groups, or subqueries that are computed first and scans they narrow.

See `planner.pushdown.early_subqueries`. A subquery is computed first where it can narrow a scan of
many rows; its values are a relation of the query around it. Others are left to the engine. A query
whose scan makes its groups reads these (`groups.sorted_groups`).
"""

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
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.plan.query_plans import EarlySubquery
from pykudu_sql.storage.transaction.transaction import Transaction


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
        inner, relations = read_for(state, subquery.query, parameters, transaction, reports)
        rows = run_engine(state, inner, relations, parameters).table
        rows = rows.rename_columns(list(inner.names))
        fixed_values.append(
            ConstantFilter(subquery.name, rows, subquery.target, subquery.target_id)
        )
    around = early.around()
    return around, relations_of(state, around, parameters, transaction, reports, fixed_values)


def _narrows_many(
    query: Query,
    subquery: EarlySubquery,
    parameters: ParameterValues,
    transaction: Transaction,
) -> bool:
    scan = next(each for each in query.scans if each.name == subquery.target)
    predicate = bind_predicate(scan.predicate, parameters)
    return rows_to_scan(scan, predicate, transaction) >= LEAST_LOOKED_UP
