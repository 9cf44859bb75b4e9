"""The query behind a `ChangeQuery`: which rows, which branch each takes, and with which values."""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import NESTED_QUERIES
from pykudu_sql.planner.bind.correlation_name import CorrelationName
from pykudu_sql.planner.dml.assigned_literals import type_assigned_literals
from pykudu_sql.planner.dml.assignments import Assignment
from pykudu_sql.planner.dml.large_constants import is_large
from pykudu_sql.planner.dml.returning import ReturnedRows
from pykudu_sql.planner.plan.change_plans import ACTION, ChangeBranch, Returning
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.write_plans import Constants
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema


@dataclass(frozen=True, slots=True)
class BranchDraft:
    """A branch before the query is made: values are nodes over the query's sources.

    `values`: by column id; `constants`: those that stand beside the query (`large_constants`).
    """

    kind: RowOpKind
    values: Sequence[tuple[int, exp.Expr]]
    constants: Constants = ()


def setting(
    kind: RowOpKind, values: Sequence[tuple[int, exp.Expr]], assignments: Sequence[Assignment]
) -> BranchDraft:
    """A branch that sets columns, beside `values`, to what is assigned to them."""
    large = [a for a in assignments if a.is_constant and is_large(a.value, a.column)]
    others = [(a.column.id, a.as_node()) for a in assignments if a not in large]
    return BranchDraft(kind, [*values, *others], tuple((a.column.id, a.value) for a in large))


@dataclass(frozen=True, slots=True)
class DraftedQuery:
    """A SELECT list for branches.

    `items`: of the list, the action first; `branches`: that read it; `returning`: what is shown.
    """

    items: list[exp.Expr]
    branches: tuple[ChangeBranch, ...]
    returning: Returning | None


def draft(
    action: exp.Expr,
    drafts: Sequence[BranchDraft],
    table: TableInfo,
    name: CorrelationName,
    returned: ReturnedRows | None,
) -> DraftedQuery:
    """Lay out the columns that branches need.

    A value is computed only in the rows that take its branch, so that an expression that fails for
    other rows does no harm.

    Args:
        action: the number of a row's branch, NULL for none.
        drafts: the branches.
        name: what the query calls it.
        returned: the statement's RETURNING list.
    """
    items: list[exp.Expr] = [exp.alias_(action, ACTION, quoted=True)]
    branches: list[ChangeBranch] = []
    for number, each in enumerate(drafts):
        positions: list[tuple[int, int]] = []
        for column_id, node in each.values:
            guarded = node if isinstance(action, exp.Literal) else _only_for(number, node, action)
            positions.append((column_id, _place(items, guarded)))
        branches.append(ChangeBranch(each.kind, tuple(positions), each.constants))
    returning = None
    if returned is not None:
        returning = _carry(items, table, name, returned)
    return DraftedQuery(items, tuple(branches), returning)


def select_drafted(
    select: exp.Select, drafted: DraftedQuery, table: TableInfo, context: PlanContext
) -> None:
    """Let a SELECT show what branches need, with all digits of the numbers that fill DECIMALs.

    Raises ValueOutOfRangeError: see `type_assigned_literals`.
    """
    select.set("expressions", drafted.items)
    columns: list[ColumnSchema | None] = [None] * len(drafted.items)
    for branch in drafted.branches:
        for column_id, index in branch.columns:
            columns[index] = table.schema.by_id[column_id]
    type_assigned_literals(select, columns, context)


def _only_for(number: int, node: exp.Expr, action: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Column | exp.Literal | exp.Null | exp.Boolean):
        return node
    # The engine takes no name for what has a subquery.
    branch = exp.column(ACTION) if action.find(*NESTED_QUERIES) is None else exp.paren(action)
    is_branch = exp.EQ(this=branch, expression=exp.Literal.number(number))
    return exp.Case(ifs=[exp.If(this=is_branch, true=node)])


def _place(items: list[exp.Expr], node: exp.Expr) -> int:
    """The place of a column of the list, which is added unless it is there."""
    if isinstance(node, exp.Column) and node in items:
        return items.index(node)
    items.append(node)
    return len(items) - 1


def _carry(
    items: list[exp.Expr], table: TableInfo, name: CorrelationName, returned: ReturnedRows
) -> Returning:
    by_id = table.schema.by_id
    before = [
        (column_id, _place(items, name.column(by_id[column_id].name)))
        for column_id in returned.column_ids
    ]
    source_columns = [_place(items, column) for column in returned.source_columns]
    return Returning(
        returned.query, tuple(returned.column_ids), tuple(before), tuple(source_columns)
    )


def one_match_each(select: exp.Select, keys: Sequence[exp.Expr]) -> None:
    """Keep one row of each key: the one whose other columns come first, so that reruns agree.

    `select`: complete; it is changed; `keys`: the columns that identify the row.
    """
    select.set("distinct", exp.Distinct(on=exp.Tuple(expressions=[key.copy() for key in keys])))
    ordered = [i for i, item in enumerate(select.expressions, 1) if not _is_constant(item)]
    terms = [exp.Ordered(this=exp.Literal.number(i), nulls_first=False) for i in ordered]
    select.set("order", exp.Order(expressions=terms))


def _is_constant(item: exp.Expr) -> bool:
    return item.find(exp.Column, exp.Query) is None
