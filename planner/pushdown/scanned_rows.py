"""Rows handed on: queries whose result is what the scan of their one table gives.

That is a SELECT of plain columns whose WHERE the scan decides exactly, in no order or in that of
the key, with or without LIMIT. The engine would only copy its rows, and takes more time to set
that up than a short range of keys takes to read.

A condition is decided by the scan when every part of it is pushed down and none wider than it is
written: comparisons, BETWEEN and IN of columns with values of their own kind, IS [NOT] NULL, and
AND and OR of these.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.bound_query import BoundQuery, table_of
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.constant_folding.constant import Hole, written_constant
from pykudu_sql.planner.operands.exact_comparison import compares_exactly, is_date, is_timestamp
from pykudu_sql.planner.operands.value import Parameter
from pykudu_sql.planner.parse.long_list import long_list
from pykudu_sql.planner.plan.query_plans import ScannedRows
from pykudu_sql.planner.pushdown.key_access import plain_outputs
from pykudu_sql.planner.pushdown.limit_pushdown import ROWS_ONLY, is_by_key, only_table, row_count
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Kind

_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_OF_THE_TABLE = frozenset({"this", "db", "catalog", "alias", "version"})


def scanned_rows(tree: exp.Expr, bound: BoundQuery) -> ScannedRows | None:
    """What the rows of a query's scan are to its result; None where they are not all it needs.

    `tree`: of the query, its table not yet replaced by the scan.
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
    where = tree.args.get("where")
    holes = [] if where is None else _holes(where.this, reference)
    if holes is None:
        return None
    order = ScanOrder.KEY if ordering else ScanOrder.NONE
    return ScannedRows(tuple(outputs), order, skipped, tuple(dict.fromkeys(holes)))


def _holes(condition: exp.Expr, reference: TableReference) -> list[Parameter] | None:
    """The parameters of a condition that the scan decides; None if it does not in any case."""
    holes: list[Parameter] = []
    pending = [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Paren | exp.And | exp.Or):
            pending += [each for each in (node.this, node.args.get("expression")) if each]
            continue
        part_holes = _holes_of_part(node, reference)
        if part_holes is None:
            return None
        holes += part_holes
    return holes


def _holes_of_part(node: exp.Expr, reference: TableReference) -> Sequence[Parameter] | None:
    """The same for a part without AND and OR."""
    if isinstance(node, exp.Not | exp.Is):
        test = _without_parentheses(node.this) if isinstance(node, exp.Not) else node
        is_test = isinstance(test, exp.Is) and isinstance(test.expression, exp.Null)
        return () if is_test and _column(test.this, reference) is not None else None
    if isinstance(node, exp.Column):
        column = _column(node, reference)
        return () if column is not None and column.type.kind is Kind.BOOL else None
    operands = _operands(node)
    columns = [column for each in operands if (column := _column(each, reference)) is not None]
    # A value between a constant and a column, or in a list with a column, is not pushed down.
    is_written_around = not isinstance(node, _COMPARISONS) and _column(node.this, reference) is None
    if len(columns) != 1 or is_written_around:
        return None
    values = [each for each in operands if _column(each, reference) is None]
    return _exact_holes(columns[0], values)


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """What a comparison, BETWEEN or IN compares; nothing of other conditions."""
    match node:
        case exp.Between() if not node.args.get("symmetric"):
            return [node.this, node.args["low"], node.args["high"]]
        case exp.In() if node.expressions and long_list(node.args.get("query")) is None:
            return [node.this, *node.expressions]
        case _ if isinstance(node, _COMPARISONS):
            return [node.this, node.expression]
        case _:
            return []


def _exact_holes(column: ColumnSchema, values: Sequence[exp.Expr]) -> list[Parameter] | None:
    """The parameters among values that a column is compared with exactly."""
    holes: list[Parameter] = []
    for value in map(_without_parentheses, values):
        constant = written_constant(value)
        if isinstance(constant, Hole):
            holes.append(Parameter(constant.key, column.type, column.name))
        elif (
            constant is None
            or not compares_exactly(column.type, constant.value)
            or not all(map(_is_read_alike, _cast_texts(value)))
        ):
            return None
    return holes


def _cast_texts(value: exp.Expr) -> Iterator[str]:
    """The text that a constant is cast from, if it is."""
    if isinstance(value, exp.Cast):
        yield str(value.this.this)


def _is_read_alike(text: str) -> bool:
    return is_date(text) or is_timestamp(text)


def _column(node: exp.Expr, reference: TableReference) -> ColumnSchema | None:
    """The table's column that an operand is."""
    plain = _without_parentheses(node)
    if not isinstance(plain, exp.Column) or table_of(plain) is not reference:
        return None
    return reference.column(plain.name.lower())


def _without_parentheses(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node
