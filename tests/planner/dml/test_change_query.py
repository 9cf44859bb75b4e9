"""The SELECT list behind the branches of a change."""

from sqlglot import exp

from pykudu_sql.planner.bind.correlation_name import name_of_table
from pykudu_sql.planner.dml.change_query import BranchDraft, DraftedQuery, draft, one_match_each
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.rows.row_operation import RowOpKind

KEY = (0, exp.column("id", table="t"))
FAILING = exp.func("error", exp.Literal.string("x"))


def drafted(context: PlanContext, action: exp.Expr, *drafts: BranchDraft) -> DraftedQuery:
    table = context.catalog.table("t")
    return draft(action, drafts, table, name_of_table(table), None)


def test_a_column_that_two_branches_need_stands_in_the_list_once(context: PlanContext) -> None:
    laid_out = drafted(
        context,
        exp.column("n"),
        BranchDraft(RowOpKind.DELETE, [KEY]),
        BranchDraft(RowOpKind.UPDATE, [KEY, (1, exp.Literal.number(5))]),
    )
    assert [item.sql("duckdb") for item in laid_out.items] == ['n AS "__action"', "t.id", "5"]
    assert [branch.columns for branch in laid_out.branches] == [((0, 1),), ((0, 1), (1, 2))]


def test_a_value_is_computed_only_for_its_branch(context: PlanContext) -> None:
    branch = BranchDraft(RowOpKind.UPDATE, [(1, FAILING)])
    two = drafted(context, exp.column("n"), BranchDraft(RowOpKind.DELETE, [KEY]), branch)
    assert two.items[-1].sql("duckdb").startswith("CASE WHEN __action = 1 THEN ERROR(")
    (_, alone) = drafted(context, exp.Literal.number(0), branch).items
    assert alone == FAILING


def test_one_match_is_kept_of_each_key_by_the_order_of_the_other_columns() -> None:
    select = parse("SELECT t.id, u.a, 5 FROM t, u")
    assert isinstance(select, exp.Select)
    one_match_each(select, [exp.column("id", table="t")])
    printed = select.sql("duckdb")
    assert printed.startswith("SELECT DISTINCT ON (t.id) ")
    assert printed.endswith("ORDER BY 1, 2")
