"""Top rows: queries of one table that need its first rows by one of its columns.

`SELECT .. FROM t ORDER BY c DESC LIMIT 10` needs the rows whose `c` is not below that of the tenth.
Nobody knows that cell beforehand, but any cell that enough rows reach will do: it is looked for in
zone maps, or in the column alone (`storage/scan/top_bound`), and becomes a predicate of the scan.
Whether rows enough reach it shows when the query is done: it then has as many rows as its LIMIT.
DuckDB's top-N filters and the late materialization of column stores serve the same end.

Of a subquery, `SELECT avg(c) FROM (SELECT c FROM t ORDER BY at DESC LIMIT 100)`, the rows of the
scan are counted instead, before anything is computed from them.
"""

from collections.abc import Mapping

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import TopRows
from pykudu_sql.planner.pushdown.limit_pushdown import (
    LimitedRows,
    column_of,
    limited_rows,
    limited_rows_of,
)
from pykudu_sql.storage.common.types.types import Kind

_MOST_ROWS = 10_000  # for more, most of the columns' blocks are read anyway
_UNORDERED = frozenset({Kind.BOOL, Kind.BINARY})  # in few values, or no order for people


def top_rows(tree: exp.Expr, bound: BoundQuery) -> TopRows | None:
    """The first rows that a query needs of its one table; None of any other query."""
    limited = limited_rows(tree, bound)
    return None if limited is None else _top_rows(tree, limited)


def top_rows_of_subqueries(
    bound: BoundQuery, scans: Mapping[TableReference, str]
) -> Mapping[str, TopRows]:
    """The first rows that are needed of scans by which subqueries read a table, by their names.

    `scans`: the name of each mention's scan. Of subqueries without WHERE, and scans that serve one
    mention.
    """
    mentions = list(scans.values())
    tops: dict[str, TopRows] = {}
    for select in bound.selects:
        node, relations = select.node, select.scope.relations
        source = node.args.get("from_")
        if len(relations) != 1 or source is None or node.args.get("where") or node is bound.tree:
            continue
        (reference,) = relations
        if not isinstance(reference, TableReference) or source.this is not reference.node:
            continue
        limited = limited_rows_of(node, reference)
        top = None if limited is None else _top_rows(node, limited)
        if top is not None and mentions.count(scans[reference]) == 1:
            tops[scans[reference]] = top
    return tops


def _top_rows(tree: exp.Expr, limited: LimitedRows) -> TopRows | None:
    if not limited.reference.is_plain or limited.ordering is None:
        return None
    first = limited.ordering.expressions[0]
    if not 0 < limited.expected <= limited.rows <= _MOST_ROWS or not isinstance(first, exp.Ordered):
        return None
    column = column_of(first.this, tree, limited.reference)
    if column is None or column.type.kind in _UNORDERED:
        return None
    nulls_first = bool(first.args.get("nulls_first")) and column.may_show_null
    descending, filtered = bool(first.args.get("desc")), tree.args.get("where") is not None
    return TopRows(column.id, descending, nulls_first, limited.rows, limited.expected, filtered)
