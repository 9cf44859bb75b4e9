"""MERGE: the branches of its clauses and the join that they need."""

import pytest

from pykudu_sql.planner.dml.merge import MAX_BRANCHES, plan_merge
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import Error, StatementTooComplexError, SyntaxError

HEAD = "merge into t using u on t.id = u.id"


def test_each_clause_is_a_branch_but_do_nothing(context: PlanContext) -> None:
    merge = (
        f"{HEAD} when matched and a > 1 then do nothing when matched then delete "
        "when not matched then insert (id, s) values (u.id, u.name)"
    )
    merged = plan_merge(SourceText(merge), context)
    assert [branch.kind for branch in merged.branches] == [RowOpKind.DELETE, RowOpKind.INSERT]
    assert (merged.table.name, merged.statement) == ("t", "MERGE")


@pytest.mark.parametrize(
    ("clauses", "join"),
    [
        (("when matched then delete",), " JOIN "),
        (("when not matched then insert (id) values (u.id)",), "RIGHT JOIN"),
        (("when not matched by source then delete",), "LEFT JOIN"),
        (
            (
                "when not matched then insert (id) values (u.id)",
                "when not matched by source then delete",
            ),
            "FULL JOIN",
        ),
    ],
)
def test_rows_without_a_match_are_joined_only_where_a_clause_is_about_them(
    context: PlanContext, clauses: tuple[str, ...], join: str
) -> None:
    sql = plan_merge(SourceText(" ".join((HEAD, *clauses))), context).query.sql
    assert join in sql.replace("FULL OUTER", "FULL")
    sides = [side for side in ("LEFT", "RIGHT", "FULL") if f"{side} " in sql]
    assert sides == [join.split()[0]] * (join != " JOIN ")


@pytest.mark.parametrize(
    ("clause", "sqlstate", "message"),
    [
        ("when not matched then delete", "42601", "DELETE cannot follow WHEN NOT MATCHED"),
        ("when matched then insert (id) values (1)", "42601", "INSERT cannot follow WHEN MATCHED"),
        ("when matched then update set *", "42703", "the source has no column 'a'"),
        ("when not matched then insert (id) values (1, 2)", "42601", "2 values for 1 column"),
        ("when matched then update set id = 1", "42P16", "key column 'id'"),
    ],
)
def test_a_clause_that_does_not_fit_is_refused(
    context: PlanContext, clause: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Error, match=message) as caught:
        plan_merge(SourceText(f"{HEAD} {clause}"), context)
    assert caught.value.sqlstate == sqlstate


def test_clauses_are_limited_and_the_shape_is_shown(context: PlanContext) -> None:
    many = " when matched then delete" * (MAX_BRANCHES + 1)
    with pytest.raises(StatementTooComplexError, match="101 WHEN clauses are more than the 100"):
        plan_merge(SourceText(f"{HEAD}{many}"), context)
    with pytest.raises(SyntaxError):
        plan_merge(SourceText("merge into t using u when matched then delete"), context)
