"""Clauses of a call that only aggregates and windows take: DISTINCT, ORDER BY, FILTER, OVER."""

from collections.abc import Mapping

from sqlglot import exp

from pykudu_sql.planner.functions.functions import gathers, written_name
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import ProgrammingError

# Inside of the parentheses, and behind them.
_INSIDE: Mapping[type[exp.Expr], str] = {exp.Distinct: "DISTINCT", exp.Order: "ORDER BY"}
_BEHIND: Mapping[type[exp.Expr], str] = {
    exp.Filter: "FILTER",
    exp.Window: "OVER",
    exp.WithinGroup: "WITHIN GROUP",
    exp.IgnoreNulls: "IGNORE NULLS",
    exp.RespectNulls: "RESPECT NULLS",
}


def check_call_clause(node: exp.Expr) -> None:
    """See that such a clause belongs to an aggregate or a window function.

    `node`: of an expression; of a clause or not. Raises ProgrammingError: it belongs to another
    function (42809).
    """
    clause = _INSIDE.get(type(node))
    if clause is not None:
        call = node.parent
        while call is not None and type(call) in _INSIDE:
            call = call.parent
    elif type(node) in _BEHIND:
        clause = _BEHIND[type(node)]
        call = node.this
        while call is not None and type(call) in _BEHIND:
            call = call.this
        if type(call) in (*_INSIDE, exp.Column) and isinstance(node.parent, exp.Func):
            call = node.parent  # f(x IGNORE NULLS)
    else:
        return
    if not isinstance(call, exp.Func) or gathers(call):
        return
    name = written_name(call)
    raise ProgrammingError(
        f"{clause} belongs to aggregates, and {'this function' if name is None else name + '()'}"
        " is none",
        span=node_span(call),
        sqlstate="42809",
    )
