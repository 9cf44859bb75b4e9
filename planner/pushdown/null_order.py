"""Windows in descending order, where no row of the table has NULL in the column.

NULL comes first in descending order, as in PostgreSQL. DuckDB computes the first rows of each group
(`row_number() OVER (PARTITION BY k ORDER BY v DESC) <= n`) without sorting the groups only where
NULL comes last. Without NULLs that is the same, and whether a relation has some is seen when it has
been read: so the query has a second form, and says which columns must be without NULLs for it.
"""

from sqlglot import exp

from pykudu_sql.planner.plan.query_plans import NullFreeForm
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.tree_nodes import nodes_of

_NOT_AS_IT_COMES = ("joins", "laterals", "group")


def null_free_form(tree: exp.Expr) -> NullFreeForm | None:
    """The form of a query without NULLs; None where that changes nothing.

    `tree`: of the query over the names of its scans; it stays as it is.
    """
    if not any(item.args.get("desc") for item in nodes_of(tree, exp.Ordered)):
        return None
    form = tree.copy()
    columns: dict[tuple[str, str], None] = {}
    for window in nodes_of(form, exp.Window):
        order, scan = window.args.get("order"), _only_scan(window)
        if order is None or scan is None:
            continue
        for item in order.expressions:
            column = item.this
            is_last = not (item.args.get("desc") and item.args.get("nulls_first"))
            if is_last or not isinstance(column, exp.Column):
                continue
            if column.table not in ("", scan.alias_or_name):
                continue
            item.set("nulls_first", False)
            columns[scan.name, column.name] = None
    return NullFreeForm(to_sql(form), tuple(columns)) if columns else None


def _only_scan(window: exp.Window) -> exp.Table | None:
    """The one relation whose rows a window is over, if it is a scan as it comes.

    Not of groups, for ROLLUP puts NULLs into their keys, nor in ORDER BY, where a name may be that
    of an entry of the SELECT list.
    """
    select = window.find_ancestor(exp.Select, exp.Order)
    if not isinstance(select, exp.Select) or any(map(select.args.get, _NOT_AS_IT_COMES)):
        return None
    clause = select.args.get("from_")
    source = None if clause is None else clause.this
    return source if isinstance(source, exp.Table) and not source.args.get("pivots") else None
