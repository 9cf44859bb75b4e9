"""Statements about statistics do nothing, but for tables that are there."""

from collections.abc import Callable

import pytest

from pykudu_sql.planner.commands.statistics_commands import (
    analyze,
    compute_stats,
    drop_stats,
    invalidate_metadata,
    refresh,
)
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import NoOperation, Plan
from pykudu_sql.storage.errors import SyntaxError, UndefinedColumnError, UndefinedTableError

Planner = Callable[[TokenStream, PlanContext], Plan]


@pytest.mark.parametrize(
    ("planner", "sql"),
    [
        (compute_stats, "compute stats events"),
        (compute_stats, "compute incremental stats events (host, at);"),
        (drop_stats, "drop incremental stats default.events"),
        (analyze, "analyze"),
        (analyze, "analyze events"),
        (analyze, "analyze table events compute statistics for columns host, at"),
        (invalidate_metadata, "invalidate metadata"),
        (invalidate_metadata, "invalidate metadata events"),
        (refresh, "refresh events"),
    ],
)
def test_each_form_is_accepted_and_says_why_it_does_nothing(
    context: PlanContext, planner: Planner, sql: str
) -> None:
    planned = planner(TokenStream(sql), context)
    assert isinstance(planned, NoOperation)
    assert planned.message.startswith(("Statistics are", "Metadata are"))


@pytest.mark.parametrize(
    ("planner", "sql"),
    [
        (compute_stats, "compute stats nope"),
        (drop_stats, "drop stats nope"),
        (analyze, "analyze table nope compute statistics"),
        (invalidate_metadata, "invalidate metadata nope"),
        (refresh, "refresh nope"),
    ],
)
def test_a_table_that_is_not_there_is_an_error_at_its_place(
    context: PlanContext, planner: Planner, sql: str
) -> None:
    with pytest.raises(UndefinedTableError, match="'nope'") as caught:
        planner(TokenStream(sql), context)
    assert caught.value.span is not None
    assert caught.value.span.start == sql.index("nope")


def test_a_column_that_is_not_there_is_an_error(context: PlanContext) -> None:
    with pytest.raises(UndefinedColumnError, match="'hst' does not exist"):
        compute_stats(TokenStream("compute stats events (at, hst)"), context)


@pytest.mark.parametrize(
    ("planner", "sql"),
    [(refresh, "refresh"), (drop_stats, "drop stats events all"), (analyze, "analyze events now")],
)
def test_words_too_few_or_too_many_are_refused(
    context: PlanContext, planner: Planner, sql: str
) -> None:
    with pytest.raises(SyntaxError):
        planner(TokenStream(sql), context)
