"""Top rows: queries of one table that need its first rows by one of its columns.

`SELECT .. FROM t ORDER BY c DESC LIMIT 10` needs the rows whose `c` is not below that of the tenth.
Nobody knows that cell beforehand, but any cell that enough rows reach will do: it is looked for in
zone maps, or in the column alone (`storage/scan/top_bound`), and becomes a predicate of the scan.
Whether rows enough reach it shows when the query is done: it then has as many rows as its LIMIT.
DuckDB's top-N filters and the late materialization of column stores serve the same end.
"""

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.plan.query_plans import TopRows
from pykudu_sql.planner.pushdown.limit_pushdown import (
    GATHERING,
    ROWS_ONLY,
    column_of,
    only_table,
    row_count,
)
from pykudu_sql.storage.common.types.types import Kind

_MOST_ROWS = 10_000  # for more, most of the columns' blocks are read anyway
_UNORDERED = frozenset({Kind.BOOL, Kind.BINARY})  # in few values, or no order for people


def top_rows(tree: exp.Expr, bound: BoundQuery) -> TopRows | None:
    """The first rows that a query needs of its one table; None of any other query."""
    reference = only_table(tree, bound)
    if reference is None or not reference.is_plain:
        return None
    if any(value for name, value in tree.args.items() if name not in ROWS_ONLY):
        return None
    items = (*tree.expressions, tree.args.get("where"))
    if any(item is not None and item.find(*GATHERING) is not None for item in items):
        return None
    limit, offset = row_count(tree.args.get("limit")), row_count(tree.args.get("offset"))
    ordering = tree.args.get("order")
    if not limit or (offset is None and tree.args.get("offset") is not None) or not ordering:
        return None
    rows, first = limit + (offset or 0), ordering.expressions[0]
    if rows > _MOST_ROWS or not isinstance(first, exp.Ordered):
        return None
    column = column_of(first.this, tree, reference)
    if column is None or column.type.kind in _UNORDERED:
        return None
    nulls_first = bool(first.args.get("nulls_first")) and column.may_show_null
    descending, filtered = bool(first.args.get("desc")), tree.args.get("where") is not None
    return TopRows(column.id, descending, nulls_first, rows, limit, filtered)
