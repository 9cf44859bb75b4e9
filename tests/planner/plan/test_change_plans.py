"""What the plans of changes know of themselves: their table, parameters, and whether to be kept."""

import pytest

from pykudu_sql.planner.plan.change_plans import (
    Change,
    ChangeQuery,
    ConflictInsert,
    InsertReturning,
    Repeated,
    source_column_name,
    written_name,
)
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.planner import plan


def change(sql: str, context: PlanContext) -> Change:
    planned = plan(sql, context.without_key_access())
    assert isinstance(planned, ChangeQuery | InsertReturning | ConflictInsert)
    return planned


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("insert into t (id, a) values (:a, 1) returning a + :b", ["a", "b"]),
        ("insert into t (id) values (:a) on conflict do update set a = :b", ["a", "b"]),
        ("update t set a = :a where b > :b returning b + :c", ["a", "b", "c"]),
        ("merge into t using u on t.id = u.id when matched then update set a = :a", ["a"]),
        ("delete from t where a > 1 returning id", []),
    ],
)
def test_parameters_of_all_parts_are_needed(
    context: PlanContext, sql: str, parameters: list[str]
) -> None:
    planned = change(sql, context)
    assert sorted(set(map(str, planned.parameters))) == parameters
    assert planned.table == context.catalog.table("t")


@pytest.mark.parametrize(
    ("sql", "cacheable"),
    [
        ("insert into t (id) values (1) returning id", True),
        ("insert into t (id) values (1) returning now()", False),
        ("insert into t (id) values (1) on conflict do nothing returning now()", False),
        ("insert into t (id) values (1) on conflict do update set s = 'x'", True),
        ("insert into t (id) values (1) on conflict do update set s = now()::text", False),
        (
            "insert into t (id) values (1) on conflict do update set a = 1 where now() is null",
            False,
        ),
        ("delete from t returning now()", False),
        ("delete from t returning id", True),
    ],
)
def test_a_part_of_the_moment_keeps_the_whole_from_being_kept(
    context: PlanContext, sql: str, cacheable: bool
) -> None:
    assert change(sql, context).cacheable is cacheable


def test_columns_of_the_table_and_of_other_sources_do_not_share_names() -> None:
    mine = {written_name(number) for number in range(5)}
    theirs = {source_column_name(number) for number in range(5)}
    assert len(mine) == len(theirs) == 5
    assert not mine & theirs


def test_a_row_proposed_twice_is_ignored_or_refused_but_never_updated_twice(
    context: PlanContext,
) -> None:
    insert = "insert into t (id) values (1), (1) on conflict do"
    updating = change(f"{insert} update set a = 1", context)
    ignoring = change(f"{insert} nothing returning id", context)
    assert isinstance(updating, ConflictInsert)
    assert isinstance(ignoring, ConflictInsert)
    assert (updating.repeated, ignoring.repeated) == (Repeated.REFUSED, Repeated.FIRST)
