"""Queries: from a statement to scans and the engine's SQL over them.

Binds the query, runs the passes over it, and prints what is left of the statement in the engine's
dialect over the scans' names.
"""

from dataclasses import replace
from functools import partial

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind, bind_rows
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.functions.aggregate_states import CALLS, has_states
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import KeyLookup, Query
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.pushdown.early_subqueries import early_form
from pykudu_sql.planner.pushdown.key_access import GeneralPlan, key_lookup
from pykudu_sql.planner.pushdown.null_order import null_free_form
from pykudu_sql.planner.pushdown.runtime_filters import runtime_filters
from pykudu_sql.planner.pushdown.sorted_groups import sorted_groups
from pykudu_sql.planner.pushdown.words.dictionary_grouping import coded_groups
from pykudu_sql.planner.pushdown.words.word_conditions import word_conditions
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.pass_trace import run_traced
from pykudu_sql.planner.query.passes import PASSES
from pykudu_sql.storage.errors import SourceSpan, SyntaxError


def plan_query(source: SourceText, context: PlanContext) -> Query | KeyLookup:
    """Plan a SELECT, VALUES, WITH or set operation.

    Args:
        context: tables and time; `now` fixed for the statement.
        start: where the query begins in it.

    Raises SyntaxError, ProgrammingError, NotSupportedError: the statement is wrong or not offered.
    """
    bound = bind(parse_rows(source), context)
    general = GeneralPlan(partial(plan_query, source), context)
    lookup = key_lookup(bound, context, general)
    return lookup if lookup is not None else finish(bound, context)


def plan_rows(source: SourceText, context: PlanContext, scans_before: int = 0) -> Query:
    """Plan a query whose rows another statement takes in; never a key look-up.

    `text`, `context`, `start`: see `plan_query`; `scans_before`: see `finish`.
    """
    return finish(bind_rows(parse_rows(source), context), context, scans_before)


def parse_rows(source: SourceText) -> exp.Query | exp.Values:
    """The tree of a query or of VALUES, whose rows another statement takes in.

    Parentheses around all of it, as COPY has them, are left out: passes look at the query itself.
    `text`, `start`: see `plan_query`. Raises SyntaxError: it is no query.
    """
    tree = parse(source.text, source.start)
    while isinstance(tree, exp.Subquery) and not any(
        value for name, value in tree.args.items() if name != "this"
    ):
        tree = tree.this.pop()
    if not isinstance(tree, exp.Query | exp.Values):
        raise SyntaxError(
            "this is not a statement",
            hint="docs/sql/queries.md says what there is",
            span=SourceSpan(source.start),
        )
    return tree


def finish(bound: BoundQuery, context: PlanContext, scans_before: int = 0) -> Query:
    """The physical plan of a bound query, whose tree is used up.

    `bound`: the query; `scans_before`: scans of the statement's other queries, whose names come
    first.
    """
    query = LogicalQuery.of(bound, scans_before)
    if context.trace is not None:
        return _physical(run_traced(query, PASSES, context, context.trace))
    for step in PASSES:
        query = step.run(query, context)
    return _physical(query)


def _physical(query: LogicalQuery) -> Query:
    """The scans and the residual statement that passes have left."""
    bound, limit = query.bound, query.limit
    sql = to_sql(query.tree)
    keys, words, parameters = query.group_keys, query.word_columns, query.parameters
    coded = coded_groups(query.tree, keys, len(parameters)) if keys else None
    plan = Query(
        sql,
        query.tree,
        query.scans,
        parameters,
        bound.names,
        not bound.volatile,
        None if limit is None else limit.expected,
        query.summary,
        runtime_filters(query.equalities, query.scan_names),
        query.lists,
        bound.timestamp_parameters,
        coded,
        query.parameter_types,
        query.compared,
        query.assigned,
        query.computed,
        query.scanned,
        counted=query.counted,
        top=query.top,
        has_states=query.nodes.has(*CALLS) and has_states(query.nodes.all(*CALLS)),
        null_free=null_free_form(query.tree) if query.nodes.has(exp.Window) else None,
    )
    if words:
        plan = replace(plan, word_conditions=word_conditions(plan, words))
    groups_of = partial(sorted_groups, bound=bound, decided=query.decided, scans=query.scan_names)
    early = early_form(plan, query.early, groups_of) if query.early else None
    if early is not None:
        return replace(plan, early=early)
    if query.nodes.has(exp.Group, exp.Distinct):
        return replace(plan, sorted_groups=groups_of(plan))
    return plan
