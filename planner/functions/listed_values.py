"""Values compared with the ANY or ALL of a list that is written out, as IN says it.

`x = ANY (?)` and `x <> ALL (?)` with a list, as programs for PostgreSQL have them, are `x IN (...)`
and `x NOT IN (...)`: keys are looked up and scans are pruned by them. SOME is ANY. Other
comparisons, and lists that are computed, are the engine's.
"""

from collections.abc import Mapping

from sqlglot import exp

from pykudu_sql.planner.functions.parameter_literals import parameter_key
from pykudu_sql.planner.operands.bound_parameters import BoundParameters
from pykudu_sql.planner.tree_nodes import nodes_of, with_node

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_QUANTIFIERS: Mapping[str, type[exp.Any | exp.All]] = {
    "any": exp.Any,
    "some": exp.Any,
    "all": exp.All,
}


def write_as_listed(tree: exp.Expr, bound: BoundParameters | None) -> exp.Expr:
    """The tree with IN for ANY and ALL of lists of values; changed in place.

    `tree`: of a query or a condition, not bound yet; `bound`: parameters, of which lists are known.
    """
    for node in nodes_of(tree, *_COMPARISONS):
        quantified = _quantified(node.expression)
        if quantified is None:
            continue
        node.set("expression", quantified)
        listed = _listed(node, quantified, bound)
        if listed is not None:
            tree = with_node(tree, node, listed)
    return tree


def _quantified(node: exp.Expr) -> exp.Any | exp.All | None:
    """ANY or ALL of a list; the parser has ALL and SOME of one as calls."""
    if isinstance(node, exp.Any | exp.All):
        return node
    kind = _QUANTIFIERS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
    if kind is None or len(node.expressions) != 1:
        return None
    return kind(this=exp.paren(node.expressions[0], copy=False))


def _listed(
    node: exp.Expr, quantified: exp.Any | exp.All, bound: BoundParameters | None
) -> exp.Expr | None:
    """IN or NOT IN of the values; None if another comparison is asked for, or values computed."""
    values: exp.Expr = quantified.this
    while isinstance(values, exp.Paren):
        values = values.this
    kind = exp.EQ if isinstance(quantified, exp.Any) else exp.NEQ
    if type(node) is not kind:
        return None
    if isinstance(values, exp.Placeholder):
        if bound is None or bound.list_of(parameter_key(values)) is None:
            return None
        items: list[exp.Expr] = [values]
    elif isinstance(values, exp.Array):
        items = values.expressions
        if any(isinstance(each, exp.Query | exp.Array) for each in items):
            return None
    else:
        return None
    listed: exp.Expr = exp.In(this=node.this, expressions=items)
    listed.meta.update(node.meta)
    if kind is exp.NEQ:
        listed = exp.paren(exp.Not(this=listed), copy=False)
        listed.meta.update(node.meta)
    return listed
