"""Rows handed on: queries whose result is what the scan of their one table gives.

That is a SELECT of plain columns whose WHERE the scan decides exactly, in no order or in that of
the key, with or without LIMIT. The engine would only copy its rows, and takes more time to set
that up than a short range of keys takes to read.

Whether it does is the push-down's to say (`pushdown.Pushed.decided`): the condition is not read
again here.
"""

from collections.abc import Set

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import ScannedRows
from pykudu_sql.planner.pushdown.key_access import plain_outputs
from pykudu_sql.planner.pushdown.limit_pushdown import ROWS_ONLY, is_by_key, only_table, row_count
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder

_OF_THE_TABLE = frozenset({"this", "db", "catalog", "alias", "version"})


def scanned_rows(
    tree: exp.Expr, bound: BoundQuery, decided: Set[TableReference]
) -> ScannedRows | None:
    """What the rows of a query's scan are to its result; None where they are not all it needs.

    `tree`: of the query, its table not yet replaced by the scan; `decided`: see `pushdown.Pushed`.
    """
    reference = only_table(tree, bound)
    if reference is None or not reference.is_plain or bound.addressed is not None:
        return None
    if any(value for name, value in tree.args.items() if name not in ROWS_ONLY):
        return None
    if any(value for name, value in reference.node.args.items() if name not in _OF_THE_TABLE):
        return None
    assert isinstance(tree, exp.Select)
    outputs = plain_outputs(tree, reference)
    if not outputs:
        return None
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    if (limit is None and offset is not None) or (limit is not None and row_count(limit) is None):
        return None
    skipped = 0 if offset is None else row_count(offset)
    ordering = tree.args.get("order")
    if skipped is None or (ordering and not is_by_key(ordering, tree, reference)):
        return None
    if tree.args.get("where") is not None and reference not in decided:
        return None
    order = ScanOrder.KEY if ordering else ScanOrder.NONE
    return ScannedRows(tuple(outputs), order, skipped)
