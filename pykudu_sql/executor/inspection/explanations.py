"""EXPLAIN: the plan as text, with what the store knows about its scans; ANALYZE also runs it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.inspection.engine_operators import operator_json, planned_operators
from pykudu_sql.executor.reading.early_subqueries import read_for
from pykudu_sql.executor.reading.engine_choice import Embedded, EngineChoice, OnSpark
from pykudu_sql.executor.reading.engine_runs import engine_request, run_engine
from pykudu_sql.executor.reading.join_scans import ScanReport
from pykudu_sql.executor.reading.scans import rows_at_hand
from pykudu_sql.executor.reading.top_rows import narrowed_queries
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.explain.explain import EngineFacts, ExplainFacts, ScanFacts, explain
from pykudu_sql.planner.explain.explain_json import explain_json
from pykudu_sql.planner.operands.comparison import EngineRequiredError
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues, bind_key
from pykudu_sql.planner.plan.plan import (
    ConflictInsert,
    CopyTo,
    CreateTable,
    Explain,
    ExplainFormat,
    InsertQuery,
    InsertReturning,
    KeyLookup,
    Plan,
    Query,
    Scan,
    scans_of,
)
from pykudu_sql.results.result import Outcome, RowResult, header
from pykudu_sql.settings import EMBEDDED
from pykudu_sql.storage.common.partition.partition_pruner import prune
from pykudu_sql.storage.common.predicate.key_bounds import bounds
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.upkeep.introspection import RowSetInfo

_HEADER = header(("plan", DataType(Kind.STRING)))

Runner = Callable[[ParameterValues], Outcome]
# The rows of a query, and what the operators of the engine did.
_Run = tuple[int, dict[str, Any] | None]


def explain_plan(state: SessionState, plan: Explain, parameters: ParameterValues) -> Outcome:
    """EXPLAIN without running anything."""
    if plan.parameters and not len(parameters):
        return _outcome(plan, ExplainFacts())
    scans = _scan_facts(state, plan.plan, parameters)
    choice = _engine_choice(state, plan.plan, parameters)
    operators = None
    if plan.format is ExplainFormat.JSON and not isinstance(choice, OnSpark):
        operators = planned_operators(state, plan.plan, parameters)
    engine = _engine_facts(plan.plan, choice)
    lookup = None
    if plan.format is ExplainFormat.JSON and isinstance(plan.plan, KeyLookup):
        lookup = _lookup(state, plan.plan, parameters)
    facts = ExplainFacts(parameters, scans, None, None, engine, operators, lookup)
    return _outcome(plan, facts)


def analyze_plan(
    state: SessionState, plan: Explain, run: Runner, parameters: ParameterValues
) -> Outcome:
    """EXPLAIN ANALYZE: runs the plan, writes included, and reports rows and times.

    `run`: runs the plan that is explained.
    """
    estimates = _scan_facts(state, plan.plan, parameters)
    choice = _engine_choice(state, plan.plan, parameters)
    started = time.perf_counter()
    if isinstance(plan.plan, Query) and not isinstance(choice, OnSpark):
        run_query = _profiled if plan.format is ExplainFormat.JSON else _counted
        query, rows, scans, operators = _measure(state, plan.plan, parameters, estimates, run_query)
        plan = replace(plan, plan=query)
    else:
        operators = None
        rows, scans = run(parameters).rowcount, estimates
    seconds = time.perf_counter() - started
    engine = _engine_facts(plan.plan, choice)
    count = rows if rows >= 0 else None
    facts = ExplainFacts(parameters, scans, count, seconds, engine, operators)
    return _outcome(plan, facts)


def _lookup(
    state: SessionState, plan: KeyLookup, parameters: ParameterValues
) -> dict[str, Any] | None:
    """Where the row of a key lies now; None where no row can have the key."""
    try:
        key = bind_key(plan.key, parameters)
    except EngineRequiredError:
        return None
    return None if key is None else asdict(state.store.trace_key(plan.table, key))


def _selected_query(plan: Plan) -> Query | None:
    """The query of a statement that the selected engine answers; others belong to the embedded."""
    match plan:
        case Query():
            return plan
        case InsertQuery() | CreateTable() | CopyTo():
            return plan.query
        case InsertReturning() | ConflictInsert():
            return _selected_query(plan.rows)
        case _:
            return None


def _engine_choice(
    state: SessionState, plan: Plan, parameters: ParameterValues
) -> EngineChoice | None:
    """The engine for a statement; None in a session that uses the embedded one alone."""
    query = _selected_query(plan)
    if query is None or state.settings.engine == EMBEDDED:
        return None
    from pykudu_sql.executor.reading.spark_queries import choose_engine

    return choose_engine(state, query, parameters, state.transactions.reading())


def _engine_facts(plan: Plan, engine: EngineChoice | None) -> EngineFacts | None:
    query = _selected_query(plan)
    if engine is None or query is None:
        return None
    if isinstance(engine, Embedded):
        return EngineFacts(EMBEDDED, query.sql, engine.reason)
    conditions = {
        name: relation.where
        for name, relation in engine.relations.items()
        if relation.where is not None
    }
    return EngineFacts("spark", engine.sql, conditions=conditions)


def _outcome(plan: Explain, facts: ExplainFacts) -> Outcome:
    if plan.format is ExplainFormat.JSON:
        return Outcome(RowResult(_HEADER, [(explain_json(plan, facts),)]), 1)
    rows = [(line,) for line in explain(plan, facts)]
    return Outcome(RowResult(_HEADER, rows), len(rows))


def _counted(
    state: SessionState,
    query: Query,
    relations: Mapping[str, Relation],
    parameters: ParameterValues,
) -> _Run:
    """Run a query; how many rows it has."""
    return run_engine(state, query, relations, parameters).table.num_rows, None


def _profiled(
    state: SessionState,
    query: Query,
    relations: Mapping[str, Relation],
    parameters: ParameterValues,
) -> _Run:
    """The same, and what the operators of the engine did."""
    profile = state.engine.profiled(*engine_request(state, query, relations, parameters))
    if profile is None or profile.rows is None:
        return _counted(state, query, relations, parameters)
    return profile.rows, operator_json(profile, relations)


def _measure(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    estimates: dict[str, ScanFacts],
    run_query: Callable[[SessionState, Query, Mapping[str, Relation], ParameterValues], _Run],
) -> tuple[Query, int, dict[str, ScanFacts], dict[str, Any] | None]:
    """Run a query scan by scan.

    Returns the query that gave the rows, which reads whole tables where limits gave too few, and
    few blocks where the first rows by a column were enough; how many rows; what each scan returned;
    what the engine did, if `run_query` tells.
    """
    transaction = state.transactions.reading()
    for narrowed in narrowed_queries(state, query, parameters, transaction):
        measured = _measure(state, narrowed, parameters, estimates, run_query)
        if query.has_first_rows(measured[1]):
            return measured
    reports: dict[str, ScanReport] = {}
    form, relations = read_for(state, query, parameters, transaction, reports)
    rows, operators = run_query(state, form, relations, parameters)
    if query.is_cut_short(rows_at_hand(relations), rows):
        return _measure(state, query.unlimited(), parameters, estimates, run_query)
    facts = {name: _measured(estimates[name], report) for name, report in reports.items()}
    return query, rows, facts, operators


def _measured(before: ScanFacts, report: ScanReport) -> ScanFacts:
    """What became of a scan. A stream is read while the engine works, so it has no time."""
    after = replace(before, stats=report.stats, filtered_by=report.filtered_by)
    if report.rows is not None:
        return replace(after, rows=report.rows, seconds=report.seconds)
    return replace(after, rows=report.stats.rows_returned)


def _scan_facts(
    state: SessionState, plan: Plan, parameters: ParameterValues
) -> dict[str, ScanFacts]:
    return {scan.name: _facts_of(state, scan, parameters) for scan in scans_of(plan)}


def _facts_of(state: SessionState, scan: Scan, parameters: ParameterValues) -> ScanFacts:
    table = scan.table
    predicate = bind_predicate(scan.predicate, parameters)
    tablets = frozenset(prune(table.schema, table.partition_schema, predicate))
    low, high = bounds(predicate, table.schema.key_columns)
    rowsets = state.store.rowset_infos(table)
    read_ones = [r for r in rowsets if r.tablet in tablets and _overlaps(r, low, high)]
    return ScanFacts(len(rowsets), len(read_ones))


def _overlaps(rowset: RowSetInfo, low: bytes | None, high: bytes | None) -> bool:
    """Whether a rowset's keys overlap a range."""
    return (low is None or rowset.max_key >= low) and (high is None or rowset.min_key < high)
