"""Scalar subqueries that an expression is about to name twice, as WITH queries that are read twice.

    SELECT .. HAVING sum(a) > (SELECT sum(b) FROM t)

    WITH __scan_shared_0(c0) AS MATERIALIZED (SELECT sum(b) FROM t)
    SELECT .. HAVING sum(a) > (SELECT c0 FROM __scan_shared_0)

The engine computes a subquery as often as it stands there.
"""

from sqlglot import exp

from pykudu_sql.planner.bind.binder import SCAN_PREFIX
from pykudu_sql.planner.tree_nodes import children_of

_PREFIX = f"{SCAN_PREFIX}shared_"
_COLUMN = "c0"


def share_subqueries(node: exp.Expr) -> None:
    """Give the scalar subqueries of an expression to the WITH of the query that it stands in.

    They stay where the query is one inside another, which its own rewrites may take elsewhere.

    Args:
        node: in its tree, which is changed; no subquery in it depends on rows around it.
    """
    query = _root_query(node)
    if query is None:
        return
    for subquery in _subqueries(node):
        clause = query.args.get("with_")
        if clause is None:
            clause = exp.With(expressions=[])
            query.set("with_", clause)
        name = f"{_PREFIX}{len(clause.expressions)}"
        column = exp.to_identifier(_COLUMN, quoted=True)
        read = exp.select(exp.Column(this=column.copy())).from_(exp.table_(name, quoted=True))
        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=[column])
        computed = exp.CTE(this=subquery.this, alias=alias, materialized=True)
        subquery.set("this", read)
        clause.append("expressions", computed)


def _root_query(node: exp.Expr) -> exp.Expr | None:
    """The query whose clause an expression is part of; None if it is inside another."""
    query: exp.Expr | None = node.find_ancestor(exp.Query)
    while query is not None and isinstance(query.parent, exp.SetOperation):
        query = query.parent
    return query if query is not None and query.parent is None else None


def _subqueries(node: exp.Expr) -> list[exp.Subquery]:
    """The subqueries of an expression that are in no other."""
    topmost: list[exp.Subquery] = []
    pending = [node]
    for each in pending:  # which grows meanwhile
        if isinstance(each, exp.Subquery):
            topmost.append(each)
        else:
            pending += children_of(each)
    return topmost
