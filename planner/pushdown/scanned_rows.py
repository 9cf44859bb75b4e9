"""Rows handed on: queries whose result is what the scan of their one table gives.

That is a SELECT of plain columns whose WHERE the scan decides exactly, in no order, in that of the
key, or sorted by columns, with or without LIMIT. The engine would only copy or sort its rows, and
takes more time to set that up than a short range of keys takes to read.

Whether it does is the push-down's to say (`pushdown.Pushed.decided`): the condition is not read
again here.
"""

from collections.abc import Set

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.plan.query_plans import ScannedRows, SortKey
from pykudu_sql.planner.pushdown.key_access import plain_outputs
from pykudu_sql.planner.pushdown.limit_pushdown import (
    ROWS_ONLY,
    column_of,
    is_by_key,
    only_table,
    row_count,
)
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.types.types import Kind

_SORTED = frozenset(
    {
        *(Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.DATE, Kind.UNIXTIME_MICROS),
        *(Kind.DECIMAL, Kind.FLOAT, Kind.DOUBLE, Kind.STRING, Kind.VARCHAR),
    }
)
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
    if skipped is None or (tree.args.get("where") is not None and reference not in decided):
        return None
    if ordering is None or is_by_key(ordering, tree, reference):
        order = ScanOrder.NONE if ordering is None else ScanOrder.KEY
        return ScannedRows(tuple(outputs), order, skipped)
    sort = _sort_keys(ordering, tree, reference)
    if sort is None:
        return None
    return ScannedRows(tuple(outputs), ScanOrder.NONE, skipped, sort, row_count(limit))


def _sort_keys(
    ordering: exp.Expr, select: exp.Select, reference: TableReference
) -> tuple[SortKey, ...] | None:
    """The stored columns that an ORDER BY consists of, each once; None of any other."""
    keys: dict[int, SortKey] = {}
    for item in ordering.expressions:
        column = column_of(item.this, select, reference) if isinstance(item, exp.Ordered) else None
        if column is None or column.type.kind not in _SORTED:
            return None
        descending, nulls_first = bool(item.args.get("desc")), bool(item.args.get("nulls_first"))
        # Rows that are equal by a column are so in both directions.
        keys.setdefault(column.id, SortKey(column.id, descending, nulls_first))
    return tuple(keys.values())
