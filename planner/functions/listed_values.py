"""Values compared with the ANY or ALL of a list that is written out, as IN says it.

`x = ANY (?)` and `x <> ALL (?)` with a list, as programs for PostgreSQL have them, are `x IN (...)`
and `x NOT IN (...)`: keys are looked up and scans are pruned by them. SOME is ANY. Other
comparisons, and lists that are computed, are the engine's. `x LIKE ANY (..)` and `x ILIKE ALL (..)`
are each pattern's LIKE, joined by OR and AND.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pykudu_sql.planner.functions.parameter_literals import parameter_key
from pykudu_sql.planner.operands.bound_parameters import BoundParameters
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.tree_nodes import nodes_of, with_node
from pykudu_sql.storage.errors import NotSupportedError

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_QUANTIFIERS: Mapping[str, type[exp.Any | exp.All]] = {
    "any": exp.Any,
    "some": exp.Any,
    "all": exp.All,
}


def write_as_listed(tree: exp.Expr, bound: BoundParameters | None) -> exp.Expr:
    """The tree with IN for ANY and ALL of lists of values; changed in place.

    `tree`: of a query or a condition, not bound yet; `bound`: parameters, of which lists are known.
    Raises NotSupportedError: LIKE takes patterns from a query.
    """
    for node in nodes_of(tree, *_COMPARISONS):
        quantified = _quantified(node.expression)
        if quantified is None:
            continue
        node.set("expression", quantified)
        listed = _listed(node, quantified, bound)
        if listed is not None:
            tree = with_node(tree, node, listed)
    for node in nodes_of(tree, exp.Like, exp.ILike):
        quantified = _quantified(node.expression)
        patterns = None if quantified is None else _patterns(quantified.this, bound)
        if patterns is not None:
            whole = node.parent if isinstance(node.parent, exp.Escape) else node
            tree = with_node(
                tree, whole, _each_pattern(node, patterns, isinstance(quantified, exp.All))
            )
    return tree


def _patterns(listed: exp.Expr, bound: BoundParameters | None) -> list[exp.Expr] | None:
    """The patterns of a list that is written out or a parameter; None of one that is computed.

    Raises NotSupportedError: they are the rows of a query.
    """
    if isinstance(listed, exp.Query):
        raise NotSupportedError(
            "LIKE of what a query returns is not supported",
            hint="write EXISTS (SELECT 1 FROM patterns p WHERE x LIKE p.pattern)",
            span=node_span(listed),
        )
    while isinstance(listed, exp.Paren):
        listed = listed.this
    patterns: list[exp.Expr] | None = None
    if isinstance(listed, exp.Array | exp.Tuple):
        patterns = listed.expressions
    elif isinstance(listed, exp.Literal):
        patterns = [listed]
    elif isinstance(listed, exp.Placeholder) and bound is not None:
        texts = bound.list_of(parameter_key(listed))
        if texts is not None and all(isinstance(text, str) for text in texts):
            patterns = [exp.Literal.string(text) for text in texts]
    is_nested = any(isinstance(each, exp.Query | exp.Array) for each in patterns or ())
    return None if is_nested else patterns


def _each_pattern(node: exp.Expr, patterns: Sequence[exp.Expr], takes_all: bool) -> exp.Expr:
    """A LIKE of one of some patterns, or of all of them, as a LIKE of each."""
    likes = []
    for pattern in patterns:
        like = type(node)(this=node.this.copy(), expression=pattern)
        like.meta.update(node.meta)
        if isinstance(node.parent, exp.Escape):
            like = exp.Escape(this=like, expression=node.parent.expression.copy())
        likes.append(exp.Not(this=like) if node.args.get("negate") else like)
    if not likes:
        return exp.Boolean(this=takes_all)
    join = exp.and_ if takes_all else exp.or_
    joined = exp.paren(join(*likes, copy=False), copy=False)
    joined.meta.update(node.meta)
    return joined


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
