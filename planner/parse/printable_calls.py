"""Calls that sqlglot's generators print wrong, or change while they print them.

The generators get trees as they are, not copies: a tree may be printed again, as another form of
its query, and must say the same then. What a generator would change is replaced in a copy here.
"""

from sqlglot import exp

from pykudu_sql.planner.parse.using_lists import is_comma
from pykudu_sql.planner.tree_nodes import nodes_of, with_node

_QUANTILES = {exp.PercentileCont: "QUANTILE_CONT", exp.PercentileDisc: "QUANTILE_DISC"}


def with_printable_aggregates(tree: exp.Expr) -> exp.Expr:
    """A tree whose `string_agg` sqlglot prints right, a copy; the tree itself if it has none.

    sqlglot prints `string_agg` with the first ORDER BY that it comes to within the argument, that
    of a subquery too, and takes the argument out of the tree meanwhile.
    """
    if not nodes_of(tree, exp.GroupConcat):
        return tree
    tree = tree.copy()
    for call in reversed(nodes_of(tree, exp.GroupConcat)):
        if not _is_misprinted(call):
            continue
        separator = call.args.get("separator") or exp.Literal.string(",")
        joined = exp.Anonymous(this="LISTAGG", expressions=[call.this, separator])
        tree = with_node(tree, call, joined)
    return tree


def _is_misprinted(call: exp.Expr) -> bool:
    """Whether an ORDER BY stands within what `string_agg` joins, and none is its own."""
    return not isinstance(call.this, exp.Order | exp.Limit) and call.find(exp.Order) is not None


def with_printable_clauses(tree: exp.Expr) -> exp.Expr:
    """A tree with no clause that DuckDB's generator moves while it prints; a copy, if it has one.

    The generator puts what `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)` orders by in the place
    of the fraction, so that the second print has it twice, and cuts off the parentheses that the
    fraction ends with. The order of `array_agg` it puts into the call each time. Of
    `UNNEST(x) WITH ORDINALITY` it takes the clause out of the tree, and it writes a comma before
    `UNNEST(x)` as a join, so that USING behind it would have all tables before it on its left side.
    """
    calls = nodes_of(tree, exp.WithinGroup, exp.Unnest)
    if not any(map(_is_moved, calls)):
        return tree
    tree = tree.copy()
    for call in reversed(nodes_of(tree, exp.WithinGroup, exp.Unnest)):
        if _is_percentile(call):
            tree = with_node(tree, call, _quantile(call))
        elif _is_behind_comma(call):
            tree = with_node(tree, call, _as_table(call))
    return tree


def _is_moved(call: exp.Expr) -> bool:
    """Whether the generator changes a call, or what stands around it."""
    is_numbered = isinstance(call, exp.Unnest) and bool(call.args.get("offset"))
    return isinstance(call, exp.WithinGroup) or is_numbered or _is_behind_comma(call)


def _is_behind_comma(call: exp.Expr) -> bool:
    """Whether `UNNEST(x)` is an item of FROM behind a comma, and a JOIN stands behind it."""
    comma = call.parent
    if not isinstance(call, exp.Unnest) or not isinstance(comma, exp.Join) or not is_comma(comma):
        return False
    around = comma.parent
    joins = [] if around is None else around.args["joins"]
    return not all(map(is_comma, joins[joins.index(comma) :]))


def _as_table(call: exp.Expr) -> exp.Table:
    """`UNNEST(x)` as other table functions are in a tree, the clauses behind it beside it."""
    function = exp.Unnest(expressions=call.expressions, offset=False)
    clauses = {key: call.args.get(key) for key in ("alias", "joins")}
    return exp.Table(this=function, ordinality=call.args.get("offset"), **clauses)


def _is_percentile(call: exp.Expr) -> bool:
    return isinstance(call, exp.WithinGroup) and type(call.this) in _QUANTILES


def _quantile(call: exp.Expr) -> exp.Expr:
    """`quantile_cont(x, fraction ORDER BY x)` for a percentile within a group ordered by x."""
    order = call.expression.expressions
    fraction = exp.Order(this=call.this.this, expressions=order)
    name = _QUANTILES[type(call.this)]
    return exp.Anonymous(this=name, expressions=[order[0].this.copy(), fraction])
