"""Exact comparisons in a type of the engine for the rows whose values it has.

Types alone say that two numbers may need more than 38 digits together; the values of nearly all
rows do not. So a comparison as integers of any length, which goes through text, is made only where
a value does not fit:

    COALESCE(TRY_CAST(x AS DECIMAL(38,6)) > TRY_CAST(y AS DECIMAL(38,6)), key of x > key of y)

What does not fit is NULL in the first form, which then says nothing or what holds whatever stood
there. Comparisons that say something of NULL (IS DISTINCT FROM, CASE) have no such form.
"""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import relation_of
from pykudu_sql.planner.functions.decimal_values import MAX_DIGITS, Digits
from pykudu_sql.planner.tree_nodes import all_nodes, children_of
from pykudu_sql.planner.types.engine_types import decimal_type
from pykudu_sql.planner.types.shared_subqueries import share_subqueries
from pykudu_sql.planner.vocabulary.function_names import is_volatile

_OF_NULL_NULL = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_QUERIES = (exp.Query, exp.Any, exp.All)
_SOURCES = (exp.Table, exp.Subquery, exp.CTE, exp.Lateral, exp.Unnest, exp.Values)
_MOST_NODES = 256  # of what is there twice then


def quick_form(
    node: exp.Expr, computed: Sequence[Digits], constants: Sequence[Digits]
) -> exp.Expr | None:
    """The form of a comparison that is NULL where a value does not fit; None if none pays.

    Args:
        node: in its tree. Its subqueries may become WITH queries there, else it stays as it is.
        computed: digits of the operands that are no constants.
        constants: digits of those that are.
    """
    nodes = all_nodes(node)
    scale = max(each.scale for each in (*computed, *constants))
    if (
        not isinstance(node, _OF_NULL_NULL)
        or scale >= MAX_DIGITS
        or any(each.whole + scale > MAX_DIGITS for each in constants)
        or len(nodes) > _MOST_NODES
        or any(map(is_volatile, nodes))
        or any(_is_row_subquery(each) for each in nodes)
        or _may_join(node)
    ):
        return None
    share_subqueries(node)
    form = node.copy()
    target = decimal_type(Digits(MAX_DIGITS - scale, scale))
    for operand in children_of(form):
        place = exp.null()
        operand.replace(place)
        place.replace(exp.TryCast(this=exp.paren(operand, copy=False), to=target.copy()))
    return form


def _is_row_subquery(node: exp.Expr) -> bool:
    """Whether a node is a query whose rows are compared, or that depends on rows around it.

    Others are computed once for both forms; see `share_subqueries`.
    """
    if not isinstance(node, _QUERIES):
        return False
    if isinstance(node, exp.Any | exp.All) or isinstance(node.parent, exp.In | exp.Exists):
        return True
    if isinstance(node, exp.Subquery):
        return False
    inside = all_nodes(node)
    names = {each.alias_or_name.lower() for each in inside if isinstance(each, _SOURCES)}
    relations = (relation_of(each) for each in inside if isinstance(each, exp.Column))
    return any(each is not None and each.alias not in names for each in relations)


def _may_join(node: exp.Expr) -> bool:
    """Whether rows of two relations may meet by a comparison: the engine joins by what is equal."""
    relations = set()
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, exp.Column):
            relations.add(relation_of(each))
        elif not isinstance(each, exp.AggFunc | exp.Query):
            pending += children_of(each)
    return len(relations) > 1
