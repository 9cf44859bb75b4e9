"""The rewrite passes between a bound query and its physical plan, in their order.

Each is a function from query to query and rests on what those before it have left; the table in
docs/architecture/planner.md says what. `EXPLAIN (PASSES)` shows what each does to a statement, and
`tests/planner/query/passes` has a golden for each.
"""

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.constant_folding.moment import CURRENT_KINDS, fold_current
from pykudu_sql.planner.functions.copied_values import COPYING, bound_copies
from pykudu_sql.planner.functions.exact_literals import is_written_long, type_literals
from pykudu_sql.planner.functions.gathering_windows import bound_windows
from pykudu_sql.planner.functions.rules import IS_RULED, apply_rules
from pykudu_sql.planner.functions.session_functions import SESSION_KINDS
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.pushdown.early_subqueries import mark_early_subqueries
from pykudu_sql.planner.pushdown.limit_pushdown import counted_columns, row_limit, summaries
from pykudu_sql.planner.pushdown.pushdown import push_down
from pykudu_sql.planner.pushdown.runtime_filters import join_equalities
from pykudu_sql.planner.pushdown.scanned_rows import scanned_rows
from pykudu_sql.planner.pushdown.top_rows import top_rows, top_rows_of_subqueries
from pykudu_sql.planner.pushdown.transitive import with_equalities
from pykudu_sql.planner.pushdown.validity import with_validity
from pykudu_sql.planner.pushdown.words.dictionary_grouping import mark_group_keys
from pykudu_sql.planner.pushdown.words.word_conditions import mark_word_conditions
from pykudu_sql.planner.query.list_relations import name_long_lists
from pykudu_sql.planner.query.logical_query import LogicalQuery
from pykudu_sql.planner.query.long_alternatives import group_alternatives
from pykudu_sql.planner.query.parameters import number_parameters
from pykudu_sql.planner.query.scan_planning import hide_counters, plan_scans, qualify_columns
from pykudu_sql.planner.type_coercion.compared_parameters import (
    assigned_parameters,
    compared_parameters,
    meet_floats,
)
from pykudu_sql.planner.type_coercion.compared_texts import read_compared_texts
from pykudu_sql.planner.type_coercion.computed_parameters import computed_numbers
from pykudu_sql.planner.type_coercion.decimal_texts import WRITING, write_zeros
from pykudu_sql.planner.type_coercion.exact_decimals import (
    COMPARING,
    COMPARISONS,
    compare_exactly,
    mark_numbers,
)
from pykudu_sql.planner.type_coercion.text_moments import OF_MOMENTS, read_texts_as_moments
from pykudu_sql.planner.type_coercion.type_conflicts import (
    check_compared,
    check_recursive,
    check_united,
    check_unnested,
    check_using,
)
from pykudu_sql.planner.type_coercion.united_decimals import UNITING, unite_exactly
from pykudu_sql.planner.types.column_sizes import note_cells, note_computed_sizes
from pykudu_sql.planner.types.expression_types import ExpressionTypes
from pykudu_sql.planner.value_bounds.gathered_values import CHECKED, bound_exact
from pykudu_sql.planner.value_bounds.value_bounds import bound_values


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of planning a query.

    Attributes:
        name: as EXPLAIN (PASSES) shows it.
        apply: the query after the step; the one that was given is used up.
        concerns: classes of nodes, without all of which the step changes nothing; none for a step
            that every query takes.
    """

    name: str
    apply: Callable[[LogicalQuery, PlanContext], LogicalQuery]
    concerns: tuple[type[exp.Expr], ...] = ()

    def run(self, query: LogicalQuery, context: PlanContext) -> LogicalQuery:
        """The query after the step, or as it is if the step does not concern it."""
        check_cancelled()
        if self.concerns and not query.nodes.has(*self.concerns):
            return query
        return self.apply(query, context)


def _fold_session_facts(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return query.with_tree(fold_current(query.tree, context))


def _push_down_predicates(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    pushed = push_down(query.bound, context)
    if not pushed.predicates and not pushed.decided:
        return query
    return replace(query, predicates=pushed.predicates, decided=pushed.decided)


def _infer_predicates(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    joined, pushed = join_equalities(query.bound), query.predicates
    if not joined:
        return query
    inferred = with_equalities(pushed, joined) if pushed else pushed
    return replace(query, predicates=inferred, equalities=joined)


def _push_down_limit(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    tree, bound = query.tree, query.bound
    limit, summary = row_limit(tree, bound), summaries(tree, bound)
    top = None if limit is not None else top_rows(tree, bound)
    if not (limit or summary or top):
        return query
    return replace(query, limit=limit, summary=summary, top=top)


def _hand_on_rows(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    tree, bound, decided = query.tree, query.bound, query.decided
    scanned = scanned_rows(tree, bound, decided)
    if scanned is not None:
        return replace(query, scanned=scanned)
    counted = counted_columns(tree, bound, decided)
    return replace(query, counted=counted) if counted else query


def _derive_types(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    nodes, absent = query.nodes, query.bound.maybe_absent
    types = ExpressionTypes(context, _engine_form, absent)
    for select in query.bound.selects:
        check_using(select.scope, types)
    for clause in nodes.all(exp.With):
        for cte in clause.expressions if clause.recursive else ():
            check_recursive(cte, types)
    check_united(nodes.all(exp.SetOperation), types)
    if read_texts_as_moments(nodes.all(*OF_MOMENTS), types):
        query = query.with_tree(query.tree)
        nodes = query.nodes
    if query.has_decimals() and write_zeros(nodes.all(*WRITING), types):
        query = query.with_tree(query.tree)
        nodes = query.nodes
    check_unnested(nodes.all(exp.Explode), types)
    check_compared(nodes.all(*COMPARING), types)
    if read_compared_texts(nodes.all(*COMPARING), types, context):
        query = query.with_tree(query.tree)
        nodes = query.nodes
    if meet_floats(nodes.all(*COMPARING), types):
        query = query.with_tree(query.tree)
        nodes = query.nodes
    mark_numbers(nodes.all(*COMPARISONS), context)
    placeholders = nodes.all(exp.Placeholder)
    return replace(
        query,
        types=types,
        compared=compared_parameters(nodes.nodes, types) if placeholders else (),
        assigned=assigned_parameters(placeholders),
    )


def _engine_form(node: exp.Expr) -> exp.Expr:
    return bound_values(apply_rules(node))


def _choose_top_rows(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    tops = top_rows_of_subqueries(query.bound, query.scan_names)
    if not tops:
        return query
    scans = tuple(replace(scan, top=tops.get(scan.name)) for scan in query.scans)
    return replace(query, scans=scans)


def _choose_early_subqueries(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    early = mark_early_subqueries(query.bound, query.scan_names, query.first_scan)
    return replace(query, early=early) if early else query


def _choose_group_codes(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return replace(query, group_keys=mark_group_keys(query.bound, query.scan_names))


def _choose_word_conditions(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    columns = mark_word_conditions(query.bound, query.scan_names, context)
    return replace(query, word_columns=columns) if columns else query


def _name_long_lists(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    prefix = f"{SCAN_PREFIX}list_{query.first_scan}_"
    lists = name_long_lists(query.nodes.all(exp.In), prefix)
    return replace(query.with_tree(query.tree), lists=lists)


def _fold_names(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    """Lower the case of names beyond ASCII, for which the engine is case-sensitive."""
    for name in query.nodes.all(exp.Identifier):
        if not name.this.isascii():
            name.set("this", name.this.lower())
    return query


def _apply_compatibility_rules(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    types = query.types or ExpressionTypes(context, _engine_form, query.bound.maybe_absent)
    columns = query.nodes.all(exp.Column)
    note_cells(columns, types)
    if not any(clause.recursive for clause in query.nodes.all(exp.With)):
        note_computed_sizes(columns)
    return query.with_tree(apply_rules(query.tree)) if query.nodes.has_any(IS_RULED) else query


def _bound_values(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    return query.with_tree(bound_values(query.tree))


def _compare_exactly(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    types = ExpressionTypes(context, _as_it_is)
    has_decimals = query.has_decimals()
    if has_decimals or (query.nodes.has(exp.Placeholder) and query.nodes.has(*UNITING)):
        unite_exactly(query.nodes.nodes, types)
        query = query.with_tree(query.tree)
    if has_decimals and query.nodes.has(exp.Placeholder):
        query = replace(query, computed=computed_numbers(query.nodes.nodes, types))
    may_be_decimal = has_decimals or query.nodes.has(exp.Placeholder)
    is_rewritten = compare_exactly(query.nodes.all(*COMPARING), types if may_be_decimal else None)
    return query.with_tree(query.tree) if is_rewritten else query


def _bound_comparisons(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    if query.nodes.has(exp.Window) and bound_windows(query.nodes.all(exp.Window)):
        query = query.with_tree(query.tree)
    types = ExpressionTypes(context, _as_it_is)
    return query.with_tree(bound_exact(query.tree, query.nodes.nodes, types.rule_name))


def _bound_copies(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    types = ExpressionTypes(context, _as_it_is)
    is_bounded = bound_copies(query.nodes.all(*COPYING), types.rule_name)
    return query.with_tree(query.tree) if is_bounded else query


def _as_it_is(node: exp.Expr) -> exp.Expr:
    return node


def _type_literals(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    if not any(map(is_written_long, query.nodes.all(exp.Literal))):
        return query
    return query.with_tree(type_literals(query.tree))


def _group_alternatives(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    is_grouped = group_alternatives(query.nodes.all(exp.Or))
    return query.with_tree(query.tree) if is_grouped else query


def _choose_validity(query: LogicalQuery, context: PlanContext) -> LogicalQuery:
    columns = query.nodes.all(exp.Column)
    return replace(query, scans=with_validity(query.scans, query.scan_names, query.bound, columns))


PASSES: tuple[Pass, ...] = (
    Pass("fold_session_facts", _fold_session_facts, (*CURRENT_KINDS, *SESSION_KINDS)),
    Pass("push_down_predicates", _push_down_predicates),
    Pass("infer_predicates", _infer_predicates),
    Pass("hide_counters", hide_counters),
    Pass("push_down_limit", _push_down_limit),
    Pass("hand_on_rows", _hand_on_rows),
    Pass("derive_types", _derive_types),
    Pass("plan_scans", plan_scans),
    Pass("qualify_columns", qualify_columns),
    Pass("choose_top_rows", _choose_top_rows, (exp.Limit,)),
    Pass("choose_early_subqueries", _choose_early_subqueries, (exp.Subquery, exp.In)),
    Pass("choose_group_codes", _choose_group_codes, (exp.Group,)),
    Pass("choose_word_conditions", _choose_word_conditions, (exp.Where,)),
    Pass("name_long_lists", _name_long_lists, (exp.In,)),
    Pass("fold_names", _fold_names),
    Pass("apply_compatibility_rules", _apply_compatibility_rules),
    Pass("bound_values", _bound_values),
    Pass("compare_exactly", _compare_exactly),
    Pass("bound_comparisons", _bound_comparisons, (*CHECKED, exp.Window)),
    Pass("bound_copies", _bound_copies, COPYING),
    Pass("type_literals", _type_literals),
    Pass("number_parameters", number_parameters),
    Pass("group_alternatives", _group_alternatives, (exp.Or,)),
    Pass("choose_validity", _choose_validity),
)
