"""Changes in EXPLAIN: the line over each, its branches, and what RETURNING shows."""

from typing import get_args

import pytest

from pykudu_sql.planner.explain.change_text import change_details, change_head
from pykudu_sql.planner.plan.change_plans import Change
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan


def change(sql: str, context: PlanContext) -> Change:
    planned = plan(sql, context.without_key_access())
    assert isinstance(planned, get_args(Change))
    return planned  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("sql", "head"),
    [
        ("insert into t (id) values (1) returning id", "INSERT INTO t"),
        ("update t set a = 1 returning id", "UPDATE t"),
        ("delete from t returning id", "DELETE FROM t"),
        ("merge into t using u on t.id = u.id when matched then delete", "MERGE INTO t"),
        (
            "insert into t (id) values (1) on conflict (id) do update set a = 1",
            "INSERT OR UPDATE t",
        ),
        (
            "insert into t (id) values (1) on conflict do nothing returning id",
            "INSERT OR IGNORE INTO t",
        ),
    ],
)
def test_the_head_says_what_is_done_to_which_table(
    context: PlanContext, sql: str, head: str
) -> None:
    assert change_head(change(sql, context)) == head


def test_branches_are_numbered_and_name_the_columns_they_set_but_no_key(
    context: PlanContext,
) -> None:
    merged = change(
        "merge into t using u on t.id = u.id when matched and t.a > 1 then delete "
        "when matched then update set a = 2, s = u.name "
        "when not matched then insert (id, s) values (u.id, u.name) returning t.id, s",
        context,
    )
    assert list(change_details(merged)) == [
        "0: DELETE",
        "1: UPDATE a, s",
        "2: INSERT id, s",
        "returning: id, s",
    ]


def test_a_conflict_says_what_becomes_of_rows_that_are_proposed_twice(
    context: PlanContext,
) -> None:
    insert = "insert into t (id) values (1), (1) on conflict (id)"
    updating = change(f"{insert} do update set a = 1", context)
    assert next(change_details(updating)) == "rows with one key: an error"
    ignoring = change(f"{insert} do nothing returning id", context)
    assert next(change_details(ignoring)) == "rows with one key: the first counts"


def test_a_plain_insert_has_no_branches_to_show(context: PlanContext) -> None:
    returning = change("insert into t (id) values (1) returning id, a + 1 as next", context)
    assert list(change_details(returning)) == ["returning: id, next"]
