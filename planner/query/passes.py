"""The rewrite passes between a bound query and its physical plan, in their order.

Each is a function from query to query and rests on what those before it have left; the table in
docs/architecture/planner.md says what. `EXPLAIN (PASSES)` shows what each does to a statement, and
`tests/planner/passes` has a golden for each.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.bind.bound_query import table_of
from pykudu_sql.planner.bind.moment import fold_current
from pykudu_sql.planner.functions.exact_literals import type_literals
from pykudu_sql.planner.functions.rules import apply_rules
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.group_codes import mark_group_keys
from pykudu_sql.planner.pushdown.limit_pushdown import row_limit, summaries
from pykudu_sql.planner.pushdown.pushdown import push_down
from pykudu_sql.planner.pushdown.runtime_filters import join_equalities
from pykudu_sql.planner.pushdown.transitive import with_equalities
from pykudu_sql.planner.query.column_types import may_outgrow, note_types
from pykudu_sql.planner.query.compared_parameters import (
    assigned_parameters,
    compared_parameters,
)
from pykudu_sql.planner.query.exact_decimals import compare_exactly, mark_numbers
from pykudu_sql.planner.query.list_relations import name_long_lists
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.number_types import NumberTypes
from pykudu_sql.planner.query.parameters import number_parameters
from pykudu_sql.planner.query.scan_planning import hide_counters, plan_scans, qualify_columns
from pykudu_sql.planner.query.united_decimals import decimals_meet, unite_exactly
from pykudu_sql.planner.value_bounds.value_bounds import bound_values
from pykudu_sql.planner.value_bounds.value_sizes import mark_cells


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of planning a query.

    Attributes:
        name: as EXPLAIN (PASSES) shows it.
        apply: the query after the step; the one that was given is used up.
    """

    name: str
    apply: Callable[[LogicalQuery, PlanContext], LogicalQuery]


def _fold_session_facts(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, tree=fold_current(query.tree, context))


def _push_down_predicates(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, predicates=push_down(query.bound, context))


def _infer_predicates(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    joined, pushed = join_equalities(query.bound), query.predicates
    if pushed and joined:
        pushed = with_equalities(pushed, joined)
    return replace(query, predicates=pushed, equalities=joined)


def _push_down_limit(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    tree, bound = query.tree, query.bound
    return replace(query, limit=row_limit(tree, bound), summary=summaries(tree, bound))


def _type_comparisons(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    is_wide = may_outgrow(query.tree, query.bound) and decimals_meet(query.tree, query.bound)
    if is_wide:
        note_types(query.bound, NumberTypes(context, _engine_form))
    mark_numbers(query.tree, query.bound, context)
    return replace(
        query,
        has_wide_decimals=is_wide,
        compared=compared_parameters(query.tree),
        assigned=assigned_parameters(query.tree),
    )


def _engine_form(node: exp.Expr) -> exp.Expr:
    return bound_values(apply_rules(node))


def _choose_group_codes(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, group_keys=mark_group_keys(query.bound, query.scan_names))


def _name_long_lists(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    prefix = f"{SCAN_PREFIX}list_{query.first_scan}_"
    return replace(query, lists=name_long_lists(query.tree, prefix))


def _fold_names(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    """Lower the case of names beyond ASCII, which the engine tells apart by case and we do not."""
    for name in query.tree.find_all(exp.Identifier):
        if not name.this.isascii():
            name.set("this", name.this.lower())
    return query


def _detect_joins(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, has_joins=_has_joins(query.tree))


def _has_joins(tree: exp.Expr) -> bool:
    """Whether a query joins tables, or asks a subquery for each row."""
    if tree.find(exp.Join, exp.Lateral) is not None:
        return True
    for select in tree.find_all(exp.Select):
        reader = select.parent
        while isinstance(reader, exp.Subquery | exp.Union):
            reader = reader.parent
        if reader is not None and not isinstance(reader, exp.From | exp.CTE):
            return True
    return False


def _apply_compatibility_rules(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    mark_cells(query.tree, table_of)
    return replace(query, tree=apply_rules(query.tree))


def _bound_values(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, tree=bound_values(query.tree))


def _compare_exactly(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    types = NumberTypes(context, _as_it_is) if query.has_wide_decimals else None
    if types is not None:
        unite_exactly(query.tree, types)
    compare_exactly(query.tree, types)
    return query


def _as_it_is(node: exp.Expr) -> exp.Expr:
    return node


def _type_literals(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, tree=type_literals(query.tree))


PASSES: tuple[Pass, ...] = (
    Pass("fold_session_facts", _fold_session_facts),
    Pass("push_down_predicates", _push_down_predicates),
    Pass("infer_predicates", _infer_predicates),
    Pass("hide_counters", hide_counters),
    Pass("push_down_limit", _push_down_limit),
    Pass("type_comparisons", _type_comparisons),
    Pass("plan_scans", plan_scans),
    Pass("qualify_columns", qualify_columns),
    Pass("choose_group_codes", _choose_group_codes),
    Pass("name_long_lists", _name_long_lists),
    Pass("fold_names", _fold_names),
    Pass("detect_joins", _detect_joins),
    Pass("apply_compatibility_rules", _apply_compatibility_rules),
    Pass("bound_values", _bound_values),
    Pass("compare_exactly", _compare_exactly),
    Pass("type_literals", _type_literals),
    Pass("number_parameters", number_parameters),
)
