"""Clauses of a call of a compatibility aggregate, put to the aggregate in what the call becomes.

`total(DISTINCT x) FILTER (WHERE y) OVER w` becomes `coalesce(sum(x), 0)`: DISTINCT and ORDER BY go
into the parentheses of `sum`, FILTER and OVER behind them.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.errors import NotSupportedError

_NAME = "pykudu_aggregate"  # in the meta of what a call became: its name
_UNSUPPORTED: Mapping[type[exp.Expr], str] = {
    exp.WithinGroup: "WITHIN GROUP",
    exp.IgnoreNulls: "IGNORE NULLS",
    exp.RespectNulls: "RESPECT NULLS",
    exp.Limit: "LIMIT",
    exp.HavingMax: "HAVING",
}
BEHIND_AGGREGATES = (exp.Filter, exp.Window, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
# Aggregates whose result does not depend on the order of rows.
_UNORDERED = (exp.ApproxDistinct, exp.Median, exp.PercentileCont, exp.PercentileDisc)
LOGICAL_AGGREGATES = (exp.LogicalAnd, exp.LogicalOr)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """The arguments of a call, and what stands in its parentheses besides.

    Attributes:
        arguments: without clauses.
        is_distinct: whether DISTINCT stands before them.
        order: of ORDER BY.
    """

    name: str
    arguments: Sequence[exp.Expr]
    is_distinct: bool = False
    order: Sequence[exp.Expr] = ()


def aggregate_call(name: str, arguments: Sequence[exp.Expr]) -> AggregateCall:
    """Tell a call's arguments from the clauses around them.

    Raises NotSupportedError: a clause that compatibility aggregates do not take.
    """
    for argument in arguments:
        _refuse(argument, name)
    *first, last = arguments or (None,)
    if last is None:
        return AggregateCall(name, ())
    order: Sequence[exp.Expr] = ()
    if isinstance(last, exp.Order):
        order, last = last.expressions, last.this
        _refuse(last, name)
    positional = [*first, last]
    is_distinct = isinstance(positional[0], exp.Distinct)
    if is_distinct:
        positional[:1] = positional[0].expressions
    return AggregateCall(name, positional, is_distinct, order)


def with_clauses(meaning: exp.Expr, call: AggregateCall) -> exp.Expr:
    """What a call means, with its DISTINCT and ORDER BY; a call without an aggregate as it is.

    `meaning`: of the call without them, in parentheses; changed.
    """
    aggregate = meaning.find(exp.AggFunc)
    if aggregate is None:
        return meaning
    meaning.meta[_NAME] = call.name
    argument = aggregate.this
    if call.is_distinct and not isinstance(argument, exp.Distinct):
        argument = exp.Distinct(expressions=[argument])
    if call.order and not isinstance(aggregate, _UNORDERED):
        argument = exp.Order(this=argument, expressions=[each.copy() for each in call.order])
    aggregate.set("this", argument)
    plain_logical_aggregate(aggregate)
    return meaning


def plain_logical_aggregate(node: exp.Expr) -> exp.Expr:
    """A rule: `bool_and(DISTINCT x ORDER BY y)` as `bool_and(x)`, which is the same.

    The parser's node has no room for the clauses; its printer puts them into a CAST.
    """
    if isinstance(node, LOGICAL_AGGREGATES):
        if isinstance(node.this, exp.Order):
            node.set("this", node.this.this)
        if isinstance(node.this, exp.Distinct):
            node.set("this", node.this.expressions[0])
    return node


def push_aggregate_clause(node: exp.Expr) -> exp.Expr:
    """A rule: FILTER and OVER behind what a compatibility aggregate became, moved inside of it.

    Raises NotSupportedError: a clause that compatibility aggregates do not take.
    """
    meaning = node.this if isinstance(node, BEHIND_AGGREGATES) else None
    if not isinstance(meaning, exp.Paren) or _NAME not in meaning.meta:
        return node
    name = meaning.meta[_NAME]
    _refuse(node, name)
    target = _clause_target(meaning)
    if isinstance(node, exp.Filter) and isinstance(target, exp.Filter):
        rows = exp.and_(target.expression.this, node.expression.this)
        target.set("expression", exp.Where(this=rows))
    else:
        pushed = type(node)(**{key: value for key, value in node.args.items() if key != "this"})
        target.replace(pushed)
        pushed.set("this", target)
    return meaning


def _clause_target(meaning: exp.Expr) -> exp.Expr:
    """The aggregate in an expression, with the FILTER that the expression gives it."""
    aggregate = meaning.find(exp.AggFunc)
    if aggregate is None:
        raise ValueError("the expression has no aggregate")
    outer: exp.Expr | None = aggregate.parent
    return outer if isinstance(outer, exp.Filter) else aggregate


def _refuse(node: exp.Expr, name: str) -> None:
    clause = _UNSUPPORTED.get(type(node))
    if clause is not None:
        raise NotSupportedError(
            f"{name}() takes no {clause}",
            hint="it takes DISTINCT and ORDER BY in its parentheses, FILTER and OVER behind them",
        )
