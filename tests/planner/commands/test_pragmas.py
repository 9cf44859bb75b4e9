"""PRAGMA: the three of SQLite that there are, and what is said of the others."""

import pytest

from pykudu_sql.planner.commands.pragmas import plan_pragma
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.listing_plans import Pragma, PragmaKind
from pykudu_sql.storage.errors import NotSupportedError, SyntaxError, UndefinedTableError


def pragma(sql: str, context: PlanContext) -> Pragma:
    return plan_pragma(TokenStream(sql), context)


@pytest.mark.parametrize("name", ["events", "'events'", '"events"', "EVENTS"])
def test_table_info_takes_a_name_bare_or_in_any_quotes(context: PlanContext, name: str) -> None:
    planned = pragma(f"PRAGMA table_info({name});", context)
    assert planned == Pragma(PragmaKind.TABLE_INFO, context.catalog.table("events"))


def test_lists_take_no_name(context: PlanContext) -> None:
    assert pragma("pragma TABLE_LIST", context) == Pragma(PragmaKind.TABLE_LIST)
    with pytest.raises(SyntaxError):
        pragma("pragma database_list(t)", context)


@pytest.mark.parametrize("name", ["nope", "'nope'"])
def test_an_unknown_table_is_shown_at_its_place_also_in_quotes(
    context: PlanContext, name: str
) -> None:
    with pytest.raises(UndefinedTableError) as caught:
        pragma(f"pragma table_info({name})", context)
    assert caught.value.span is not None
    assert (caught.value.span.start, caught.value.span.length) == (18, len(name))


def test_another_pragma_is_refused_with_those_there_are(context: PlanContext) -> None:
    with pytest.raises(NotSupportedError, match="PRAGMA journal_mode is not") as caught:
        pragma("pragma journal_mode = wal", context)
    assert "table_info, table_list, database_list" in (caught.value.hint or "")
