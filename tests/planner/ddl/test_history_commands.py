"""Snapshots, moments and dropped tables, from words to plans."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pykudu_sql.planner.ddl.history_commands import (
    create_snapshot,
    drop_snapshot,
    next_bound,
    undrop,
)
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import CreateSnapshot, DropSnapshot, Plan, UndropTable
from pykudu_sql.storage.catalog.snapshots import NamedSnapshot
from pykudu_sql.storage.errors import (
    Error,
    SnapshotInFutureError,
    SyntaxError,
    UndefinedObjectError,
)

FIRST_OF_2023 = 1_672_531_200_000_000 + 1 << 12


@pytest.fixture(scope="module")
def named(context: PlanContext) -> PlanContext:
    """The world with a snapshot that has a name."""
    return replace(context, snapshots={"monday": NamedSnapshot("monday", 4711, 0)})


def test_a_snapshot_is_of_now_unless_a_moment_is_named(named: PlanContext) -> None:
    assert create_snapshot(TokenStream("create snapshot A"), named) == CreateSnapshot("a")
    text = "create snapshot if not exists a as of snapshot Monday comment 'it''s'"
    assert create_snapshot(TokenStream(text), named) == CreateSnapshot("a", True, 4711, "it's")


@pytest.mark.parametrize(
    "moment",
    ["'2023-01-01'", "timestamp as of '2023-01-01 00:00:00'", "'2022-12-31'::date + 1"],
)
def test_a_moment_is_a_constant_expression_up_to_the_comment(
    named: PlanContext, moment: str
) -> None:
    tokens = TokenStream(f"{moment} comment 'x'")
    assert next_bound(tokens, named) == FIRST_OF_2023
    assert tokens.at("COMMENT")


@pytest.mark.parametrize(
    ("moment", "error"),
    [
        ("snapshot mondy", UndefinedObjectError),
        ("'2100-01-01'", SnapshotInFutureError),
        ("'soon'", Error),
        ("", SyntaxError),
        ("comment 'x'", SyntaxError),
    ],
)
def test_what_is_no_moment_is_refused_at_its_place(
    named: PlanContext, moment: str, error: type[Error]
) -> None:
    with pytest.raises(error) as caught:
        next_bound(TokenStream(moment), named)
    assert caught.value.span is not None


def test_an_unknown_snapshot_gets_a_near_name_as_hint(named: PlanContext) -> None:
    with pytest.raises(UndefinedObjectError, match="'mondy' does not exist") as caught:
        next_bound(TokenStream("snapshot mondy"), named)
    assert caught.value.hint == "did you mean 'monday'?"


def test_a_snapshot_is_dropped_by_name(context: PlanContext) -> None:
    assert drop_snapshot(TokenStream("drop snapshot if exists X;"), context) == DropSnapshot(
        "x", if_exists=True
    )


def test_a_dropped_table_may_come_back_under_another_name(context: PlanContext) -> None:
    assert undrop(TokenStream("undrop table gone"), context) == UndropTable("gone")
    there = context.within("db", None)
    renamed = undrop(TokenStream("undrop table gone as default.T2"), there)
    assert renamed == UndropTable("db.gone", "t2")


@pytest.mark.parametrize(
    ("planner", "sql"),
    [
        (create_snapshot, "create snapshot a as '2023-01-01'"),
        (create_snapshot, "create snapshot ''"),
        (drop_snapshot, "drop snapshot a b"),
        (undrop, "undrop table t as"),
    ],
)
def test_words_too_few_or_too_many_are_refused(
    context: PlanContext, planner: Callable[[TokenStream, PlanContext], Plan], sql: str
) -> None:
    with pytest.raises(SyntaxError):
        planner(TokenStream(sql), context)
